package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// Clients of the drop-in routes wait a fixed time and then ask again. A program
// that may run longer than that would never get its verdict if each try began
// anew, so a run goes on without its client, and the next equal request gets
// what came of it. Equal requests have equal answers: nothing here depends on
// the clock.

// keepRepeat is how long the result of a run whose client gave up is kept, and
// maxRepeats how many such runs there may be.
const (
	keepRepeat = time.Minute
	maxRepeats = 128
)

// repeats are runs that are going on or whose result waits to be asked for.
type repeats struct {
	mu   sync.Mutex
	runs map[[sha256.Size]byte]*repeat
	wg   sync.WaitGroup
}

type repeat struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // clients
	kept    bool
	result  any
	err     error
}

// do is run's result for a request, or that of an equal one. It waits until ctx
// ends; then the run goes on if the client will ask again, which is to say if
// client, its connection, has not ended as well.
func (g *repeats) do(ctx, client context.Context, server *Server, request any, run func(context.Context) (any, error)) (any, error) {
	b, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(b)
	g.mu.Lock()
	r := g.runs[key]
	if r == nil {
		own, cancel := context.WithTimeout(server.inFlight, dropInWait)
		r = &repeat{done: make(chan struct{}), cancel: cancel}
		g.runs[key] = r
		g.wg.Go(func() {
			g.run(own, key, r, func(ctx context.Context) (any, error) {
				return caught(server, func() (any, error) { return run(ctx) })
			})
		})
	}
	r.waiting++
	g.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r.waiting--
	select {
	case <-r.done:
		if r.waiting == 0 && g.runs[key] == r {
			delete(g.runs, key)
		}
		return r.result, r.err
	default:
	}
	if r.waiting == 0 && !r.kept {
		if client.Err() == nil && len(g.runs) <= maxRepeats {
			r.kept = true
		} else {
			r.cancel()
			delete(g.runs, key)
		}
	}
	return nil, ctx.Err()
}

// run runs, and forgets a result that nobody has asked for in time.
func (g *repeats) run(ctx context.Context, key [sha256.Size]byte, r *repeat, run func(context.Context) (any, error)) {
	defer r.cancel()
	result, err := run(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	r.result, r.err = result, err
	close(r.done)
	if r.waiting > 0 {
		return // the last of them forgets it
	}
	if err != nil {
		g.forget(key, r)
		return
	}
	time.AfterFunc(keepRepeat, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.forget(key, r)
	})
}

func (g *repeats) forget(key [sha256.Size]byte, r *repeat) {
	if g.runs[key] == r {
		delete(g.runs, key)
	}
}
