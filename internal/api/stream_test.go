package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/data/store"
)

// liveLog is a database that the test goes on writing to.
func liveLog(t *testing.T) (*store.DB, *store.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	if err := w.CreateRun(t.Context(), store.Run{ID: "abc", Workflow: "voting"}); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return w, r
}

func addIteration(t *testing.T, w *store.DB, n int) {
	t.Helper()
	err := w.Write(t.Context(), store.Batch{Run: "abc", Iteration: n,
		Steps:     []store.Step{{Metric: "reward/mean", Value: float64(n)}},
		RoleSteps: []store.RoleStep{{Role: "voter", Slot: store.AllSlots, Metric: "actor/lr", Value: 1}, {Role: "voter", Slot: 1, Metric: "actor/lr", Value: 2}},
		Events:    []store.Event{{Kind: "cliff", Severity: "alarm", Message: "fell"}}})
	if err != nil {
		t.Fatal(err)
	}
}

// sent is one message of a stream.
type sent struct{ id, kind, data string }

// listen follows a run and hands on its messages; heartbeats are dropped.
func listen(t *testing.T, ctx context.Context, url, last string) <-chan sent {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("status %d, content type %q", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	out := make(chan sent, 100)
	go func() {
		defer resp.Body.Close()
		defer close(out)
		var m sent
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.kind = value
			case "data":
				m.data = value
			case "":
				if m.kind != "" {
					out <- m
				}
				m = sent{}
			}
		}
	}()
	return out
}

// next is the next message of a kind; others are skipped.
func next(t *testing.T, from <-chan sent, kind string) sent {
	t.Helper()
	for patience := time.After(10 * time.Second); ; {
		select {
		case m, ok := <-from:
			if !ok {
				t.Fatalf("the stream ended before a message %q", kind)
			}
			if m.kind == kind {
				return m
			}
		case <-patience:
			t.Fatalf("no message %q", kind)
		}
	}
}

func TestAStreamBringsIterationsAsTheyAreCommitted(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	s := start(t, Options{DB: db})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := "http://" + s.Addr() + "/api/runs/abc/stream"
	all := listen(t, ctx, url, "")
	if m := next(t, all, "run"); !strings.Contains(m.data, `"state":"running"`) {
		t.Errorf("the run is %s", m.data)
	}
	m := next(t, all, "iteration")
	var u update
	if err := json.Unmarshal([]byte(m.data), &u); err != nil {
		t.Fatal(err)
	}
	if m.id != "0" || u.Iteration != 0 || len(u.Metrics) != 2 || len(u.Events) != 1 || len(u.Evaluations) != 0 {
		t.Errorf("message %q: %+v", m.id, u)
	}
	for n := 1; n <= 3; n++ {
		addIteration(t, w, n)
	}
	for _, want := range []string{"1", "2", "3"} {
		if m := next(t, all, "iteration"); m.id != want {
			t.Errorf("message %s, want %s", m.id, want)
		}
	}
	if m := next(t, listen(t, ctx, url, "1"), "iteration"); m.id != "2" {
		t.Errorf("after 1 came %s", m.id)
	}
	if m := next(t, listen(t, ctx, url+"?after=2", ""), "iteration"); m.id != "3" {
		t.Errorf("after 2 came %s", m.id)
	}
	if err := w.Truncate(t.Context(), "abc", 1); err != nil {
		t.Fatal(err)
	}
	if m := next(t, all, "rewind"); m.data != `{"iteration":1}` {
		t.Errorf("rewind to %s", m.data)
	}
	addIteration(t, w, 2)
	if m := next(t, all, "iteration"); m.id != "2" {
		t.Errorf("after the rewind came %s", m.id)
	}
	if err := w.SetState(t.Context(), "abc", store.Done); err != nil {
		t.Fatal(err)
	}
	for m := next(t, all, "run"); !strings.Contains(m.data, `"state":"done"`); m = next(t, all, "run") {
	}
}

func TestAStreamEndsWithTheServer(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	s, err := Listen(Options{Addr: "127.0.0.1:0", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	messages := listen(t, t.Context(), "http://"+s.Addr()+"/api/runs/abc/stream", "")
	next(t, messages, "iteration")
	began := time.Now()
	cancel()
	next(t, messages, "end")
	if err := <-done; err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("stopped after %v: %v", time.Since(began), err)
	}
}

func TestFollowersAreBounded(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	s := start(t, Options{DB: db})
	url := "http://" + s.Addr() + "/api/runs/abc/stream"
	ctx, cancel := context.WithCancel(t.Context())
	for range maxStreams {
		next(t, listen(t, ctx, url, ""), "iteration")
	}
	if status, _ := (request{path: "/api/runs/abc/stream"}).do(t, s); status != 503 {
		t.Errorf("one more than the server takes: status %d", status)
	}
	cancel()
	for n := 0; s.commits.following() > 0; n++ {
		if n > 100 {
			t.Fatalf("%d clients are still counted", s.commits.following())
		}
		time.Sleep(50 * time.Millisecond)
	}
	for path, want := range map[string]int{"/api/runs/none/stream": 404, "/api/runs/abc/stream?after=x": 400} {
		if status, _ := (request{path: path}).do(t, s); status != want {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
}

// TestASlowFollowerIsDropped has a client that reads nothing while more comes
// than the connection can hold.
func TestASlowFollowerIsDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time-out")
	}
	w, db := liveLog(t)
	long := strings.Repeat("x", 1<<20)
	for n := range 24 {
		if err := w.Write(t.Context(), store.Batch{Run: "abc", Iteration: n,
			Steps: []store.Step{{Metric: "reward/mean"}}, Events: []store.Event{{Kind: "note", Message: long}}}); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, Options{DB: db})
	resp, err := http.Get("http://" + s.Addr() + "/api/runs/abc/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for began := time.Now(); s.commits.following() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > streamWrite+10*time.Second {
			t.Fatal("a client that reads nothing is still served")
		}
	}
}
