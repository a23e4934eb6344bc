package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"troupe/data/report"
	"troupe/data/store"
	"troupe/internal/atomicfile"
	"troupe/model/kernels"
	"troupe/trainer/study"
	"troupe/verifier"
)

// gridFlags choose the cells of the study; `troupe grid` has them too.
type gridFlags struct {
	Smoke      bool     `help:"The smallest grid: single-agent and voting."`
	Iterations int      `placeholder:"N" help:"Iterations of a cell (default: 80)."`
	Cells      []string `placeholder:"NAME,..." help:"Only these cells, such as voting-IP-math (default: all of the grid)."`
	Scales     []string `default:"tiny-s" aliases:"scale" placeholder:"NAME,..." help:"Sizes of the models: tiny-s, tiny-m, tiny-l (default tiny-s)."`
	Seeds      int      `default:"1" placeholder:"N" help:"Repeat everything with so many seeds, base models included (default 1)."`
	Seed       uint64   `default:"1" placeholder:"N" help:"The first seed (default 1)."`
}

// options are the study's options that the flags decide.
func (f gridFlags) options() (study.Options, error) {
	opt := study.Options{Iterations: 80, EvalEvery: 20}
	cells := study.DefaultCells()
	if f.Smoke {
		cells, opt.EvalEvery = study.SmokeCells(), 0
	}
	if f.Iterations < 0 || f.Seeds < 1 || f.Seed < 1 || len(f.Scales) == 0 {
		return opt, usagef("--iterations, --seeds and --seed count from 1, and --scales needs a name")
	}
	if f.Iterations > 0 {
		opt.Iterations = f.Iterations
	}
	if len(f.Cells) > 0 {
		var err error
		if cells, err = study.Named(cells, f.Cells); err != nil {
			return opt, usagef("--cells: %w", err)
		}
	}
	for _, name := range f.Scales {
		if _, err := study.ShapeNamed(name); err != nil {
			return opt, usagef("--scales: %w", err)
		}
	}
	var seeds []uint64
	for i := range f.Seeds {
		seeds = append(seeds, f.Seed+uint64(i))
	}
	opt.Cells = study.Cross(cells, f.Scales, seeds)
	return opt, nil
}

// studyFlags say where a study's files are.
type studyFlags struct {
	DB  string `name:"db" default:"runs.db" placeholder:"FILE" help:"Run database (default runs.db)."`
	Out string `default:"runs" placeholder:"DIR" help:"Folder for checkpoints (default runs)."`
	guestFlags
}

type reproduceCmd struct {
	gridFlags
	EqualCompute bool   `help:"Also train a single agent for as much compute as each workflow."`
	Controls     bool   `help:"Also train the controls: pairs that differ in one suspected artefact."`
	Report       string `default:"report.html" placeholder:"FILE" help:"Report to write at the end (default report.html)."`
	pretrainedFlags
	studyFlags
}

// Help is the long text of `troupe reproduce --help`.
func (reproduceCmd) Help() string {
	return `Builds tiny Qwen3-shaped models, warm-starts them until they solve about a
third of their tasks, then trains each cell of the grid with GRPO: workflows
whose roles share one policy (SP) or have one each (IP), on sums (math) and on
Python programs (code), which are really run. Base models are kept in the cache.

The same command goes on where it was stopped, and adds what new flags ask for.

With --model a real checkpoint is trained instead, on questions in plain English
and within a span of time:

  troupe reproduce --model DIR --budget 60m`
}

// Run plays the grid and prints what was gained.
func (c *reproduceCmd) Run(env *environment) error {
	if err := c.settle(); err != nil {
		return err
	}
	if c.Model != "" {
		return c.runPretrained(env)
	}
	started := time.Now()
	opt, err := c.options()
	if err != nil {
		return err
	}
	var done played
	err = withStudy(env, c.studyFlags, opt, func(s *study.Study, judge *verifier.Judge) error {
		done, err = c.play(env, s)
		done.tests = judge.Stats().Tests
		return err
	})
	if err != nil {
		return err
	}
	done.print(env.Stdout)
	fmt.Fprintf(env.Stdout, "\n%.0f s in all. Every row is in %s; next:\n", time.Since(started).Seconds(), c.DB)
	if err := writeReport(env, c.DB, c.Report); err != nil {
		return err
	}
	c.printNext(env.Stdout)
	return nil
}

