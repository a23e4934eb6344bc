package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/data/synth"
	"troupe/model"
	"troupe/model/kernels"
	"troupe/model/tokenizer"
	"troupe/sandbox"
	"troupe/trainer"
	"troupe/trainer/workflow"
	"troupe/verifier"
)

// recipeFlags are the settings that train and eval share. Each is a key of the
// config file too; empty means that the flag was not given.
type recipeFlags struct {
	Model       string `placeholder:"DIR" help:"Folder of the checkpoint to start from."`
	Workflow    string `placeholder:"NAME" help:"single, voting, evalopt or orch (default single)."`
	Policy      string `placeholder:"NAME" help:"Which roles share parameters: shared, isolated, slot, or a list of role=set (default shared)."`
	Task        string `placeholder:"NAME" help:"math or code, or made-up questions for small checkpoints: sums1, sums2 (sums of one- and two-digit numbers), stories (one-step word problems). Default math."`
	Data        string `placeholder:"FILE" help:"Tasks to use, JSONL or JSON. Without it: made-up ones in plain English."`
	Profile     string `placeholder:"NAME" help:"Settings to start from: clean, paper, or small for small checkpoints (default clean)."`
	MaxTokens   string `placeholder:"N" help:"Longest reply in tokens."`
	Temperature string `placeholder:"T" help:"Sampling temperature."`
	Seed        string `placeholder:"N" help:"Seed of everything that is drawn."`
	Numerics    string `placeholder:"KIND" help:"How products with frozen weights are computed: auto, f32, f32x3 or bf16."`
	Chat        string `placeholder:"KIND" help:"How chats are rendered: auto, official, chatml, paper or off."`
	Prompts     string `placeholder:"FILE" help:"Prompts of your own, as JSON; or short: ours for small models, which sums1, sums2 and stories take by themselves."`
	RoleTokens  string `placeholder:"ROLE=N,…" help:"Longest reply by role."`
	LogCalls    string `placeholder:"WHICH" help:"Model calls to keep: all, none, or one iteration in N (default all)."`
	DB          string `name:"db" placeholder:"FILE" help:"Run database (default runs.db)."`
	Out         string `placeholder:"DIR" help:"Folder for checkpoints (default runs/ID)."`
	Config      string `placeholder:"FILE" help:"YAML file of settings; --dry-run prints all of them."`

	Overrides []string `arg:"" optional:"" name:"key=value" help:"Further settings, by our keys or by verl's."`
	guestFlags
}

type trainCmd struct {
	recipeFlags
	Tasks      string `placeholder:"N" help:"Tasks of an iteration."`
	Rollouts   string `placeholder:"N" help:"Episodes of a task."`
	Iterations string `placeholder:"N" help:"Iterations to train."`
	Budget     string `placeholder:"TIME" help:"Time to keep to, such as 45m: a short calibration chooses the tasks, rollouts and iterations that are not given."`
	Params     string `placeholder:"WHICH" help:"What is trained: lora or full (default lora)."`
	Rank       string `placeholder:"R" help:"Rank of LoRA."`
	Alpha      string `placeholder:"A" help:"Alpha of LoRA."`
	LR         string `name:"lr" placeholder:"X" help:"Learning rate."`
	DryRun     bool   `help:"Print the resolved config and what an iteration will do, and stop."`
	Fresh      bool   `help:"Start anew, under another id, instead of going on with an earlier run of the same config."`
}

// Help is the long text of `troupe train --help`.
func (trainCmd) Help() string {
	return `Settings are taken from the profile, then the config file, then KEY=VALUE
arguments, then flags. Giving the same command again goes on where it stopped.`
}

// flags pairs the keys of the config with the flags' values.
func (f *recipeFlags) flags() [][2]string {
	return [][2]string{
		{"model", f.Model}, {"workflow", f.Workflow}, {"policy", f.Policy}, {"task", f.Task}, {"data", f.Data},
		{"max-tokens", f.MaxTokens}, {"temperature", f.Temperature}, {"seed", f.Seed}, {"numerics", f.Numerics},
		{"chat", f.Chat}, {"prompts", f.Prompts}, {"role-tokens", f.RoleTokens}, {"log-calls", f.LogCalls}, {"db", f.DB}, {"out", f.Out},
	}
}

