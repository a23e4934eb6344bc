package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"troupe/internal/nearest"
	"troupe/model/kernels"
)

// cli is the table of subcommands.
type cli struct {
	Reproduce reproduceCmd `cmd:"" help:"Train the study's grid at tiny scale and print what was gained."`
	Train     trainCmd     `cmd:"" help:"Train one workflow on a checkpoint and data of yours."`
	Eval      evalCmd      `cmd:"" help:"Measure a base model or a checkpoint on tasks, under a workflow."`
	Replay    replayCmd    `cmd:"" help:"Compute an iteration of a run again and compare it with the log, bit for bit."`
	Report    reportCmd    `cmd:"" help:"Write a report with tables and figures as one HTML file, or CSV and PNG."`
	Generate  generateCmd  `cmd:"" help:"Continue prompts with a model."`
	Score     scoreCmd     `cmd:"" help:"Log-probabilities and perplexity of texts or ids."`
	Model     modelCmd     `cmd:"" help:"Show what is in a checkpoint."`
	Doctor    doctorCmd    `cmd:"" help:"Check machine, guest and model files; forecast time and memory of a run."`
	Export    exportCmd    `cmd:"" help:"Write adapters as PEFT folders, merged checkpoints or GGUF files."`
	Import    importCmd    `cmd:"" help:"Read per-role adapters of the reference implementation."`
	Tokenize  tokenizeCmd  `cmd:"" help:"Text to ids and back, chat messages to text."`
	Run       runCmd       `cmd:"" help:"Run one Python program in the sandbox."`
	Verify    verifyCmd    `cmd:"" help:"Judge programs or math answers: JSONL in, verdicts out."`
	Data      dataCmd      `cmd:"" help:"Show the tasks of data sets, fetch and generate them."`
	Query     queryCmd     `cmd:"" help:"Ask the run database in SQL; --list shows ready-made queries."`
	Grid      gridCmd      `cmd:"" help:"List the study's cells, train one, or write job files for Slurm and Kubernetes."`
	Merge     mergeCmd     `cmd:"" help:"Join run databases, such as those of a cluster's jobs."`
	Serve     serveCmd     `cmd:"" help:"Serve runs, a dashboard and the verifiers over HTTP on this machine."`
	Version   versionCmd   `cmd:"" help:"Show version, commit, toolchain, kernels, SQLite and guest."`

	CacheDir string `name:"cache" env:"TROUPE_CACHE" placeholder:"DIR" help:"Folder for the Python guest, compiled code and base models (default: the user's cache folder)."`
}

// environment is what a subcommand gets from the outside.
type environment struct {
	Ctx    context.Context
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Cache  string // existing or creatable folder
}

const description = `Train multi-agent LLM workflows with GRPO on this machine's CPU, and judge the code and math they write.

Start with:
  troupe reproduce --smoke     the study at its smallest, in minutes
  troupe verify code --help    judge programs as a reward for any trainer`

// run is main without the process: it parses args, runs one subcommand and
// returns the exit code (see errors.go).
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c cli
	exited, code := false, 0
	parser, err := kong.New(&c,
		kong.Name("troupe"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(stdout, stderr),
		kong.Exit(func(n int) { exited, code = true, n }))
	if err != nil {
		fmt.Fprintln(stderr, "troupe:", err)
		return exitFailed
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help": // troupe help train, as other tools have it
		args = append(slices.Clone(args[1:]), "--help")
	}
	kctx, err := parser.Parse(overridesLast(parser, args))
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "troupe: %v\n", withNearest(parser, args, err))
		return exitUsage
	}
	cache, err := cacheDir(c.CacheDir)
	if err != nil {
		fmt.Fprintln(stderr, "troupe:", err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	env := &environment{Ctx: ctx, Stdin: stdin, Stdout: stdout, Stderr: stderr, Cache: cache}
	if computes[strings.Fields(kctx.Command())[0]] {
		if err := kernels.Wanted(); err != nil {
			return conclude(stderr, usagef("%w", err))
		}
	}
	if err := kctx.Run(env); err != nil {
		return conclude(stderr, err)
	}
	return exitOK
}

// computes lists the subcommands that run a model. They refuse to start with
// other kernels than the user asked for.
var computes = map[string]bool{"reproduce": true, "train": true, "eval": true, "replay": true, "generate": true, "score": true, "grid": true}

// cacheDir is the --cache folder or its default. It is not created here.
func cacheDir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; name one with --cache", err)
	}
	return filepath.Join(dir, "troupe"), nil
}

// withNearest names the known flag or command that is nearest to an unknown
// one. kong does so for most mistakes itself; its message then stands.
func withNearest(k *kong.Kong, args []string, err error) error {
	msg := err.Error()
	if strings.Contains(msg, "did you mean") || !strings.HasPrefix(msg, "unknown flag --") {
		return err
	}
	unknown := strings.TrimPrefix(strings.Fields(strings.TrimPrefix(msg, "unknown flag "))[0], "--")
	node := k.Model.Node
	for _, a := range args {
		for _, child := range node.Children {
			if child.Name == a {
				node = child
			}
		}
	}
	var known []string
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			known = append(known, f.Name)
		}
	}
	if near := nearest.Word(unknown, known); near != "" {
		return fmt.Errorf("%w, did you mean \"--%s\"?", err, near)
	}
	return err
}
