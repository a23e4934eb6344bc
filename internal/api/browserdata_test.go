//go:build browser

package api

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"troupe/data/store"
)

// longRunLog is two runs with the metrics a person looks at.
func longRunLog(t *testing.T, iterations int) *store.DB {
	t.Helper()
	_, db := openLongRun(t, iterations, 1)
	return db
}

// openLongRun makes two runs, the first with so many times the metrics, and
// leaves the database open for more.
func openLongRun(t *testing.T, iterations, times int) (*store.DB, *store.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	for n, policy := range []string{"shared", "isolated"} {
		id := fmt.Sprint("run", n)
		config := fmt.Sprintf("workflow: \"voting\"\npolicy: %q\niterations: %d\n", policy, iterations)
		if err := w.CreateRun(t.Context(), store.Run{ID: id, Config: config, Workflow: "voting", Policy: policy, Profile: "study",
			Task: "math", Model: "tiny-s", Numerics: "f32", Seed: 1, State: store.Running}); err != nil {
			t.Fatal(err)
		}
		many := times
		if n > 0 {
			many = 1
		}
		for i := range iterations + 1 {
			writeIteration(t, w, id, n, i, many, iterations)
		}
	}
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return w, db
}

var shownMetrics = []string{"actor/grad_norm", "actor/ppl_base", "actor/ppl_self", "actor/entropy", "actor/amplification", "actor/mass_share", "actor/capture", "actor/lr", "parse/primary"}

// writeIteration logs one iteration: the metrics of both roles, and now and
// then an evaluation, an episode and an alarm.
func writeIteration(t *testing.T, w *store.DB, run string, n, i, times, of int) {
	t.Helper()
	roles, x := []string{"generator", "aggregator"}, math.Min(1, float64(i)/float64(of))
	b := store.Batch{Run: run, Iteration: i, Steps: []store.Step{{Metric: "critic/rewards/mean", Value: .4 + .4*x}}}
	for k, r := range roles {
		for m, name := range shownMetrics {
			b.RoleSteps = append(b.RoleSteps, store.RoleStep{Role: r, Slot: store.AllSlots, Metric: name, Value: 1 + x*float64(m) + .2*math.Sin(float64(i*(k+2)+n))})
		}
		for m := range times - 1 {
			b.RoleSteps = append(b.RoleSteps, store.RoleStep{Role: r, Slot: store.AllSlots, Metric: fmt.Sprintf("other/%02d", m), Value: x})
		}
	}
	if every := max(10, of/6); i%every == 0 {
		for _, temperature := range []float64{0, 1} {
			b.Evals = append(b.Evals, store.Eval{Split: "held", Temperature: temperature, N: 600, Accuracy: .5 + .3*x, Stderr: .02})
		}
	}
	if i == 10 {
		addEpisode(&b, roles)
	}
	if i == 40 {
		b.Events = []store.Event{{Kind: "unparsed", Role: "aggregator", Severity: "alarm", Message: "primary-tier parse rate fell below 0.9", Value: .87}}
	}
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// addEpisode plays one episode, judged wrong by its second test. Its texts try
// to be markup.
func addEpisode(b *store.Batch, roles []string) {
	at := store.At{Split: "train", Temperature: 1, Task: "arithmetic/47+38"}
	b.Tasks = []store.Task{{ID: at.Task, Kind: "math", Text: "What is 47 + 38?", Gold: "85",
		Tests: `[{"Input":"1\n","Output":"1\n"},{"Input":"2\n","Output":"1\n2\n3\n"}]`}}
	b.Episodes = []store.Episode{{At: at, Rewarded: true, Verdict: "WA", Kept: true},
		{At: store.At{Split: "train", Temperature: 1, Task: at.Task, Rollout: 1}, Reward: 1, Rewarded: true, Verdict: "AC", Kept: true}}
	for rollout := range 2 {
		at.Rollout = rollout
		for k, text := range []string{`47+38 is \boxed{85}`, `<script>alert(1)</script> \boxed{1}`} {
			b.Calls = append(b.Calls, store.Call{CallAt: store.CallAt{At: at, Role: roles[k], Turn: k}, PromptIDs: []int32{1}, IDs: []int32{2},
				LogProbs: []float32{-1}, Text: text, Tier: "primary", Finish: "stop", Advantage: .7})
		}
	}
	at.Rollout = 0
	b.Verdicts = []store.Verdict{{CallAt: store.CallAt{At: at}, Code: "WA", Reason: "output differs", Passed: 1, Total: 2, Fuel: 12345}}
	b.TestResults = []store.TestResult{{CallAt: store.CallAt{At: at}, Test: 1, Code: "WA", Fuel: 99, Stdout: "1\n3\n<b>4</b>\n", Detail: "line 2: 3 is not 2"}}
}
