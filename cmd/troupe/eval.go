package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"troupe/data"
	"troupe/trainer"
	"troupe/verifier/mathans"
)

type evalCmd struct {
	recipeFlags
	Checkpoint string `placeholder:"DIR" help:"A checkpoint of a run (runs/ID/step-N); without it the base model is measured."`
	Transfer   string `enum:",all,solvers" default:"" placeholder:"WHICH" help:"Use a single agent's checkpoint for all roles, or for the solvers only with the base for the others."`
	Split      string `enum:"held,train,dev,all" default:"held" placeholder:"NAME" help:"Tasks to use: held, train, dev or all (default held)."`
	N          int    `name:"n" default:"600" placeholder:"N" help:"Most tasks to use (default 600)."`
	Samples    int    `default:"1" placeholder:"K" help:"Episodes of a task; above 1 there is pass@K and maj@K too (default 1)."`
	Against    string `default:"base" placeholder:"base|none|DIR" help:"What to compare a checkpoint with, task by task: the base, nothing, or another checkpoint (default base)."`
	JSON       bool   `name:"json" help:"Print one JSON object."`
}

// Help is the long text of `troupe eval --help`.
func (evalCmd) Help() string {
	return `Prints pass@1 with its standard error and, for a checkpoint, a paired comparison
with what it started from. --temperature 0 is greedy. All rows go to the run
database under a run of their own.

  troupe eval --model DIR --checkpoint runs/ID/step-000100 --workflow voting --task math`
}

// evalResult is what is printed of one subject.
type evalResult struct {
	Subject     string  `json:"subject"`
	Temperature float64 `json:"temperature"`
	N           int     `json:"n"`
	Samples     int     `json:"samples"`
	PassAt1     float64 `json:"pass_at_1"`
	StdErr      float64 `json:"stderr"`
	PassAtN     float64 `json:"pass_at_n"`
	MajorityAtN float64 `json:"majority_at_n"`
	Unjudged    int     `json:"unjudged"`
	Run         string  `json:"run"`
}

// evalReport is everything printed.
type evalReport struct {
	Results []evalResult    `json:"results"`
	Paired  *trainer.Paired `json:"paired,omitempty"`
}

// Run measures.
func (c *evalCmd) Run(env *environment) error {
	if c.N < 1 || c.Samples < 1 {
		return usagef("--n and --samples must be above 0")
	}
	if c.Checkpoint == "" && c.Transfer != "" {
		return usagef("--transfer needs --checkpoint: the single agent's")
	}
	// A greedy evaluation is no setting that could be trained with.
	temperature, greedy := 0.0, false
	if t, err := strconv.ParseFloat(c.Temperature, 64); err == nil && t == 0 {
		c.Temperature, greedy = "", true
	}
	cfg, err := c.resolve([2]string{"eval.n", strconv.Itoa(c.N)})
	if err != nil {
		return err
	}
	if !greedy {
		temperature = cfg.Temperature
	}
	r, err := openRecipe(env, &cfg, c.guestFlags)
	if err != nil {
		return err
	}
	defer r.close()
	tasks := trainer.SplitOf(r.parts.Tasks, data.Split(c.Split))
	tasks = tasks[:min(len(tasks), c.N)]
	if len(tasks) == 0 {
		return inputf("there are no tasks of split %s", c.Split)
	}
	var rep evalReport
	var evals []*trainer.Evaluation
	for _, subject := range c.subjects() {
		e, err := trainer.Evaluate(env.Ctx, &cfg, r.parts, subject, temperature, tasks, c.Samples)
		if err != nil {
			if env.Ctx.Err() != nil {
				return interrupted(env, err)
			}
			return inputError(err)
		}
		id, err := e.Log(env.Ctx, &cfg, r.parts, temperature, c.Split)
		if err != nil {
			return err
		}
		evals = append(evals, e)
		rep.Results = append(rep.Results, result(e, temperature, c.Samples, id))
	}
	if len(evals) == 2 {
		p := evals[1].Against(evals[0])
		rep.Paired = &p
	}
	return rep.print(env.Stdout, c.JSON)
}

// subjects lists what is measured: what to compare with first.
func (c *evalCmd) subjects() []trainer.Subject {
	if c.Checkpoint == "" {
		return []trainer.Subject{{}}
	}
	of := trainer.Subject{Checkpoint: c.Checkpoint, Transfer: trainer.Transfer(c.Transfer)}
	switch c.Against {
	case "none":
		return []trainer.Subject{of}
	case "base":
		return []trainer.Subject{{}, of}
	}
	return []trainer.Subject{{Checkpoint: c.Against}, of}
}

func result(e *trainer.Evaluation, temperature float64, samples int, run string) evalResult {
	out := evalResult{Subject: e.Subject.String(), Temperature: temperature, Samples: samples, Unjudged: e.Unjudged, Run: run}
	out.PassAt1, out.StdErr, out.N = e.PassAt1()
	out.PassAtN, out.MajorityAtN = e.PassAtN(), e.MajorityAtN(voteOf)
	return out
}

// voteOf is what two answers must share to be one vote.
func voteOf(t data.Task, answer string) string {
	if t.Kind == data.Math {
		if x := mathans.Judge(t.Gold, answer, mathans.Options{}).Extracted; x != "" {
			return x
		}
	}
	return strings.TrimSpace(answer)
}

func (r *evalReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, string(b))
		return err
	}
	for _, x := range r.Results {
		how := fmt.Sprintf("T %g", x.Temperature)
		if x.Temperature == 0 {
			how = "greedy"
		}
		if x.N == 0 {
			fmt.Fprintf(w, "%-40s  no task judged  (%s)", x.Subject, how)
		} else {
			fmt.Fprintf(w, "%-40s  pass@1 %.4f ± %.4f  (%d tasks, %s)", x.Subject, x.PassAt1, x.StdErr, x.N, how)
		}
		if x.Samples > 1 && x.N > 0 {
			fmt.Fprintf(w, "  pass@%d %.4f  maj@%d %.4f", x.Samples, x.PassAtN, x.Samples, x.MajorityAtN)
		}
		if x.Unjudged > 0 {
			fmt.Fprintf(w, "  %d answers could not be judged and are left out", x.Unjudged)
		}
		fmt.Fprintf(w, "  run %s\n", x.Run)
	}
	if p := r.Paired; p != nil {
		fmt.Fprintf(w, "second minus first on the same %d tasks: %+.4f ± %.4f, p %.2g (%d tasks better, %d worse)\n", p.N, p.Gain, p.SE, p.P, p.Gained, p.Lost)
	}
	return nil
}
