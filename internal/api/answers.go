package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"troupe/data/store"
)

// statementTime bounds one question to the database, so that a heavy page can't
// hold a reader for long.
const statementTime = 2 * time.Second

// within asks the database, for at most statementTime.
func within[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return ask(ctx)
}

// Bounds of answers about runs: of one, and of those that are remembered.
const (
	maxAnswer   = 8 << 20
	maxRemember = 32 << 20
)

// answers remembers what the database said until something is committed, so
// that any number of dashboards cost the trainer one read an iteration.
type answers struct {
	watch *store.Watch

	mu      sync.Mutex
	version int64
	known   map[string]*known
	size    int
}

// known is one answer, or one that is being found.
type known struct {
	ready chan struct{}
	body  []byte
	err   error
}

// get is the remembered answer to a question, or ask's. Equal questions that
// come while it is asked wait for it.
func (a *answers) get(ctx context.Context, question string, ask func(context.Context) ([]byte, error)) ([]byte, error) {
	version, err := within(ctx, a.watch.Version)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	if version != a.version || a.size > maxRemember {
		a.version, a.known, a.size = version, map[string]*known{}, 0
	}
	k, found := a.known[question]
	if !found {
		k = &known{ready: make(chan struct{})}
		a.known[question] = k
	}
	all := a.known
	a.mu.Unlock()
	if found {
		select {
		case <-k.ready:
			return k.body, k.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	// Others may be waiting: the answer must not depend on this caller's patience.
	k.body, k.err = within(context.WithoutCancel(ctx), ask)
	close(k.ready)
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.err != nil {
		delete(all, question)
	} else {
		a.size += len(k.body) + len(question)
	}
	return k.body, k.err
}

// errLarge refuses an answer that should have been asked for in pages.
var errLarge = errors.New("the answer is too large; ask for less of it: from, limit, points")

// answer wraps a question to the database: its errors become statuses here and
// nowhere else.
func (s *Server) answer(ask func(ctx context.Context, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := s.answers.get(r.Context(), r.URL.RequestURI(), func(ctx context.Context) ([]byte, error) {
			v, err := caught(s, func() (any, error) { return ask(ctx, r) }) // others may wait for it
			if err != nil {
				return nil, err
			}
			b, err := json.Marshal(v)
			if err == nil && len(b) > maxAnswer {
				err = errLarge
			}
			return append(b, '\n'), err
		})
		if err != nil {
			failRead(w, err)
			return
		}
		send(w, http.StatusOK, body, writeAll)
	}
}

// badParameter is a fault of the caller's query string or path.
type badParameter string

func (b badParameter) Error() string { return string(b) }

// missing is something that the database does not have.
type missing string

func (m missing) Error() string { return string(m) }

// failRead answers with the status of an error in reading the database.
func failRead(w http.ResponseWriter, err error) {
	var bad badParameter
	var none missing
	var internal internalError
	switch {
	case errors.As(err, &internal):
		fail(w, http.StatusInternalServerError, "%v", err)
	case errors.Is(err, store.ErrNoRun), errors.As(err, &none):
		fail(w, http.StatusNotFound, "%v", err)
	case errors.As(err, &bad), errors.Is(err, errLarge):
		fail(w, http.StatusBadRequest, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		fail(w, http.StatusServiceUnavailable, "the database did not answer within %v", statementTime)
	default:
		fail(w, http.StatusInternalServerError, "read the run database: %v", err)
	}
}
