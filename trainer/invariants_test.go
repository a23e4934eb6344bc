package trainer

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"troupe/data/store"
	"troupe/internal/prng"
	"troupe/model/kernels"
	"troupe/trainer/rollout"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// keep notes every sample that a server gives out.
type keep struct {
	rollout.Server
	mu      sync.Mutex
	samples []workflow.Sample
}

func (k *keep) Serve(ctx context.Context, line int, more func(bool) []workflow.Request, done func(int, workflow.Sample)) error {
	return k.Server.Serve(ctx, line, more, func(n int, s workflow.Sample) {
		k.mu.Lock()
		k.samples = append(k.samples, s)
		k.mu.Unlock()
		done(n, s)
	})
}

// Invariant 1: the trained ids are the sampled ids, the end token included.
func TestInvariant1TokenInTokenOut(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig(), nil)
	defer w.db.Close()
	g := &keep{Server: w.t.engine}
	jobs := rollout.Jobs(1, 1, w.t.source.draw(1, 4), 4)
	episodes, err := rollout.Play(t.Context(), w.t.workflow, jobs, g, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.t.rows(episodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, r := range rows {
		c := r.call
		if !slices.ContainsFunc(g.samples, func(s workflow.Sample) bool {
			return slices.Equal(s.IDs, c.IDs) && slices.Equal(s.PromptIDs, c.PromptIDs) && slices.Equal(s.LogProbs, c.LogProbs)
		}) {
			t.Fatal("a row has ids that nobody sampled")
		}
		if len(c.LogProbs) != len(c.IDs) || c.Text != (letters{}).Text(c.IDs) {
			t.Fatalf("row of %d ids has %d log-probabilities, text %q", len(c.IDs), len(c.LogProbs), c.Text)
		}
		last := c.IDs[len(c.IDs)-1]
		if (last == 1) != (c.Finish == workflow.Stop) {
			t.Fatalf("row ends with %d, finish %s", last, c.Finish)
		}
		if last == 1 {
			ended++
		}
	}
	if ended == 0 || ended == len(rows) {
		t.Fatalf("%d of %d rows ended by themselves: the test shows nothing", ended, len(rows))
	}
}

// Invariant 2: with unchanged weights every ratio is exactly 1.
func TestInvariant2SamplerAndTrainerAgree(t *testing.T) {
	for _, params := range []string{"full", "lora"} {
		t.Run(params, func(t *testing.T) {
			w := newWorld(t, t.TempDir(), smallConfig("lr=0", "iterations=3", "params="+params, "rank=4", "alpha=8"), nil).play(t)
			n := 0
			for _, r := range w.rows(t) {
				f := strings.Split(r, "|")
				if f[0] != "role_steps" || len(f) < 7 {
					continue
				}
				switch f[5] {
				case "'actor/max_log_ratio'", "'actor/chi2_token'", "'actor/ppo_kl'", "'actor/pg_clipfrac'", "'actor/upd_norm'":
					n++
					if f[6] != "0.0" && f[6] != "0" && f[6] != "-0.0" {
						t.Errorf("%s", r)
					}
				}
			}
			if n < 3*2*5 {
				t.Fatalf("only %d values looked at", n)
			}
		})
	}
}

// Invariant 3: an episode replayed alone is the same, and the run's id is no
// input to any draw.
func TestInvariant3PositionalRandomness(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig(), nil)
	defer w.db.Close()
	tasks := w.t.source.draw(5, 4)
	all, err := rollout.Play(t.Context(), w.t.workflow, rollout.Jobs(1, 5, tasks, 4), w.t.engine, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	key := prng.Key{Seed: 1, Iteration: 5, Task: tasks[2].ID, Rollout: 3}
	alone, err := rollout.Play(t.Context(), w.t.workflow, []rollout.Job{{Task: tasks[2], Key: key}}, w.t.engine, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range alone[0].Calls {
		o := all[2*4+3].Calls[i]
		if !slices.Equal(c.IDs, o.IDs) || !slices.Equal(c.LogProbs, o.LogProbs) {
			t.Fatalf("call %d differs alone", i)
		}
	}
	a := newWorld(t, t.TempDir(), smallConfig("iterations=2"), nil).play(t)
	b := newWorld(t, t.TempDir(), smallConfig("iterations=2", "fresh=1"), nil).play(t)
	if a.t.ID() == b.t.ID() || a.weights() != b.weights() {
		t.Error("runs of equal seed and other id are not paired")
	}
}

// Invariant 4: the same bits for any number of threads.
func TestInvariant4SameBitsForAnyGOMAXPROCS(t *testing.T) {
	var first *world
	var rows []string
	for _, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		pool := kernels.NewPool(procs)
		w := newWorld(t, t.TempDir(), smallConfig("iterations=4"), func(p *Parts) { p.Base = smallModel(t, pool) }).play(t)
		pool.Close()
		runtime.GOMAXPROCS(old)
		if first == nil {
			first, rows = w, w.rows(t)
			continue
		}
		if w.weights() != first.weights() {
			t.Errorf("%d threads end with other weights", procs)
		}
		sameRows(t, rows, w.rows(t))
	}
}

// Invariant 7: an infrastructure failure is never a reward.
func TestInvariant7InfrastructureFailuresAreLeftOut(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig(), nil)
	defer w.db.Close()
	episodes, err := rollout.Play(t.Context(), w.t.workflow, rollout.Jobs(1, 1, w.t.source.draw(1, 4), 16), w.t.engine, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	ie := 0
	for _, ep := range episodes {
		if ep.Verdict.Code == verdict.IE {
			ie++
		}
	}
	rows, err := w.t.rows(episodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ie == 0 || len(rows) != 4*(len(episodes)-ie) {
		t.Fatalf("%d failures among %d episodes, %d rows", ie, len(episodes), len(rows))
	}
	for _, r := range rows {
		if r.reward != 0 && r.reward != 1 {
			t.Fatalf("reward %v", r.reward)
		}
	}
	// A whole batch of failures: no update, no crash, all of it in the log.
	for i := range episodes {
		episodes[i].Verdict = verdict.Verdict{Code: verdict.IE}
	}
	if rows, err = w.t.rows(episodes, nil); err != nil || len(rows) != 0 {
		t.Fatal(len(rows), err)
	}
	if done, err := w.t.update(t.Context(), 1, rows); err != nil || len(done) != 0 {
		t.Fatal(done, err)
	}
}

// Invariant 8: nothing that is not finite changes anything or is saved.
func TestInvariant8NonFiniteGradients(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		calls := 0
		w := newWorld(t, t.TempDir(), smallConfig(), nil)
		w.t.parts.Inject = func(site string, values [][]float32) {
			if !strings.HasPrefix(site, "gradient/") {
				return
			}
			if calls++; calls > 4 {
				values[calls%len(values)][0] = float32(bad)
			}
		}
		err := w.t.Run(t.Context())
		w.db.Close()
		if !errors.Is(err, ErrNonFinite) {
			t.Fatalf("%v: error %v", bad, err)
		}
		for _, name := range w.t.setNames {
			for _, x := range w.t.sets[name].Values() {
				for _, v := range x {
					if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
						t.Fatal("a weight is not finite")
					}
				}
			}
		}
		events := 0
		for _, r := range w.rows(t) {
			if strings.HasPrefix(r, "events|") && strings.Contains(r, "nonfinite") {
				events++
			}
		}
		if events == 0 {
			t.Error("no event")
		}
	}
}

