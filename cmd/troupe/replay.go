package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"troupe/data/store"
	"troupe/model/kernels"
	"troupe/trainer"
	"troupe/trainer/study"
	"troupe/verifier"
)

type replayCmd struct {
	RunID     string `name:"run" required:"" placeholder:"ID" help:"The run, by its id or the id's beginning."`
	Iteration int    `required:"" placeholder:"N" help:"The iteration to compute again; 0 is the evaluation of the base."`
	DB        string `name:"db" default:"runs.db" placeholder:"FILE" help:"The run database (default runs.db)."`
	Model     string `placeholder:"DIR" help:"The run's checkpoint to start from; not needed for runs of reproduce."`
	Data      string `placeholder:"FILE" help:"The run's data file, if it had one."`
	Prompts   string `placeholder:"FILE" help:"The run's prompts, if it had its own."`
	Out       string `placeholder:"DIR" help:"Folder of the run's checkpoints (default: where they were written)."`
	guestFlags
}

// Help is the long text of `troupe replay --help`.
func (replayCmd) Help() string {
	return `Starts from the newest checkpoint before the iteration that is still there, or
from the beginning, and compares every row and, where the run had a checkpoint,
its weights. Exit code 0 if all is the same bit for bit, 1 if not.`
}

// Run replays and tells what differs.
func (c *replayCmd) Run(env *environment) error {
	if _, err := os.Stat(c.DB); err != nil {
		return inputf("open database: %w", err)
	}
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	run, err := db.FindRun(env.Ctx, c.RunID)
	if err != nil {
		return inputf("%w", err)
	}
	var cfg trainer.Config
	if err := cfg.Merge([]byte(run.Config)); err != nil {
		return inputf("config of run %s: %w", run.ID, err)
	}
	if cfg.ID() != run.ID {
		return inputf("run %s was made by another version of this program: its settings are not those that there are now", run.ID)
	}
	scratch, err := os.MkdirTemp("", "replay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	parts, closeParts, err := c.parts(env, &cfg, scratch)
	if err != nil {
		return err
	}
	defer closeParts()
	t, err := trainer.NewReplayer(cfg, parts, scratch)
	if err != nil {
		return inputError(err)
	}
	defer t.Close()
	r, err := t.Replay(env.Ctx, db, c.Out, c.Iteration)
	if err != nil {
		return interrupted(env, err)
	}
	return c.tell(env, run.ID, r)
}

func (c *replayCmd) tell(env *environment, id string, r trainer.Replayed) error {
	from := "the beginning"
	if r.From >= 0 {
		from = fmt.Sprintf("the checkpoint of iteration %d", r.From)
	}
	fmt.Fprintf(env.Stdout, "run %s, iteration %d, computed from %s with kernels %s\n", id, c.Iteration, from, kernels.Active())
	if len(r.Differences) > 0 {
		for _, d := range r.Differences {
			fmt.Fprintln(env.Stdout, "  differs:", d)
		}
		return exitCode(exitFailed)
	}
	also := ""
	if r.Weights {
		also = ", and the checkpoint"
	}
	fmt.Fprintf(env.Stdout, "  all %d rows are the same bit for bit%s\n", r.Rows, also)
	return nil
}

// parts opens what the run was made of.
func (c *replayCmd) parts(env *environment, cfg *trainer.Config, scratch string) (trainer.Parts, func(), error) {
	if cfg.Profile == "study" || strings.HasPrefix(cfg.Profile, "study/") {
		pool, err := openSandbox(env, c.guestFlags, runtime.GOMAXPROCS(0))
		if err != nil {
			return trainer.Parts{}, nil, err
		}
		judge := verifier.New(verifier.Options{Pool: pool, CacheSize: 1 << 18})
		parts, err := study.Replay(study.Options{Cache: env.Cache, Verifier: judge}, cfg)
		if err != nil {
			pool.Close()
			return parts, nil, inputf("%w", err)
		}
		return parts, func() { pool.Close() }, nil
	}
	cfg.Model, cfg.Data, cfg.Prompts = c.Model, c.Data, c.Prompts
	cfg.DB = filepath.Join(scratch, "unused.db")
	if err := sameInputs(*cfg); err != nil {
		return trainer.Parts{}, nil, err
	}
	r, err := openRecipe(env, cfg, c.guestFlags)
	if err != nil {
		return trainer.Parts{}, nil, err
	}
	return r.parts, r.close, nil
}

// sameInputs compares the files named now with those that the run was given.
func sameInputs(cfg trainer.Config) error {
	for _, in := range []struct {
		flag, path, want string
		sum              func(string) (string, error)
	}{
		{"model", cfg.Model, cfg.ModelSum, trainer.HashModel},
		{"data", cfg.Data, cfg.DataSum, trainer.HashData},
		{"prompts", cfg.Prompts, cfg.PromptsSum, trainer.HashFile},
	} {
		if in.path == "" && in.want != "" {
			return usagef("--%s is needed: the run had one", in.flag)
		}
		if in.path == "" {
			continue
		}
		sum, err := in.sum(in.path)
		if err != nil {
			return inputf("read %s: %w", in.flag, err)
		}
		if sum != in.want {
			return inputf("--%s %s is not what the run had (sha256 %.12s, then %.12s)", in.flag, in.path, sum, in.want)
		}
	}
	return nil
}