// played is what a study came to.
type played struct {
	grid     []study.Result
	equal    []study.Equal
	controls []study.Outcome
	tests    int
}

// play trains what was asked for.
func (c *reproduceCmd) play(env *environment, s *study.Study) (done played, err error) {
	if done.grid, err = s.Run(env.Ctx); err != nil {
		return done, err
	}
	if c.EqualCompute {
		if done.equal, err = s.EqualCompute(env.Ctx, done.grid); err != nil {
			return done, err
		}
	}
	if c.Controls {
		done.controls, err = s.Controls(env.Ctx, study.Controls(c.Seed))
	}
	return done, err
}

func (p *played) print(w io.Writer) {
	printResults(w, p.grid)
	if p.equal != nil {
		printEqual(w, p.equal)
	}
	if p.controls != nil {
		printControls(w, p.controls)
	}
	judged, cached := 0, 0
	for _, r := range p.grid {
		judged, cached = judged+r.Judged, cached+r.Cached
	}
	fmt.Fprintf(w, "\n%d answers of the grid judged, %d of them asked before in the same run.", judged, cached)
	if p.tests > 0 {
		fmt.Fprintf(w, " This process ran %d tests in Python.", p.tests)
	}
	fmt.Fprintln(w)
}

// printNext names the commands that follow on.
func (c *reproduceCmd) printNext(w io.Writer) {
	fmt.Fprintf(w, "  troupe query --db %s --list     ready-made questions\n  troupe serve --db %s            runs and metrics over HTTP\n", c.DB, c.DB)
	switch {
	case c.Smoke:
		fmt.Fprintln(w, "  troupe reproduce                    the whole grid")
	case !c.Controls:
		fmt.Fprintln(w, "  troupe reproduce --controls         suspected artefacts, one by one")
	}
	if !c.EqualCompute {
		fmt.Fprintln(w, "  troupe reproduce --equal-compute    workflows against a longer single-agent run")
	}
	if c.Seeds == 1 && !c.Smoke {
		fmt.Fprintln(w, "  troupe reproduce --seeds 3          what a seed is worth, and an error for IP against SP")
	}
}

// withStudy opens what a study needs, and closes it.
func withStudy(env *environment, f studyFlags, opt study.Options, do func(*study.Study, *verifier.Judge) error) error {
	opt.Cache, opt.Out, opt.Parallel = env.Cache, f.Out, runtime.GOMAXPROCS(0)
	opt.Version, opt.Kernels = version, kernels.Active()
	opt.Host, _ = os.Hostname()
	db, err := store.Open(f.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	opt.DB = db
	pool, err := openSandbox(env, f.guestFlags, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer pool.Close()
	judge := verifier.New(verifier.Options{Pool: pool, CacheSize: 1 << 18})
	opt.Verifier = judge
	show := newStudyTable(env.Stderr, len(opt.Cells))
	defer show.close()
	opt.Warm, opt.Based, opt.Progress = show.warm, show.based, show.cell
	s, err := study.New(opt)
	if err != nil {
		return usagef("%w", err)
	}
	if err := do(s, judge); err != nil {
		return interrupted(env, err)
	}
	return nil
}

// writeReport writes the report of all runs in a database.
func writeReport(env *environment, from, to string) error {
	db, err := store.OpenReadOnly(from)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := report.Load(env.Ctx, db)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(to, 0o644, func(w io.Writer) error { return r.HTML(w) }); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "  %s                    tables and figures\n", to)
	return nil
}

// interrupted maps the end of a run by a signal to its exit code.
func interrupted(env *environment, err error) error {
	if env.Ctx.Err() != nil {
		return errStopped
	}
	if store.IsFull(err) {
		return resourcef("%w", err)
	}
	return err
}

// inputError makes err an error of the input (exit 3) unless it has a code already.
func inputError(err error) error {
	var coded codedError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return inputf("%w", err)
}
