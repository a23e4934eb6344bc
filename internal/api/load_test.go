//go:build load

package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"troupe/data/store"
)

// loadTime is how long a load test runs: TROUPE_LOAD_S seconds, 20 without.
func loadTime() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("TROUPE_LOAD_S")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 20 * time.Second
}

// bigLog is a run of 1,000 iterations with 100 metrics each.
func bigLog(t *testing.T) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.CreateRun(t.Context(), store.Run{ID: "big", Workflow: "orch", Policy: "isolated", Task: "math", State: store.Running}); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		b := store.Batch{Run: "big", Iteration: i, Steps: []store.Step{{Metric: "critic/rewards/mean", Value: float64(i % 7)}}}
		for m := range 33 {
			for _, role := range []string{"orchestrator", "worker", "synthesizer"} {
				b.RoleSteps = append(b.RoleSteps, store.RoleStep{Role: role, Slot: store.AllSlots, Metric: fmt.Sprintf("actor/m%02d", m), Value: float64(i*m) / 7})
			}
		}
		if i%20 == 0 {
			b.Evals = []store.Eval{{Split: "held", Temperature: 1, N: 600, Accuracy: .5, Stderr: .02}}
		}
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// latencies are what clients waited.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
	bad int
}

func (l *latencies) add(d time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
	if !ok {
		l.bad++
	}
}

// quantile is the wait that a share q of the requests did not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	slices.Sort(l.all)
	if len(l.all) == 0 {
		return 0
	}
	return l.all[min(len(l.all)-1, int(q*float64(len(l.all))))]
}

// TestLoadStatus is A1: 16 clients ask for the run list, the run, its curves
// and pages of its 100,000 metrics. Clients and server share this process.
func TestLoadStatus(t *testing.T) {
	s := start(t, Options{DB: bigLog(t)})
	paths := []string{"/api/runs", "/api/runs/big", "/api/runs/big/series?metric=actor/m01&metric=actor/m02", "/api/runs/big/metrics?from=500&limit=500", "/api/runs/big/events", "/api/grid"}
	for _, p := range append(paths, "/api/runs/big/series") {
		began := time.Now()
		status, body := request{path: p}.do(t, s)
		if status != 200 || !json.Valid([]byte(body)) {
			t.Fatalf("%s: %d", p, status)
		}
		t.Logf("%s: %d bytes, asked for the first time %v", p, len(body), time.Since(began).Round(time.Microsecond))
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	before, l := residentMB(t), &latencies{}
	began, until := time.Now(), time.Now().Add(loadTime())
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for i := c; time.Now().Before(until); i++ {
				asked := time.Now()
				resp, err := client.Get("http://" + s.Addr() + paths[i%len(paths)])
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				l.add(time.Since(asked), err == nil && resp.StatusCode == 200)
			}
		})
	}
	wg.Wait()
	rate := float64(len(l.all)) / time.Since(began).Seconds()
	grown := residentMB(t) - before
	t.Logf("A1: %d requests, %.0f/s, p50 %v, p99 %v, %d errors, memory +%d MiB", len(l.all), rate, l.quantile(.5), l.quantile(.99), l.bad, grown)
	if l.bad > 0 || rate < 1000 || l.quantile(.99) > 25*time.Millisecond || grown > 64 {
		t.Error("A1 wants 1,000 requests a second, p99 of 25 ms, no error, 64 MiB")
	}
}
