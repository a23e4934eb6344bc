package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"troupe/sandbox/python"
)

// Worker is one worker, leased by one caller at a time. It has a process for
// Python and one for the module it ran last, each started when first needed.
type Worker struct {
	pool *Pool

	mu     sync.Mutex // guards the two pointers against Close
	python *process
	module *process
	sum    [32]byte // of the module
}

// Release gives the worker back.
func (w *Worker) Release() {
	select {
	case w.pool.free <- w:
	default: // released twice
	}
}

// stop ends both processes.
func (w *Worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range []*process{w.python, w.module} {
		if p != nil {
			p.stop()
		}
	}
	w.python, w.module = nil, nil
}

// Run runs one program. The error is about ctx, a closed pool, or a worker
// that can't be started; whatever else happens is told by the Result.
func (w *Worker) Run(ctx context.Context, p Python) (Result, error) {
	if w.pool.opt.Modules {
		return Result{}, errors.New("sandbox: this pool runs modules only")
	}
	job := w.job(&p)
	request := encodeJob(job)
	wall := p.Wall
	if wall == 0 {
		wall = backstop(60 * p.Limits.TimeS)
	}
	return w.try(ctx, &w.python, wall, job.Output, request, w.pool.startPython)
}

// backstop is when a run is stopped that may take so many seconds.
func backstop(seconds float64) time.Duration {
	const most = 1e9 // some 30 years; more is no time.Duration
	return 5*time.Second + time.Duration(min(seconds, most)*float64(time.Second))
}

// maxTimeS, maxMemoryMB and maxOutputKB are the most that limits can ask for.
const (
	maxTimeS    = 1e6
	maxMemoryMB = 4096
	maxOutputKB = 1 << 20
)

// job fills in defaults and turns limits into those of the guest.
func (w *Worker) job(p *Python) python.Job {
	if p.Name == "" {
		p.Name = "prog.py"
	}
	l := &p.Limits
	if !(l.TimeS > 0) { // nor is NaN a limit
		l.TimeS = DefaultTimeS
	}
	if l.MemoryMB <= 0 {
		l.MemoryMB = DefaultMemoryMB
	}
	if l.OutputKB <= 0 {
		l.OutputKB = DefaultOutputKB
	}
	l.TimeS, l.MemoryMB, l.OutputKB = min(l.TimeS, maxTimeS), min(l.MemoryMB, maxMemoryMB), min(l.OutputKB, maxOutputKB)
	return python.Job{Program: p.Program, Name: p.Name, Args: p.Args, Stdin: p.Stdin, Harness: p.Harness, Data: p.Data,
		Fuel: uint64(l.TimeS * w.pool.rate), Memory: uint64(l.MemoryMB) << 20, Output: l.OutputKB << 10, Seed: p.Seed}
}

// RunModule runs one module. The worker keeps its compiled code, so runs of the
// same module are best given to it one after another.
func (w *Worker) RunModule(ctx context.Context, m Module) (Result, error) {
	if m.MemoryMB <= 0 {
		m.MemoryMB = 256
	}
	if m.OutputKB <= 0 {
		m.OutputKB = DefaultOutputKB
	}
	m.MemoryMB, m.OutputKB = min(m.MemoryMB, maxMemoryMB), min(m.OutputKB, maxOutputKB)
	wall := m.Wall
	if wall == 0 {
		wall = backstop(float64(m.Fuel) / slowest)
	}
	if sum := sha256.Sum256(m.Wasm); sum != w.sum {
		w.drop(&w.module)
		w.sum = sum
	}
	return w.try(ctx, &w.module, wall, m.OutputKB<<10, encodeModule(m), func(ctx context.Context) (*process, []string, error) {
		return start(ctx, childModule, w.pool.moduleArgs(), m.Wasm)
	})
}

// slowest is how many ticks a second a module makes at the least.
const slowest = 1e7

// attempts is how often a run is tried when its worker dies under it.
const attempts = 3

// slack is what a result may have beyond its output: report, stderr, fields.
const slack = 72 << 20

// try has one of the worker's processes answer a request. A program stopped by
// the wall-clock backstop is run once more, alone, because the machine may have
// been busy; a worker that died, once in a new one.
func (w *Worker) try(ctx context.Context, at **process, wall time.Duration, output int, request []byte,
	begin func(context.Context) (*process, []string, error)) (Result, error) {
	var last error
	stopped := false
	for range attempts {
		p, err := w.ensure(ctx, at, begin)
		if err != nil {
			return Result{}, err
		}
		answer, err := w.exchange(ctx, p, request, wall, output+slack, stopped)
		if err == nil {
			res, err := decodeResult(answer)
			if err == nil {
				return res, nil
			}
			last = err
		} else {
			last = err
		}
		w.drop(at)
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		if w.pool.isClosed() {
			return Result{}, ErrClosed
		}
		if errors.Is(last, errBackstop) {
			if stopped {
				break
			}
			stopped = true
		}
		w.pool.opt.Log("sandbox: %v", last)
	}
	return Result{Outcome: Crash, ExitCode: 126, Exception: last.Error()}, nil
}

func (w *Worker) exchange(ctx context.Context, p *process, request []byte, wall time.Duration, limit int, alone bool) ([]byte, error) {
	if alone {
		w.pool.alone.Lock()
		defer w.pool.alone.Unlock()
	} else {
		w.pool.alone.RLock()
		defer w.pool.alone.RUnlock()
	}
	return p.exchange(ctx, request, wall, limit)
}

// ensure starts a process where there is none.
func (w *Worker) ensure(ctx context.Context, at **process, begin func(context.Context) (*process, []string, error)) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	p := *at
	w.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, missing, err := begin(ctx)
	if err != nil {
		return nil, err
	}
	w.pool.warn(missing)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pool.isClosed() {
		p.stop()
		return nil, ErrClosed
	}
	*at = p
	return p, nil
}

func (w *Worker) drop(at **process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *at != nil {
		(*at).stop()
		*at = nil
	}
}
