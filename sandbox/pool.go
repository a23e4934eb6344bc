package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"troupe/internal/fetch"
	"troupe/internal/reexec"
	"troupe/sandbox/python"
)

// ErrClosed is returned by the methods of a closed pool.
var ErrClosed = errors.New("sandbox: pool is closed")

// ErrNoGuest means that the Python guest is neither in the cache nor to be had
// from anywhere; the error around it names what helps.
var ErrNoGuest = python.ErrNoGuest

// ErrBadGuest means that the guest of Options.Guest, or of the environment, is
// not one that can be used.
var ErrBadGuest = python.ErrBadGuest

// Pool is a set of worker processes.
type Pool struct {
	opt   Options
	guest string // sha256
	rate  float64
	files python.Files
	// dir and compiled are the folders of the guest's prepared form.
	dir, compiled string
	rebuild       sync.Once

	free   chan *Worker
	all    []*Worker
	closed chan struct{}
	once   sync.Once
	// A run that the backstop stopped gets a second one with the machine to
	// itself: it takes the write side.
	alone  sync.RWMutex
	warned sync.Once
}

// Open finds the guest, fetching and preparing it if need be, and returns a
// pool. Its processes start when they are needed.
func Open(ctx context.Context, opt Options) (*Pool, error) {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Log == nil {
		opt.Log = func(string, ...any) {}
	}
	p := &Pool{opt: opt, free: make(chan *Worker, opt.Workers), closed: make(chan struct{})}
	if !opt.Modules {
		if err := p.prepare(ctx); err != nil {
			return nil, err
		}
	}
	for range opt.Workers {
		w := &Worker{pool: p}
		p.all = append(p.all, w)
		p.free <- w
	}
	return p, nil
}

// prepare makes sure that the guest's prepared form is in the cache.
func (p *Pool) prepare(ctx context.Context) error {
	if p.opt.Cache == "" {
		return errors.New("sandbox: no cache folder")
	}
	cache, err := filepath.Abs(p.opt.Cache)
	if err != nil {
		return err
	}
	files, err := python.Find(ctx, p.opt.Guest, cache, p.opt.Progress)
	if err != nil {
		return err
	}
	rate, known := python.Rate(files.WasmSum)
	if !known {
		p.opt.Log("sandbox: guest %.12s is not one that was measured; time limits use the pinned guest's constant unless TROUPE_PYTHON_RATE gives another", files.WasmSum)
	}
	p.guest, p.rate = files.WasmSum, rate
	p.dir = filepath.Join(cache, "python", "prepared-"+python.Key(files.WasmSum, files.LibSum))
	p.files, p.compiled = files, filepath.Join(cache, "compiled")
	return p.build(ctx, false)
}

// build makes the prepared form where it is missing, or anew.
func (p *Pool) build(ctx context.Context, anew bool) error {
	if _, err := os.Stat(p.dir); err == nil && !anew {
		return nil
	}
	unlock, err := fetch.Lock(ctx, p.dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if anew {
		os.RemoveAll(p.dir)
		os.RemoveAll(p.compiled)
	}
	if _, err := os.Stat(p.dir); err == nil {
		return nil
	}
	if p.opt.Progress != nil {
		p.opt.Progress("Python guest: preparing (once)", 0, 0)
	}
	cmd, err := reexec.Command(ctx, childPrepare, p.files.Wasm, p.files.Lib, p.dir, p.compiled)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		err = fmt.Errorf("prepare python guest: %w: %s", err, bytes.TrimSpace(out))
		if p.files.Named && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrBadGuest, err)
		}
		return err
	}
	return nil
}

// startPython starts a Python worker. One that was killed from outside is
// started again: that says nothing about the cache, which other processes may
// be using. If it fails otherwise, or keeps dying, what is in the cache may be
// damaged: it is made anew, once.
func (p *Pool) startPython(ctx context.Context) (*process, []string, error) {
	args := []string{p.dir, p.compiled, strconv.FormatFloat(p.rate, 'g', -1, 64)}
	try := func() (*process, []string, error) {
		// Also after a rebuilding that was itself killed.
		if err := p.build(ctx, false); err != nil {
			return nil, nil, err
		}
		return start(ctx, childPython, args, nil)
	}
	proc, missing, err := try()
	for n := 1; n < attempts && err != nil && killed(err); n++ {
		proc, missing, err = try()
	}
	if err == nil || ctx.Err() != nil || p.isClosed() {
		return proc, missing, err
	}
	p.rebuild.Do(func() {
		p.opt.Log("sandbox: %v; preparing the guest anew", err)
		err = p.build(ctx, true)
	})
	if err != nil && ctx.Err() != nil {
		return nil, nil, err
	}
	return try()
}

// killed reports whether a process ended by a signal that only another process
// sends.
func killed(err error) bool { return strings.Contains(err.Error(), "signal: killed") }

// moduleArgs are the arguments of a worker for modules.
func (p *Pool) moduleArgs() []string {
	if p.opt.Cache == "" {
		return nil
	}
	dir, err := filepath.Abs(filepath.Join(p.opt.Cache, "compiled"))
	if err != nil {
		return nil
	}
	return []string{dir}
}

// Guest is the sha256 of the Python guest, empty with Options.Modules.
func (p *Pool) Guest() string { return p.guest }

// Workers is how many programs can run at once.
func (p *Pool) Workers() int { return len(p.all) }

// Rate is how many ticks of fuel a reference second has.
func (p *Pool) Rate() float64 { return p.rate }

// Close stops all workers, running or not, and waits until they are gone.
func (p *Pool) Close() error {
	p.once.Do(func() { close(p.closed) })
	for _, w := range p.all {
		w.stop()
	}
	return nil
}

// Lease waits for a free worker.
func (p *Pool) Lease(ctx context.Context) (*Worker, error) {
	select {
	case <-p.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case w := <-p.free:
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrClosed
	}
}

func (p *Pool) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// warn logs once what hardening the workers lack.
func (p *Pool) warn(missing []string) {
	if len(missing) == 0 {
		return
	}
	p.warned.Do(func() {
		for _, m := range missing {
			p.opt.Log("sandbox: hardening: %s", m)
		}
	})
}

// Busy is how many workers are leased.
func (p *Pool) Busy() int { return len(p.all) - len(p.free) }
