package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

// Bounds of live updates. A client that takes longer than streamWrite to read
// one message is dropped; its browser comes back with Last-Event-ID.
const (
	maxStreams  = 32
	heartbeat   = 15 * time.Second
	streamWrite = 5 * time.Second
	streamRows  = 2000 // metrics read at once while catching up
)

// streamRun is GET /api/runs/{id}/stream, as server-sent events. See the
// package's documentation for the messages.
func (s *Server) streamRun(w http.ResponseWriter, r *http.Request) {
	after, err := streamStart(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "%v", err)
		return
	}
	run, err := within(r.Context(), func(ctx context.Context) (store.Run, error) {
		return s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	})
	if err != nil {
		failRead(w, err)
		return
	}
	wake, leave, ok := s.commits.join()
	if !ok {
		w.Header().Set("Retry-After", "5")
		fail(w, http.StatusServiceUnavailable, "%d clients already follow runs", maxStreams)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy before us must not collect messages
	if r.Method == http.MethodHead {
		return
	}
	f := &follower{server: s, run: run.ID, at: after, out: w, control: http.NewResponseController(w)}
	if err := f.follow(r.Context(), wake); err != nil && r.Context().Err() == nil {
		s.opt.Log.Info("a client that followed a run was dropped", "run", run.ID, "reason", err.Error())
	}
}

// streamStart is the last iteration the client has: of the header that a
// browser sends when it comes back, else of ?after=N; -1 means none.
func streamStart(r *http.Request) (int, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 {
		return 0, badParameter("after and Last-Event-ID must be an iteration")
	}
	return n, nil
}

// follower is one client and what it has been told.
type follower struct {
	server  *Server
	run     string
	at      int    // the last iteration it has
	summary string // the last run message
	out     http.ResponseWriter
	control *http.ResponseController
}

// follow sends what is there, then what comes, until the client leaves, the
// server stops or a message can't be delivered.
func (f *follower) follow(ctx context.Context, wake <-chan struct{}) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	if err := f.send(": " + f.run + "\nretry: 2000\n\n"); err != nil {
		return err
	}
	for {
		if err := f.catchUp(ctx); err != nil {
			return err
		}
		select {
		case <-wake:
			continue
		case <-beat.C:
			if err := f.send(": still here\n\n"); err != nil {
				return err
			}
		case <-f.server.stopping:
			return f.send("event: end\ndata: {}\n\n")
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp sends everything that was committed since the last time.
func (f *follower) catchUp(ctx context.Context) error {
	sum, err := within(ctx, f.look)
	if err != nil {
		return err
	}
	last := sum.last
	if last < f.at {
		// The run was killed and goes on from a checkpoint.
		f.at = last
		if err := f.message("rewind", last, map[string]int{"iteration": last}); err != nil {
			return err
		}
	}
	if b, err := json.Marshal(sum.runSummary); err != nil {
		return err
	} else if string(b) != f.summary {
		f.summary = string(b)
		if err := f.message("run", f.at, sum.runSummary); err != nil {
			return err
		}
	}
	for f.at < last {
		if err := f.page(ctx, last); err != nil {
			return err
		}
	}
	return nil
}

// state is a run as it is now.
type state struct {
	runSummary
	last int // iteration; -1 before the first
}

// look reads the run.
func (f *follower) look(ctx context.Context) (state, error) {
	run, err := f.server.opt.DB.RunByID(ctx, f.run)
	if err != nil {
		return state{}, err
	}
	sum, err := f.server.summary(ctx, run)
	if err != nil {
		return state{}, err
	}
	last, err := f.server.opt.DB.LastIteration(ctx, f.run)
	return state{sum, last}, err
}

// page sends the iterations after f.at that fit into one read, up to last. Only
// the reading is bound by the database's time, not the client.
func (f *follower) page(ctx context.Context, last int) error {
	next := last + 1
	updates, err := within(ctx, func(ctx context.Context) (updates map[int]*update, err error) {
		updates, next, err = f.read(ctx, last)
		return updates, err
	})
	if err != nil {
		return err
	}
	for n := f.at + 1; n < next; n++ {
		if u := updates[n]; u != nil {
			if err := f.message("iteration", n, u); err != nil {
				return err
			}
		}
		f.at = n
	}
	return nil
}

// read is what the iterations from f.at+1 to before next brought.
func (f *follower) read(ctx context.Context, last int) (updates map[int]*update, next int, err error) {
	db := f.server.opt.DB
	rows, next, err := db.MetricsPage(ctx, f.run, f.at+1, streamRows)
	if err != nil {
		return nil, 0, err
	}
	if next < 0 || next > last {
		next = last + 1
	}
	evals, err := db.Evals(ctx, f.run)
	if err != nil {
		return nil, 0, err
	}
	events, err := db.Events(ctx, f.run, f.at+1)
	if err != nil {
		return nil, 0, err
	}
	updates = map[int]*update{}
	of := func(n int) *update {
		if updates[n] == nil {
			updates[n] = &update{Iteration: n, Metrics: []metric{}, Evaluations: []evaluation{}, Events: []event{}}
		}
		return updates[n]
	}
	for _, m := range rows {
		if u := of(m.Iteration); m.Slot == store.AllSlots {
			u.Metrics = append(u.Metrics, metricOf(m))
		}
	}
	for _, e := range evals {
		of(e.Iteration).Evaluations = append(of(e.Iteration).Evaluations, evaluationOf(e))
	}
	for _, e := range events {
		of(e.Iteration).Events = append(of(e.Iteration).Events, eventOf(e))
	}
	return updates, next, nil
}

// update is what an iteration brought.
type update struct {
	Iteration   int          `json:"iteration"`
	Metrics     []metric     `json:"metrics"`
	Evaluations []evaluation `json:"evaluations"`
	Events      []event      `json:"events"`
}

// message sends one event whose id is the last iteration it covers.
func (f *follower) message(kind string, id int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return f.send(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, kind, b))
}

// send writes within the client's time.
func (f *follower) send(text string) error {
	if err := f.control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return err
	}
	if _, err := f.out.Write([]byte(text)); err != nil {
		return err
	}
	return f.control.Flush()
}