// resolve makes the config of the run, with the content hashes of its inputs.
func (f *recipeFlags) resolve(more ...[2]string) (trainer.Config, error) {
	var file []byte
	if f.Config != "" {
		var err error
		if file, err = os.ReadFile(f.Config); err != nil {
			return trainer.Config{}, inputf("read config: %w", err)
		}
	}
	cfg, err := trainer.Compose(f.Profile, file, f.Overrides, append(f.flags(), more...))
	if err != nil {
		return cfg, usagef("%w", err)
	}
	if _, ok := synth.Named(cfg.Task); ok && cfg.Prompts == "" && cfg.Data == "" {
		cfg.Prompts = workflow.ShortName
	}
	if cfg.Model == "" {
		return cfg, usagef("--model is needed: the folder of a checkpoint")
	}
	if cfg.ModelSum, err = trainer.HashModel(cfg.Model); err != nil {
		return cfg, inputf("read model: %w", err)
	}
	if cfg.Data != "" {
		if cfg.DataSum, err = trainer.HashData(cfg.Data); err != nil {
			return cfg, inputf("read data: %w", err)
		}
	}
	if cfg.Prompts == workflow.ShortName {
		cfg.PromptsSum = workflow.ShortPrompts().Sum()
	} else if cfg.Prompts != "" {
		if cfg.PromptsSum, err = trainer.HashFile(cfg.Prompts); err != nil {
			return cfg, inputf("read prompts: %w", err)
		}
	}
	if cfg.Numerics == "auto" {
		cfg.Numerics = model.AutoNumerics(cfg.Params == "full")
	}
	return cfg, nil
}

// Run trains.
func (c *trainCmd) Run(env *environment) error {
	began := time.Now()
	more := [][2]string{{"tasks", c.Tasks}, {"rollouts", c.Rollouts}, {"iterations", c.Iterations}, {"budget", c.Budget},
		{"params", c.Params}, {"rank", c.Rank}, {"alpha", c.Alpha}, {"lr", c.LR}}
	cfg, err := c.resolve(more...)
	if err != nil {
		return err
	}
	r, err := openRecipe(env, &cfg, c.guestFlags)
	if err != nil {
		return err
	}
	defer r.close()
	if cfg.Budget != "" {
		if err := c.fit(env, &cfg, r.parts, more); err != nil {
			return err
		}
	}
	if c.Fresh {
		for {
			if _, err := r.parts.DB.RunByID(env.Ctx, cfg.ID()); errors.Is(err, store.ErrNoRun) {
				break
			} else if err != nil {
				return err
			}
			cfg.Fresh++
		}
	}
	r.parts.Spent = time.Since(began)
	return c.train(env, &cfg, r.parts)
}

// train runs what Run has prepared.
func (c *trainCmd) train(env *environment, cfg *trainer.Config, parts trainer.Parts) error {
	show := newRunDisplay(env.Stderr, 1, cfg.Iterations)
	parts.Report = func(p trainer.Progress) { show.run(cfg.ID(), p) }
	t, err := trainer.New(*cfg, parts)
	if err != nil {
		return inputError(err)
	}
	if c.DryRun {
		fmt.Fprintf(env.Stdout, "# run %s\n%s\n%s", t.ID(), cfg.String(), t.Accounting())
		return nil
	}
	fmt.Fprintf(env.Stderr, "run %s\n", t.ID())
	if cfg.Budget != "" {
		path, err := writeResolved(cfg, t.Root())
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "the resolved config is in %s: troupe train --config %s computes the same again\n", path, path)
	}
	show.follow(t.ID(), cfg.Iterations, t.Now)
	err = t.Run(env.Ctx)
	show.close()
	if err != nil {
		if env.Ctx.Err() != nil {
			if err := parts.DB.SetState(context.WithoutCancel(env.Ctx), t.ID(), store.Stopped); err != nil {
				return err
			}
		}
		return interrupted(env, err)
	}
	if err := noteEnd(env, cfg, parts.DB, t); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "run %s is done: checkpoints in %s, rows in %s\n", t.ID(), t.Root(), cfg.DB)
	return nil
}

