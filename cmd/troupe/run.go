package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"troupe/sandbox"
)

type runCmd struct {
	Program string   `arg:"" help:"Python file, or - for standard input (the program then reads nothing)."`
	Args    []string `arg:"" optional:"" passthrough:"" help:"Arguments of the program."`
	JSON    bool     `name:"json" help:"Print one JSON object with outcome, output, fuel and time instead."`
	Seed    uint64   `name:"seed" placeholder:"N" help:"Seed of the program's randomness (default: a fixed one)."`
	limitFlags
	guestFlags
}

// Help is shown by `troupe run --help`.
func (runCmd) Help() string {
	return `Runs one Python program in the sandbox: standard input, output, error and exit code as with python3, but no files, network, processes or clock of this machine.

Exit code: the program's own, or 124 time limit, 125 output limit, 137 memory limit, 126 the sandbox itself failed.`
}

// Exit codes that `run` has beside the program's own.
const (
	runTime           = 124
	runOutput         = 125
	runInfrastructure = 126
	runMemory         = 137
)

// Run runs the program and passes on what it says.
func (c *runCmd) Run(env *environment) error {
	if err := c.check(); err != nil {
		return err
	}
	prog, err := c.read(env)
	if err != nil {
		return err
	}
	pool, err := openSandbox(env, c.guestFlags, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	w, err := pool.Lease(env.Ctx)
	if err != nil {
		return err
	}
	r, err := w.Run(env.Ctx, prog)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(env, pool.Guest(), r)
	}
	if _, err := env.Stdout.Write(r.Stdout); err != nil {
		return err
	}
	if _, err := env.Stderr.Write(r.Stderr); err != nil {
		return err
	}
	return c.exit(env, r)
}

// read reads the program and what it is to read.
func (c *runCmd) read(env *environment) (sandbox.Python, error) {
	p := sandbox.Python{Args: c.Args, Limits: c.limits(), Seed: c.Seed}
	if c.Program == "-" {
		b, err := io.ReadAll(env.Stdin)
		p.Program = string(b)
		return p, err
	}
	b, err := os.ReadFile(c.Program)
	if err != nil {
		return p, inputf("%w", err)
	}
	p.Program, p.Name = string(b), filepath.Base(c.Program)
	if f, ok := env.Stdin.(*os.File); ok && isTerminal(f) {
		fmt.Fprintln(env.Stderr, "troupe: reading the program's input until Ctrl-D")
	}
	p.Stdin, err = io.ReadAll(env.Stdin)
	return p, err
}

// exit says why the sandbox ended the program, where it did.
func (c *runCmd) exit(env *environment, r sandbox.Result) error {
	say := func(code int, format string, args ...any) error {
		fmt.Fprintf(env.Stderr, "troupe: "+format+"\n", args...)
		return exitCode(code)
	}
	switch r.Outcome {
	case sandbox.OK:
		return nil
	case sandbox.Time:
		return say(runTime, "time limit of %g s exceeded", c.TimeS)
	case sandbox.Output:
		return say(runOutput, "output limit of %d KiB exceeded", c.OutputKB)
	case sandbox.Memory:
		return say(runMemory, "memory limit of %d MiB exceeded", c.MemoryMB)
	case sandbox.Crash:
		return say(runInfrastructure, "the sandbox failed: %s", r.Exception)
	case sandbox.Exception:
		if r.ExitCode > 128 {
			return say(r.ExitCode, "%s", r.Exception)
		}
	}
	return exitCode(r.ExitCode)
}

func (c *runCmd) printJSON(env *environment, guest string, r sandbox.Result) error {
	out := map[string]any{
		"outcome": r.Outcome, "exit_code": r.ExitCode, "stdout": string(r.Stdout), "stderr": string(r.Stderr),
		"fuel": r.Fuel, "time_s": r.TimeS, "memory_refused": r.MemoryRefused, "guest": guest,
	}
	if r.MissingModule != "" {
		out["missing_module"] = r.MissingModule
	}
	if r.Exception != "" {
		out["exception"] = r.Exception
	}
	return json.NewEncoder(env.Stdout).Encode(out)
}
