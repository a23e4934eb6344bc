package api

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

// runLog makes a database with one run of two iterations and opens it for
// reading.
func runLog(t *testing.T) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.CreateRun(t.Context(), store.Run{ID: "abc", Config: "tasks: 2\n", Workflow: "voting", Policy: "shared", Task: "math", Seed: 1<<64 - 1, State: store.Running}); err != nil {
		t.Fatal(err)
	}
	at := store.At{Split: "train", Temperature: 1, Task: "t", Rollout: 0}
	for i := range 2 {
		err := w.Write(t.Context(), store.Batch{
			Run: "abc", Iteration: i,
			Steps:     []store.Step{{Metric: "reward/mean", Value: 0.25}},
			RoleSteps: []store.RoleStep{{Role: "generator", Slot: store.AllSlots, Metric: "actor/grad_norm", Value: 2}},
			Evals:     []store.Eval{{Split: "held", Temperature: 1, N: 600, Accuracy: 0.5, Stderr: 0.02}},
			Episodes:  []store.Episode{{At: at, Reward: 1, Rewarded: true, Verdict: "AC", Kept: true}},
			Calls: []store.Call{{CallAt: store.CallAt{At: at, Role: "generator"}, PromptIDs: []int32{1}, IDs: []int32{2, 3},
				LogProbs: []float32{-1, -2}, Text: "<b>\\boxed{1}</b>", Tier: "primary", Finish: "stop", Advantage: 0.5}},
			Events: []store.Event{{Kind: "cliff", Role: "generator", Severity: "alarm", Message: "fell", Value: 3}},
		})
		if err != nil {
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

func TestStatusRoutes(t *testing.T) {
	s := start(t, Options{DB: runLog(t)})
	cases := []struct {
		path   string
		status int
		want   []string
	}{
		{"/api/runs", 200, []string{`"id":"abc"`, `"state":"running"`, `"iteration":1`, `"seed":18446744073709551615`}},
		{"/api/runs/abc", 200, []string{`"accuracy":0.5`, `"config":"tasks: 2\n"`}},
		{"/api/runs/abc/metrics", 200, []string{`"metric":"reward/mean","value":0.25`, `"role":"generator"`}},
		{"/api/runs/abc/metrics?from=2", 200, []string{`"metrics":[]`}},
		{"/api/runs/abc/events", 200, []string{`"kind":"cliff"`}},
		{"/api/runs/abc/iterations/1/episodes", 200, []string{`"total":1`, `\u003cb\u003e`, `"tokens":2`}},
		{"/api/runs/none", 404, []string{"none"}},
		{"/api/runs/none/metrics", 404, nil},
		{"/api/runs/abc/metrics?from=-1", 400, []string{"from must be"}},
		{"/api/runs/abc/metrics?from=x", 400, nil},
		{"/api/runs/abc/iterations/x/episodes", 400, nil},
		{"/api/runs/abc'%20OR%201=1/metrics", 404, nil},
	}
	for _, c := range cases {
		status, body := request{path: c.path}.do(t, s)
		if status != c.status || !json.Valid([]byte(body)) {
			t.Errorf("%s: status %d, want %d: %s", c.path, status, c.status, body)
		}
		for _, w := range c.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %s: %s", c.path, w, body)
			}
		}
	}
}

func TestWithoutADatabaseThereAreNoRuns(t *testing.T) {
	s := start(t, Options{})
	if status, _ := (request{path: "/api/runs"}).do(t, s); status != 404 {
		t.Errorf("status %d", status)
	}
}