// recipe is what a config names, opened.
type recipe struct {
	parts trainer.Parts
	pool  *sandbox.Pool // nil for math
}

func (r *recipe) close() {
	if r.pool != nil {
		r.pool.Close()
	}
	if r.parts.DB != nil {
		r.parts.DB.Close()
	}
}

// openRecipe opens the model, the tasks, the database and, for programs, the
// sandbox.
func openRecipe(env *environment, cfg *trainer.Config, guest guestFlags) (*recipe, error) {
	r := &recipe{}
	var err error
	if r.parts.Tasks, err = recipeTasks(env, cfg); err != nil {
		return nil, err
	}
	if cfg.PromptsSum == workflow.ShortPrompts().Sum() {
		r.parts.Prompts = workflow.ShortPrompts()
	} else if cfg.Prompts != "" {
		if r.parts.Prompts, err = workflow.LoadPrompts(cfg.Prompts, r.parts.Tasks[0].Kind, cfg.Workflow); err != nil {
			return nil, inputf("%w", err)
		}
	}
	tok, err := tokenizer.Load(cfg.Model)
	if err != nil {
		return nil, inputf("%w", err)
	}
	if r.parts.Encoder, err = trainer.NewEncoder(tok, cfg.Chat, cfg.Model, cfg.Thinking); err != nil {
		return nil, inputf("%w", err)
	}
	r.parts.Base, err = model.Load(cfg.Model, model.LoadOptions{Numerics: cfg.Numerics, Trainable: cfg.Params == "full", Vocab: tok.Size(),
		ActivationBytes: frugal(cfg.Model)})
	if err != nil {
		return nil, inputf("%w", err)
	}
	for _, w := range r.parts.Base.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", w)
	}
	if r.parts.DB, err = store.Open(cfg.DB); err != nil {
		return nil, inputf("%w", err)
	}
	if r.parts.Tasks[0].Kind == data.Code {
		if r.pool, err = openSandbox(env, guest, runtime.GOMAXPROCS(0)); err != nil {
			r.close()
			return nil, err
		}
	}
	r.parts.Verifier = verifier.New(verifier.Options{Pool: r.pool, CacheSize: 1 << 16})
	r.parts.Version, r.parts.Kernels = version, kernels.Active()
	r.parts.Host, _ = os.Hostname()
	return r, nil
}

// madeUp is how many tasks of each split stand in where no data is named.
const madeUp = 4096

// recipeTasks reads the tasks of the configured kind.
func recipeTasks(env *environment, cfg *trainer.Config) ([]data.Task, error) {
	kind := data.Kind(cfg.Task)
	if cfg.Data == "" {
		set, ok := synth.Named(cfg.Task)
		switch {
		case ok:
		case kind == data.Math:
			set = synth.Math(synth.English, synth.Medium)
		case kind == data.Code:
			set = synth.Code(synth.English, synth.Medium)
		default:
			return nil, usagef("task %q is neither math nor code nor one of %s", cfg.Task, strings.Join(synth.Names(), ", "))
		}
		return append(set.Distinct(data.Train, 1, madeUp), set.Distinct(data.Held, 1, cfg.EvalN)...), nil
	}
	tasks, rep, err := loadTasks(env.Ctx, cfg.Data)
	if err != nil {
		return nil, inputf("%w", err)
	}
	if rep.Rejected() > 0 {
		fmt.Fprintf(env.Stderr, "warning: %s: %s\n", filepath.Base(cfg.Data), rep.String())
	}
	var out []data.Task
	for _, t := range tasks {
		if t.Kind == kind {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, inputf("%s has no %s tasks (--task %s)", cfg.Data, kind, strings.TrimSpace(cfg.Task))
	}
	return out, nil
}
