package api

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// backlog is how many verification requests may wait beside those that the
// workers are busy with; largeBodies how many bodies of more than maxBody may
// be in memory at once.
const (
	backlog     = 64
	largeBodies = 2
)

var errBusy = errors.New("all workers are busy and the queue is full")

// queued refuses a request at once when the queue is full. Trainers' clients
// that give up on 429 use the drop-in routes, which wait instead.
func (s *Server) queued(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.queue <- struct{}{}:
			defer func() { <-s.queue }()
		default:
			s.refuse(w)
			return
		}
		if isLarge(r) {
			select {
			case s.large <- struct{}{}:
				defer func() { <-s.large }()
			default:
				s.refuse(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) refuse(w http.ResponseWriter) {
	s.metrics.refused.WithLabelValues("full").Inc()
	w.Header().Set("Retry-After", "1")
	fail(w, http.StatusTooManyRequests, "%v", errBusy)
}

// isLarge reports whether a body may need much memory: it is long, or does not
// say how long it is.
func isLarge(r *http.Request) bool { return r.ContentLength < 0 || r.ContentLength > maxBody }

// inLine has a drop-in request wait for its place instead of being refused: the
// clients of those routes take a refusal for a failure of the program. Their
// number is bounded by that of connections.
func (s *Server) inLine(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := s.patient(w, r, dropInWait)
		defer cancel()
		if isLarge(r) {
			select {
			case s.large <- struct{}{}:
				defer func() { <-s.large }()
			case <-ctx.Done():
				s.gatewayTimeout(w, ctx.Err())
				return
			}
		}
		next(w, r.WithContext(ctx))
	}
}

// lasting lets a verification request take longer than others.
func (s *Server) lasting(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := s.patient(w, r, verifyWait)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

// patient gives a request d instead of the server's usual time. Its context
// ends earlier, so that an answer can still be written, and when the server
// has waited long enough for it at its own end.
func (s *Server) patient(w http.ResponseWriter, r *http.Request, d time.Duration) (context.Context, context.CancelFunc) {
	// Errors mean that the connection is gone, which the next use shows.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d + 2*time.Second))
	ctx, cancel := context.WithTimeout(r.Context(), d)
	undo := context.AfterFunc(s.inFlight, cancel)
	return ctx, func() { undo(); cancel() }
}

// gatewayTimeout answers a request whose turn did not come: 504 is the one
// status that verl's client tries again.
func (s *Server) gatewayTimeout(w http.ResponseWriter, err error) {
	s.metrics.refused.WithLabelValues("time").Inc()
	fail(w, http.StatusGatewayTimeout, "the program did not run in time: %v", err)
}

// unjudged answers a request whose program has no verdict: 500 after a panic, else
// 504, since the fault is not the program's and another try may do.
func (s *Server) unjudged(w http.ResponseWriter, err error) {
	var internal internalError
	switch {
	case errors.As(err, &internal):
		fail(w, http.StatusInternalServerError, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.gatewayTimeout(w, err)
	default:
		s.metrics.refused.WithLabelValues("sandbox").Inc()
		fail(w, http.StatusGatewayTimeout, "the program was not judged: %v", err)
	}
}
