package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"troupe/sandbox"
	"troupe/sandbox/python"
)

// guestFlags name another Python guest than the pinned one.
type guestFlags struct {
	PythonWasm string `name:"python-wasm" type:"path" placeholder:"FILE" help:"A CPython 3.11 for WASI to use instead of the pinned one (TROUPE_PYTHON_WASM)."`
	PythonLib  string `name:"python-lib" type:"path" placeholder:"FILE|DIR" help:"Its standard library: .zip, .tar.gz or folder (TROUPE_PYTHON_LIB)."`
}

// limitFlags bound one run of a program.
type limitFlags struct {
	TimeS    float64 `name:"time-s" default:"3" placeholder:"S" help:"Time limit in seconds of native Python (default 3)."`
	MemoryMB int     `name:"memory-mb" default:"1024" placeholder:"MIB" help:"Memory limit in MiB (default 1024)."`
	OutputKB int     `name:"output-kb" default:"8192" placeholder:"KIB" help:"Limit of standard output in KiB (default 8192)."`
}

func (f limitFlags) limits() sandbox.Limits {
	return sandbox.Limits{TimeS: f.TimeS, MemoryMB: f.MemoryMB, OutputKB: f.OutputKB}
}

// check refuses limits that make no sense.
func (f limitFlags) check() error {
	if !(f.TimeS > 0) || math.IsInf(f.TimeS, 0) || f.MemoryMB <= 0 || f.OutputKB <= 0 {
		return usagef("--time-s, --memory-mb and --output-kb must be numbers above 0")
	}
	return nil
}

// openSandbox opens a pool on the guest that the flags name. A guest that is
// nowhere to be had, or that is none, is an error of the input (exit 3).
func openSandbox(env *environment, g guestFlags, workers int) (*sandbox.Pool, error) {
	show := &progressLine{w: env.Stderr, terminal: isTerminal(env.Stderr)}
	p, err := sandbox.Open(env.Ctx, sandbox.Options{
		Workers: workers, Cache: env.Cache,
		Guest:    python.Source{Wasm: g.PythonWasm, Lib: g.PythonLib},
		Log:      func(format string, args ...any) { fmt.Fprintf(env.Stderr, "troupe: "+format+"\n", args...) },
		Progress: show.update,
	})
	show.end()
	if errors.Is(err, sandbox.ErrNoGuest) || errors.Is(err, sandbox.ErrBadGuest) {
		return nil, inputf("%w", err)
	}
	return p, err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progressLine shows one thing that goes on: as a line that is written over on
// a terminal, elsewhere as a line for each new thing.
type progressLine struct {
	w        io.Writer
	terminal bool

	mu   sync.Mutex
	what string
	last time.Time
	open bool
}

func (p *progressLine) update(what string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal {
		if what != p.what {
			fmt.Fprintf(p.w, "troupe: %s\n", what)
		}
		p.what = what
		return
	}
	if what == p.what && time.Since(p.last) < 100*time.Millisecond && done != total {
		return
	}
	p.what, p.last, p.open = what, time.Now(), true
	const width = 24
	switch {
	case total > 0:
		bar := make([]byte, width)
		for i := range bar {
			bar[i] = ' '
			if int64(i)*total < done*width {
				bar[i] = '='
			}
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s [%s] %.1f of %.1f MB", what, bar, float64(done)/1e6, float64(total)/1e6)
	case done > 0:
		fmt.Fprintf(p.w, "\r\x1b[K%s %.1f MB", what, float64(done)/1e6)
	default:
		fmt.Fprintf(p.w, "\r\x1b[K%s ...", what)
	}
}

// end leaves the line as it was found.
func (p *progressLine) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.open, p.what = false, ""
}
