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

type reproduceCmd struct {
	Smoke      bool   `help:"The smallest grid: single-agent and voting, 40 iterations."`
	Iterations int    `placeholder:"N" help:"Iterations of a cell (default: 80; 40 with --smoke)."`
	Scale      string `default:"tiny-s" placeholder:"NAME" help:"Size of the models: tiny-s, tiny-m or tiny-l (default tiny-s)."`
	Seed       uint64 `default:"1" placeholder:"N" help:"Seed of everything that is drawn (default 1)."`
	DB         string `name:"db" default:"runs.db" placeholder:"FILE" help:"Run database (default runs.db)."`
	Out        string `default:"runs" placeholder:"DIR" help:"Folder for checkpoints (default runs)."`
	Report     string `default:"report.html" placeholder:"FILE" help:"Report to write at the end (default report.html)."`
	guestFlags
}

// Help is the long text of `troupe reproduce --help`.
func (reproduceCmd) Help() string {
	return `Builds tiny Qwen3-shaped models, warm-starts them until they solve about a
third of their tasks, then trains each cell of the grid with GRPO: workflows
whose roles share one policy (SP) or have one each (IP), on sums (math) and on
Python programs (code), which are really run. Base models are kept in the cache.

The same command goes on where it was stopped.`
}

// Run plays the grid and prints what was gained.
func (c *reproduceCmd) Run(env *environment) error {
	started := time.Now()
	opt := study.Options{Cells: study.DefaultCells(), Iterations: 80, EvalEvery: 20, Scale: c.Scale, Seed: c.Seed,
		Cache: env.Cache, Out: c.Out, Parallel: runtime.GOMAXPROCS(0), Version: version, Kernels: kernels.Active()}
	if c.Smoke {
		opt.Cells, opt.Iterations, opt.EvalEvery = study.SmokeCells(), 40, 0
	}
	if c.Iterations > 0 {
		opt.Iterations = c.Iterations
	}
	opt.Host, _ = os.Hostname()
	db, err := store.Open(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	opt.DB = db
	pool, err := openSandbox(env, c.guestFlags, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer pool.Close()
	judge := verifier.New(verifier.Options{Pool: pool, CacheSize: 1 << 18})
	opt.Verifier = judge
	show := newRunDisplay(env.Stderr, len(opt.Cells), opt.Iterations)
	opt.Warm, opt.Based, opt.Progress = show.warm, show.based, show.cell
	s, err := study.New(opt)
	if err != nil {
		return usagef("%w", err)
	}
	results, err := s.Run(env.Ctx)
	show.close()
	if err != nil {
		return interrupted(env, err)
	}
	printResults(env.Stdout, results, judge.Stats())
	fmt.Fprintf(env.Stdout, "\n%.0f s in all. Every row is in %s:\n", time.Since(started).Seconds(), c.DB)
	if err := c.writeReport(env); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "  troupe query --db %s --list     ready-made questions\n  troupe serve --db %s            runs and metrics over HTTP\n", c.DB, c.DB)
	return nil
}

func (c *reproduceCmd) writeReport(env *environment) error {
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := report.Load(env.Ctx, db)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.Report, 0o644, func(w io.Writer) error { return r.HTML(w) }); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "  %s                    tables and figures\n", c.Report)
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

// printResults is the table: accuracy before and after on the same held-out
// tasks, at the training temperature and greedily.
func printResults(w io.Writer, results []study.Result, stats verifier.Stats) {
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(w, "\nAccuracy on %d tasks that were never trained on; p is McNemar's exact test on the same tasks.\n\n", results[0].Sampled.N)
	fmt.Fprintf(w, "%-16s  %28s    %28s\n", "", "sampled (T 1)", "greedy")
	fmt.Fprintf(w, "%-16s  %5s %6s %7s %8s    %5s %6s %7s %8s\n", "cell", "base", "final", "gain", "p", "base", "final", "gain", "p")
	better, judged, cached := 0, 0, 0
	for _, r := range results {
		fmt.Fprintf(w, "%-16s  %s    %s\n", r.Cell.Name(), changeColumns(r.Sampled), changeColumns(r.Greedy))
		if r.Sampled.Gain() > 0 && r.Sampled.P < 0.01 {
			better++
		}
		judged += r.Judged
		cached += r.Cached
	}
	fmt.Fprintf(w, "\n%d of %d cells end above their base (p < 0.01, sampled).\n", better, len(results))
	fmt.Fprintf(w, "%d answers judged, %d of them asked before in the same run.", judged, cached)
	if stats.Tests > 0 {
		fmt.Fprintf(w, " This process ran %d tests in Python.", stats.Tests)
	}
	fmt.Fprintln(w)
}

func changeColumns(c study.Change) string {
	return fmt.Sprintf("%5.3f %6.3f %+7.3f %8.0e", c.Base, c.Final, c.Gain(), c.P)
}

// inputError makes err an error of the input (exit 3) unless it has a code already.
func inputError(err error) error {
	var coded codedError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return inputf("%w", err)
}
