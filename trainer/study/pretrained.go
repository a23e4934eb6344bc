package study

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/trainer"
	"troupe/trainer/budget"
)

// Pretrained is a study of a real checkpoint within a span of time: what a
// single agent and the workflows learn on one set of questions.
type Pretrained struct {
	Config trainer.Config // of every cell, but for workflow and policy
	Parts  trainer.Parts
	Out    string        // folder for the runs' checkpoints
	Time   time.Duration // for all cells together
	Say    func(format string, args ...any)
	Report func(name string, p trainer.Progress)
}

// PretrainedCell is one run of the study.
type PretrainedCell struct{ Workflow, Policy string }

// Name is the workflow, with the policy where it matters.
func (c PretrainedCell) Name() string {
	if c.Workflow == "single" {
		return "single"
	}
	return c.Workflow + "/" + policyAbbreviations[c.Policy]
}

var policyAbbreviations = map[string]string{"shared": "SP", "isolated": "IP"}

// PretrainedCells are the cells in the order in which they are begun: what
// does not fit the time is left out from the end.
func PretrainedCells() []PretrainedCell {
	return []PretrainedCell{{"single", "shared"}, {"voting", "isolated"}, {"voting", "shared"},
		{"evalopt", "isolated"}, {"evalopt", "shared"}, {"orch", "isolated"}, {"orch", "shared"}}
}

// pretrainedRun is a cell with what is known of its cost.
type pretrainedRun struct {
	cell  PretrainedCell
	cfg   trainer.Config
	pace  budget.Pace
	need  float64 // seconds, forecast
	begun bool    // in an earlier session
	spent float64
	out   bool // does not fit
}

const (
	// The least training worth its time, by which the time is divided: so many
	// updates on so many tasks and rollouts.
	wantedIterations, wantedTasks, wantedRollouts = 40, 8, 8
	// workflowEval is how many held-out tasks a workflow is measured on: it
	// makes several calls a task.
	workflowEval = 250
)

// Run trains the cells that fit and returns the results of all cells; those
// that were left out say so.
func (p *Pretrained) Run(ctx context.Context) ([]PretrainedResult, error) {
	started := time.Now()
	runs, end, err := p.choose(ctx, started)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		if r.out {
			continue
		}
		if err := p.train(ctx, r, end, runs[i+1:]); err != nil {
			return nil, fmt.Errorf("%s: %w", r.cell.Name(), err)
		}
	}
	return p.results(ctx, runs)
}

// choose finds out which cells fit the time, and when it ends. Those after the
// first that does not fit are left out unmeasured: they cost no less.
func (p *Pretrained) choose(ctx context.Context, started time.Time) (runs []*pretrainedRun, end time.Time, err error) {
	left, need := p.Time, 0.0
	full := false
	paces := map[string]budget.Pace{} // by workflow: the policy hardly matters
	for i, cell := range PretrainedCells() {
		r, err := p.prepare(ctx, cell)
		if err != nil {
			return nil, end, fmt.Errorf("%s: %w", cell.Name(), err)
		}
		runs = append(runs, r)
		left -= seconds(r.spent)
		if r.begun {
			continue
		}
		if r.out = full; full {
			continue
		}
		var known bool
		if r.pace, known = paces[cell.Workflow]; !known {
			if r.pace, err = p.measure(ctx, r); err != nil {
				return nil, end, fmt.Errorf("%s: %w", cell.Name(), err)
			}
			paces[cell.Workflow] = r.pace
		}
		r.need = p.least(r)
		full = i > 0 && need+r.need > (left-time.Since(started)).Seconds()
		if r.out = full; full {
			p.Say("%s would take %s: this and what comes after it do not fit the budget", cell.Name(), seconds(r.need).Round(time.Second))
			continue
		}
		need += r.need
	}
	return runs, started.Add(left), nil
}

// measure calibrates a cell.
func (p *Pretrained) measure(ctx context.Context, r *pretrainedRun) (budget.Pace, error) {
	begin := time.Now()
	pace, err := trainer.Calibrate(ctx, r.cfg, p.Parts)
	if err == nil {
		p.Say("%s: an episode takes %.0f ms to play and %.0f ms to train on (measured in %.1f s)",
			r.cell.Workflow, 1000*pace.Rollout, 1000*pace.Update, time.Since(begin).Seconds())
	}
	return pace, err
}

// least is the time of the least training that is worth it.
func (p *Pretrained) least(r *pretrainedRun) float64 {
	ask := p.ask(r)
	ask.Tasks, ask.Rollouts, ask.Iterations = wantedTasks, wantedRollouts, wantedIterations
	return budget.Choose(r.pace, ask).TotalS
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// prepare makes a cell's config, or finds its run in the log.
func (p *Pretrained) prepare(ctx context.Context, cell PretrainedCell) (*pretrainedRun, error) {
	r := &pretrainedRun{cell: cell, cfg: p.Config}
	r.cfg.Workflow, r.cfg.Policy, r.cfg.Budget = cell.Workflow, cell.Policy, p.Time.String()
	if cell.Workflow != "single" {
		r.cfg.EvalN = min(r.cfg.EvalN, workflowEval)
	}
	if was, ok, err := trainer.Begun(ctx, p.Parts.DB, r.cfg, 0, 0, 0); err != nil {
		return r, err
	} else if ok {
		r.cfg, r.begun = was, true
		r.spent, err = p.Parts.DB.Seconds(ctx, was.ID())
		return r, err
	}
	return r, nil
}

// ask is what the cell's evaluations and tasks demand of a plan.
func (p *Pretrained) ask(r *pretrainedRun) budget.Ask {
	return budget.Ask{EvalN: min(r.cfg.EvalN, len(trainer.SplitOf(p.Parts.Tasks, data.Held))), EvalEvery: r.cfg.EvalEvery,
		Greedy: r.cfg.EvalGreedy, Available: len(trainer.SplitOf(p.Parts.Tasks, data.Train))}
}

// train trains a cell within its share of the time that is left.
func (p *Pretrained) train(ctx context.Context, r *pretrainedRun, end time.Time, later []*pretrainedRun) error {
	rest := 0.0
	for _, l := range later {
		if !l.out {
			rest += l.need
		}
	}
	until := end.Add(-seconds(rest))
	if !r.begun {
		share := time.Until(end).Seconds() * r.need / (r.need + rest)
		until = time.Now().Add(seconds(share))
		ask := p.ask(r)
		ask.Time = seconds(share)
		plan := budget.Choose(r.pace, ask)
		r.cfg.Tasks, r.cfg.Rollouts, r.cfg.Iterations = plan.Tasks, plan.Rollouts, plan.Iterations
		p.Say("%s gets %s: %s", r.cell.Name(), ask.Time.Round(time.Second), plan)
	}
	parts := p.Parts
	parts.Until = until
	parts.Report = func(pr trainer.Progress) { p.Report(r.cell.Name(), pr) }
	r.cfg.Out = filepath.Join(p.Out, r.cfg.ID())
	t, err := trainer.New(r.cfg, parts)
	if err != nil {
		return err
	}
	err = t.Run(ctx)
	if ctx.Err() != nil {
		return errors.Join(err, p.Parts.DB.SetState(context.WithoutCancel(ctx), t.ID(), store.Stopped))
	}
	return err
}
