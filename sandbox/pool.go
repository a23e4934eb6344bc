package sandbox

import (
	"context"
	"errors"
)

// Pool is a set of worker processes.
type Pool struct{ guest string }

// Worker is one worker process, leased by one caller at a time.
type Worker struct{ pool *Pool }

// ErrClosed is returned by the methods of a closed pool.
var ErrClosed = errors.New("sandbox: pool is closed")

// Open prepares the guest and returns a pool; workers start when they are
// needed.
func Open(ctx context.Context, opt Options) (*Pool, error) {
	return nil, errors.New("sandbox: not built yet")
}

// Close stops all workers and waits for them.
func (p *Pool) Close() error { return nil }

// Guest is the sha256 of the Python guest, empty with Options.Modules.
func (p *Pool) Guest() string { return p.guest }

// Lease waits for a free worker.
func (p *Pool) Lease(ctx context.Context) (*Worker, error) { return nil, ErrClosed }

// Release gives the worker back.
func (w *Worker) Release() {}

// Run runs one program. The error is about ctx or a closed pool; whatever
// happens to the program or the worker process is told by the Result.
func (w *Worker) Run(ctx context.Context, p Python) (Result, error) { return Result{}, ErrClosed }

// RunModule runs one module; its compiled code is kept by the worker.
func (w *Worker) RunModule(ctx context.Context, m Module) (Result, error) {
	return Result{}, ErrClosed
}
