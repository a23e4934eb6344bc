package verifier

import (
	"context"
	"errors"
	"strings"
	"time"

	"troupe/sandbox"
)

// runner is a leased worker.
type runner interface {
	Run(ctx context.Context, p sandbox.Python) (sandbox.Result, error)
	Release()
}

// attempts is how often a run is made before its crash counts. A worker that
// was killed from outside costs a repetition and no verdict; a program that
// brings down every worker it runs on gets IE.
const attempts = 6

// leased is a code.Runner on one worker, replaced when it dies.
type leased struct {
	judge  *Judge
	lease  func(context.Context) (runner, error)
	worker runner
}

// Run runs p, again on another worker if the first one dies under it.
func (l *leased) Run(ctx context.Context, p sandbox.Python) (sandbox.Result, error) {
	for try := 1; ; try++ {
		if l.worker == nil {
			w, err := l.lease(ctx)
			if err != nil {
				return sandbox.Result{}, err
			}
			l.worker = w
		}
		res, err := l.worker.Run(ctx, p)
		if !again(ctx, res, err) || try == attempts {
			return res, err
		}
		l.judge.retried()
		l.release()
		select {
		case <-ctx.Done():
			return sandbox.Result{}, ctx.Err()
		case <-time.After(time.Duration(try-1) * 50 * time.Millisecond):
		}
	}
}

// again reports whether the worker died or could not start, which says nothing
// about the program. What the wall-clock backstop stopped was given its second
// run by the pool.
func again(ctx context.Context, res sandbox.Result, err error) bool {
	if err != nil {
		return ctx.Err() == nil && !errors.Is(err, sandbox.ErrClosed)
	}
	return res.Outcome == sandbox.Crash && !strings.Contains(res.Exception, "wall-clock")
}

func (l *leased) release() {
	if l.worker != nil {
		l.worker.Release()
		l.worker = nil
	}
}

func (j *Judge) retried() {
	j.mu.Lock()
	j.stats.Retried++
	j.mu.Unlock()
}
