package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/internal/atomicfile"
	"troupe/trainer"
	"troupe/trainer/budget"
)

// fit gives the config the numbers that fit its budget: those of the run that
// the same command began, or else what a calibration chooses.
func (c *trainCmd) fit(env *environment, cfg *trainer.Config, parts trainer.Parts, flags [][2]string) error {
	var file []byte
	if c.Config != "" {
		var err error
		if file, err = os.ReadFile(c.Config); err != nil {
			return inputf("read config: %w", err)
		}
	}
	tasks, rollouts, iterations, err := trainer.Given(file, c.Overrides, append(c.flags(), flags...))
	if err != nil {
		return usagef("%w", err)
	}
	if tasks > 0 && rollouts > 0 && iterations > 0 {
		return nil // nothing is left to choose
	}
	ask := budget.Ask{Tasks: tasks, Rollouts: rollouts, Iterations: iterations}
	if !c.Fresh {
		found, err := fitBefore(env, cfg, parts, ask)
		if err != nil || found {
			return err
		}
	}
	plan, err := choose(env, *cfg, parts, ask)
	if err != nil {
		return err
	}
	cfg.Tasks, cfg.Rollouts, cfg.Iterations = plan.Tasks, plan.Rollouts, plan.Iterations
	return nil
}

// fitBefore takes the numbers over from a run of the same config.
func fitBefore(env *environment, cfg *trainer.Config, parts trainer.Parts, ask budget.Ask) (bool, error) {
	was, found, err := trainer.Begun(env.Ctx, parts.DB, *cfg, ask.Tasks, ask.Rollouts, ask.Iterations)
	if found {
		*cfg = was
		fmt.Fprintf(env.Stderr, "budget %s: this run was begun with %d tasks, %d rollouts, %d iterations\n", cfg.Budget, was.Tasks, was.Rollouts, was.Iterations)
	}
	return found, err
}

// choose calibrates and fits a run into its budget, and says what it found.
func choose(env *environment, cfg trainer.Config, parts trainer.Parts, ask budget.Ask) (budget.Plan, error) {
	begin := time.Now()
	pace, err := trainer.Calibrate(env.Ctx, cfg, parts)
	if err != nil {
		if env.Ctx.Err() != nil {
			return budget.Plan{}, errStopped
		}
		return budget.Plan{}, inputError(err)
	}
	if ask.Time, err = cfg.Time(); err != nil {
		return budget.Plan{}, usagef("%w", err)
	}
	ask.Greedy, ask.EvalEvery = cfg.EvalGreedy, cfg.EvalEvery
	ask.EvalN = min(cfg.EvalN, len(trainer.SplitOf(parts.Tasks, data.Held)))
	ask.Available = len(trainer.SplitOf(parts.Tasks, data.Train))
	ask.CalibratedS = time.Since(begin).Seconds()
	plan := budget.Choose(pace, ask)
	fmt.Fprintf(env.Stderr, "budget %s: an episode takes %.0f ms to play and %.0f ms to train on (measured in %.1f s)\nbudget %s: %s\n",
		cfg.Budget, 1000*pace.Rollout, 1000*pace.Update, ask.CalibratedS, cfg.Budget, plan)
	return plan, nil
}

// writeResolved writes the whole config beside the checkpoints.
func writeResolved(cfg *trainer.Config, root string) (path string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(root, "config.yaml")
	return path, atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, cfg.String())
		return err
	})
}

// noteEnd adds to the resolved config where the budget ended the run, so that it
// computes the same again on a machine of any speed.
func noteEnd(env *environment, cfg *trainer.Config, db *store.DB, t *trainer.Trainer) error {
	if cfg.Budget == "" {
		return nil
	}
	last, err := db.LastIteration(env.Ctx, t.ID())
	if err != nil || last == cfg.Iterations {
		return err
	}
	fmt.Fprintf(env.Stderr, "the budget of %s ended the run after %d of %d iterations\n", cfg.Budget, last, cfg.Iterations)
	cfg.Ends = last
	_, err = writeResolved(cfg, t.Root())
	return err
}
