package trainer

import (
	"context"
	"fmt"
	"time"

	"troupe/data/store"
	"troupe/trainer/budget"
	"troupe/trainer/rollout"
)

const (
	// calibrationIteration is the iteration in the keys of a calibration's
	// draws: no run's.
	calibrationIteration = -3
	calibrationTasks     = 4
)

// calibrationRollouts make about as many calls at once as a run does: batches
// that are too small are slow for reasons of their own.
func calibrationRollouts(workflow string) int {
	if workflow == "single" {
		return 8
	}
	return 4
}

// Calibrate plays a small batch of the configured workflow and takes its
// gradients, to see how long that takes. Nothing is trained or logged. Replies
// tend to get shorter as a model learns to answer, so what comes out is rather
// too slow than too fast.
func Calibrate(ctx context.Context, cfg Config, parts Parts) (budget.Pace, error) {
	cfg.Tasks, cfg.Rollouts, cfg.Iterations, cfg.ProbeEvery = calibrationTasks, calibrationRollouts(cfg.Workflow), 1, 0
	parts.Report, parts.Inject, parts.Fail = nil, nil, nil
	t, err := New(cfg, parts)
	if err != nil {
		return budget.Pace{}, err
	}
	// As an evaluation plays, each task once: that shares no prompts. It is also
	// the first time that memory is taken and weights are packed.
	begin := time.Now()
	n := min(cfg.Tasks*cfg.Rollouts, len(t.source.tasks))
	jobs := rollout.Jobs(cfg.Seed, calibrationIteration, t.source.draw(1, n), 1)
	if _, err := rollout.Play(ctx, t.workflow, jobs, t.engine, parts.Verifier); err != nil {
		return budget.Pace{}, fmt.Errorf("calibrate: %w", err)
	}
	pace := budget.Pace{Eval: time.Since(begin).Seconds() / float64(n)}

	begin = time.Now()
	episodes, err := t.play(ctx, calibrationIteration, t.source.draw(1, cfg.Tasks))
	if err != nil {
		return pace, fmt.Errorf("calibrate: %w", err)
	}
	pace.Rollout = time.Since(begin).Seconds() / float64(len(episodes))

	rows, err := t.rows(episodes, nil)
	if err != nil {
		return pace, err
	}
	for i, r := range rows {
		r.advantage = float64(1 - 2*(i%2))
	}
	// The first backward packs the weights and takes memory, which a run does
	// once: the second counts.
	for range 2 {
		begin = time.Now()
		if err := t.pretend(ctx, rows); err != nil {
			return pace, err
		}
	}
	pace.Update = time.Since(begin).Seconds() / float64(len(episodes))
	return pace, nil
}

// pretend takes the gradients of all sets on their rows and drops them.
func (t *Trainer) pretend(ctx context.Context, rows []*row) error {
	for _, name := range t.trained {
		var own []*row
		for _, r := range rows {
			if r.set == name && r.kept {
				own = append(own, r)
			}
		}
		if len(own) == 0 {
			continue
		}
		weights, err := t.weights(own)
		if err != nil {
			return err
		}
		if _, _, _, err := t.gradients(ctx, t.sets[name], own, weights); err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
	}
	return nil
}

// Given says which of a config's numbers for a budget to choose were set by the
// file, the overrides or the flags, as Compose takes them; those that were not
// are 0.
func Given(file []byte, overrides []string, flags [][2]string) (tasks, rollouts, iterations int, err error) {
	var c Config
	if err := c.apply(file, overrides, flags); err != nil {
		return 0, 0, 0, err
	}
	return c.Tasks, c.Rollouts, c.Iterations, nil
}

// sameButNumbers reports whether two configs differ at most in the numbers
// that a budget chooses, those that are given excepted.
func sameButNumbers(a, b Config, tasks, rollouts, iterations int) bool {
	for _, c := range []*Config{&a, &b} {
		c.Tasks, c.Rollouts, c.Iterations = fixed(tasks, c.Tasks), fixed(rollouts, c.Rollouts), fixed(iterations, c.Iterations)
	}
	return a.identity() == b.identity()
}

// Begun finds the run of a config in the log, whatever numbers were chosen for
// it where given has 0, and returns its config.
func Begun(ctx context.Context, db *store.DB, cfg Config, tasks, rollouts, iterations int) (Config, bool, error) {
	runs, err := db.Runs(ctx)
	if err != nil {
		return cfg, false, err
	}
	for _, run := range runs {
		var was Config
		if was.Merge([]byte(run.Config)) != nil || was.ID() != run.ID {
			continue // an evaluation, or a run of another version
		}
		if sameButNumbers(was, cfg, tasks, rollouts, iterations) {
			cfg.Tasks, cfg.Rollouts, cfg.Iterations = was.Tasks, was.Rollouts, was.Iterations
			return cfg, true, nil
		}
	}
	return cfg, false, nil
}

func fixed(given, value int) int {
	if given > 0 {
		return value
	}
	return 0
}
