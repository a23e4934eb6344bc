package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"troupe/sandbox"
)

// Bounds on what a request may ask for. Zero in a request means the default,
// never unlimited.
const (
	maxTimeS    = 60.0
	maxMemoryMB = 4096
	maxOutputKB = 64 << 10
	backlog     = 64
)

// execution is one program to run, as the drop-in routes understand it.
type execution struct {
	program string
	stdin   []byte
	limits  sandbox.Limits
}

// finished is what came of it.
type finished struct {
	sandbox.Result
	wall time.Duration
}

var errBusy = errors.New("all workers are busy and the queue is full")

// clamp brings limits below the server's.
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
	r, err := w.Run(ctx, sandbox.Python{Program: e.program, Stdin: e.stdin, Limits: clamp(e.limits)})
	return finished{r, time.Since(start)}, err
}

// queued refuses a request at once when the backlog is full. Trainers' clients
// that give up on 429 use the drop-in routes, which wait instead.
func (s *Server) queued(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.queue <- struct{}{}:
			defer func() { <-s.queue }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusTooManyRequests, "%v", errBusy)
		}
	})
}

// patient lets a request outlive the server's usual write deadline by d: it
// waits in line instead of being refused.
func patient(d time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.SetReadDeadline(time.Now().Add(d))
		c.SetWriteDeadline(time.Now().Add(d))
		ctx, cancel := context.WithTimeout(r.Context(), d-time.Second)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

// gatewayTimeout answers a request whose turn did not come: 504 is the one
// status that verl's client tries again.
func gatewayTimeout(w http.ResponseWriter, err error) {
	fail(w, http.StatusGatewayTimeout, "the program did not run in time: %v", err)
}
