package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"troupe/data/synth"
	"troupe/trainer"
	"troupe/trainer/study"
	"troupe/trainer/workflow"
)

// pretrainedFlags turn reproduce to a real checkpoint.
type pretrainedFlags struct {
	Model    string         `placeholder:"DIR" help:"Train a real checkpoint instead of tiny models: a single agent, and the workflows that fit the budget."`
	Budget   *time.Duration `placeholder:"TIME" help:"With --model: time for all of it (default 60m). A calibration chooses tasks, rollouts and iterations."`
	Task     string         `placeholder:"NAME" help:"With --model: sums1, sums2 (sums of one- and two-digit numbers) or stories (one-step word problems). Default sums2."`
	Numerics string         `placeholder:"KIND" help:"With --model: how products with frozen weights are computed: auto, f32, f32x3 or bf16."`
}

// settle gives the flags their defaults. A flag of the other kind of study,
// with or without a checkpoint, is refused: what is asked for is never ignored.
func (c *reproduceCmd) settle() error {
	if c.Model == "" {
		if f := c.pretrainedFlags; f != (pretrainedFlags{}) {
			return usagef("--budget, --task and --numerics go with --model")
		}
		return nil
	}
	if c.Smoke || c.EqualCompute || c.Controls || c.Iterations != 0 || len(c.Cells) > 0 || c.Seeds != 1 || !slices.Equal(c.Scales, []string{"tiny-s"}) {
		return usagef("--smoke, --iterations, --cells, --scales, --seeds, --equal-compute and --controls are for tiny models; a checkpoint's study has --budget, --task and --seed")
	}
	if c.Budget == nil {
		hour := time.Hour
		c.Budget = &hour
	}
	if c.Task == "" {
		c.Task = "sums2"
	}
	if _, ok := synth.Named(c.Task); !ok {
		return usagef("--task %s is none of %v", c.Task, synth.Names())
	}
	if *c.Budget <= 0 {
		return usagef("--budget must be above 0")
	}
	return nil
}

// runPretrained trains a checkpoint within the budget and prints the table.
func (c *reproduceCmd) runPretrained(env *environment) error {
	started := time.Now()
	f := recipeFlags{Profile: "small", Model: c.Model, Task: c.Task, Numerics: c.Numerics, Prompts: workflow.ShortName, DB: c.DB, guestFlags: c.guestFlags}
	cfg, err := f.resolve([2]string{"seed", fmt.Sprint(c.Seed)})
	if err != nil {
		return err
	}
	r, err := openRecipe(env, &cfg, c.guestFlags)
	if err != nil {
		return err
	}
	defer r.close()
	show := newRunDisplay(env.Stderr, len(study.PretrainedCells()), cfg.Iterations)
	defer show.close()
	p := study.Pretrained{Config: cfg, Parts: r.parts, Out: c.Out, Time: *c.Budget, Say: show.line, Report: show.run}
	results, err := p.Run(env.Ctx)
	if err != nil {
		return interrupted(env, inputError(err))
	}
	printPretrained(env.Stdout, &cfg, results)
	fmt.Fprintf(env.Stdout, "\n%.0f s in all. Every row is in %s; next:\n", time.Since(started).Seconds(), c.DB)
	if err := writeReport(env, c.DB, c.Report); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "  troupe query --db %s --list     ready-made questions\n  troupe serve --db %s            runs and metrics over HTTP\n", c.DB, c.DB)
	return nil
}

// printPretrained is the table of a checkpoint's study, then its roles, then
// where the time went.
func printPretrained(w io.Writer, cfg *trainer.Config, results []study.PretrainedResult) {
	fmt.Fprintf(w, "\nAccuracy on held-out %s, base -> trained, gain ± its standard error, p of McNemar's exact test on the same tasks\n\n", cfg.Task)
	fmt.Fprintf(w, "%-11s %5s %10s %-36s %-36s %8s\n", "run", "n", "iterations", fmt.Sprintf("sampled, T %g", cfg.Temperature), "greedy", "minutes")
	for _, r := range results {
		if r.LeftOut {
			fmt.Fprintf(w, "%-11s left out: does not fit the budget\n", r.Cell.Name())
			continue
		}
		fmt.Fprintf(w, "%-11s %5d %10s %-36s %-36s %8.1f\n", r.Cell.Name(), r.Sampled.N, fmt.Sprintf("%d of %dx%d", r.Iterations, r.Tasks, r.Rollouts),
			changed(r.Sampled), changed(r.Greedy), r.Seconds/60)
	}
	printPretrainedRoles(w, results)
	printPhases(w, results)
}

func changed(c study.Change) string {
	return fmt.Sprintf("%.3f -> %.3f %+.3f ± %.3f p %.0e", c.Base, c.Final, c.Gain(), c.SE(), c.P)
}

// printPretrainedRoles shows how each role could be read and what it achieved.
func printPretrainedRoles(w io.Writer, results []study.PretrainedResult) {
	fmt.Fprintf(w, "\nRoles, first -> last measurement: replies read in the form asked for, by a lenient rule, not at all; right solutions;\nright choices where candidates differed, above chance; tokens of a reply\n\n")
	fmt.Fprintf(w, "%-11s %-13s %15s %15s %15s %15s %15s %15s\n", "run", "role", "as asked", "leniently", "unread", "right", "lift", "tokens")
	for _, r := range results {
		for _, role := range r.Roles {
			fmt.Fprintf(w, "%-11s %-13s %15s %15s %15s %15s %15s %15s", r.Cell.Name(), role.Role, ends(role.Primary), ends(role.Fallback), ends(role.Unread),
				ends(role.Right), ends(role.Lift), fmt.Sprintf("%.1f -> %.1f", role.Tokens.First, role.Tokens.Last))
			if role.Unplayable() {
				fmt.Fprint(w, "  the model can't play this role: most replies can't be read")
			}
			fmt.Fprintln(w)
		}
	}
}

func ends(e study.Ends) string {
	if math.IsNaN(e.First) {
		return "-"
	}
	return fmt.Sprintf("%.2f -> %.2f", e.First, e.Last)
}

// printPhases shows where the time of the runs went.
func printPhases(w io.Writer, results []study.PretrainedResult) {
	fmt.Fprintf(w, "\nWhere the time went\n\n%-11s %-11s %9s %7s %12s %10s\n", "run", "phase", "seconds", "share", "tokens", "tokens/s")
	for _, r := range results {
		sum := 0.0
		for _, p := range r.Phases {
			sum += p.Seconds
		}
		for _, p := range r.Phases {
			fmt.Fprintf(w, "%-11s %-11s %9.1f %6.1f%%", r.Cell.Name(), p.Name, p.Seconds, 100*p.Seconds/sum)
			if p.Tokens > 0 {
				fmt.Fprintf(w, " %12.0f %10.0f", p.Tokens, p.Tokens/p.Seconds)
			}
			fmt.Fprintln(w)
		}
	}
}
