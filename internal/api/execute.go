package api

import (
	"context"
	"time"

	"troupe/data"
	"troupe/sandbox"
)

// Bounds on what a request may ask for. Zero in a request means the default,
// never unlimited.
const (
	maxTimeS    = 60.0
	maxMemoryMB = 2048
	maxOutputKB = 8 << 10
)

// MaxLimits are the most that a record may ask for.
func MaxLimits() data.Limits {
	return data.Limits{TimeS: maxTimeS, MemoryMB: maxMemoryMB, OutputKB: maxOutputKB}
}

// execution is one program to run, as the drop-in routes understand it.
type execution struct {
	Program string
	Args    []string
	Stdin   []byte
	Limits  sandbox.Limits
}

// finished is what came of it.
type finished struct {
	sandbox.Result
	wall time.Duration
}

// clamp brings limits below the server's; nonsense becomes the default.
func clamp(l sandbox.Limits) sandbox.Limits {
	l.TimeS = min(max(l.TimeS, 0), maxTimeS)
	l.MemoryMB = min(max(l.MemoryMB, 0), maxMemoryMB)
	l.OutputKB = min(max(l.OutputKB, 0), maxOutputKB)
	return l
}

// execute runs a program on a free worker; callers wait in line.
func (s *Server) execute(ctx context.Context, e execution) (finished, error) {
	w, err := s.opt.Pool.Lease(ctx)
	if err != nil {
		return finished{}, err
	}
	defer w.Release()
	start := time.Now()
	r, err := w.Run(ctx, sandbox.Python{Program: e.Program, Args: e.Args, Stdin: e.Stdin, Limits: clamp(e.Limits)})
	return finished{r, time.Since(start)}, err
}

// executeOnce is execute for clients that ask again when their time is over:
// see repeats. client is the request's own context.
func (s *Server) executeOnce(ctx, client context.Context, via string, e execution) (finished, error) {
	v, err := s.repeats.do(ctx, client, s, e, func(ctx context.Context) (any, error) {
		began := time.Now()
		res, err := s.execute(ctx, e)
		if err == nil {
			s.metrics.judged(via, outcomeCode(res.Result), began)
		}
		return res, err
	})
	if err != nil {
		return finished{}, err
	}
	return v.(finished), nil
}
