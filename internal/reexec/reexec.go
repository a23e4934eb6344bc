// Package reexec runs parts of this program in child processes: the same
// binary started again under a name that a package has registered. It is how
// untrusted work (sandbox guests, parquet files) gets a process of its own
// without a second executable.
package reexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// env carries the child's name, so that the argument list stays free.
const env = "TROUPE_REEXEC"

var (
	children = map[string]func(args []string) int{}
	called   bool
)

// Register names a child's main function; the result is its exit code. Call it
// from a package's init or before Main.
func Register(name string, main func(args []string) int) {
	if _, dup := children[name]; dup {
		panic("reexec: child " + name + " registered twice")
	}
	children[name] = main
}

// Main must be the first call of main and of each TestMain that starts
// children. In a child process it runs the registered function and exits; in
// an ordinary process it only notes that it was called.
func Main() {
	called = true
	name := os.Getenv(env)
	if name == "" {
		return
	}
	os.Unsetenv(env)
	main, ok := children[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child named %q in this binary\n", name)
		os.Exit(126)
	}
	os.Exit(main(os.Args[1:]))
}

// ErrNoMain is returned by Command in a process that never called Main: its
// children would run the parent's main function instead of their own.
var ErrNoMain = errors.New("this program starts itself as a child process, but reexec.Main() is not the first call of its main function")

// Command prepares a child process. Its environment is empty but for the
// child's name and what the caller adds to Env.
func Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	if !called {
		return nil, ErrNoMain
	}
	if _, ok := children[name]; !ok {
		return nil, fmt.Errorf("start child %q: not registered", name)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start child %q: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = []string{env + "=" + name}
	for _, keep := range []string{"GOCOVERDIR", "SYSTEMROOT", "TMPDIR"} {
		if v := os.Getenv(keep); v != "" && !strings.Contains(v, "\x00") {
			cmd.Env = append(cmd.Env, keep+"="+v)
		}
	}
	return cmd, nil
}