// Invariant 9: one transaction an iteration, and a reader never holds up the
// trainer.
func TestInvariant9OneTransactionAnIteration(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir, smallConfig(), nil)
	var reader *store.DB
	seen := -1
	w.t.parts.Report = func(p Progress) {
		if reader == nil {
			var err error
			if reader, err = store.OpenReadOnly(filepath.Join(dir, "runs.db")); err != nil {
				t.Fatal(err)
			}
			// A query that stays open until the end of the run.
			open, err := reader.Query(t.Context(), "SELECT * FROM verdicts", "")
			if err != nil {
				t.Fatal(err)
			}
			open.Next()
			t.Cleanup(func() { open.Close(); reader.Close() })
		}
		last, err := reader.LastIteration(t.Context(), w.t.ID())
		if err != nil {
			t.Fatal(err)
		}
		if last != p.Iteration {
			t.Errorf("after iteration %d a reader sees %d", p.Iteration, last)
		}
		seen = last
	}
	w.t.parts.Fail = func(site string) {
		if site != "before-checkpoint" || reader == nil {
			return
		}
		// All of the iteration is computed, nothing of it is in the log yet.
		if last, err := reader.LastIteration(t.Context(), w.t.ID()); err != nil || last != seen {
			t.Errorf("within an iteration a reader sees %d, %v; %d is complete", last, err, seen)
		}
	}
	w.play(t)
	if seen != w.cfg.Iterations {
		t.Errorf("reports ended at %d", seen)
	}
}
