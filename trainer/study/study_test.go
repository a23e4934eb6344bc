package study

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"troupe/data/store"
	"troupe/trainer"
)

// TestSmokeGrid plays the smoke grid with an oracle in place of the sandbox.
// It takes minutes, so it runs only where TROUPE_LONG is set.
func TestSmokeGrid(t *testing.T) {
	if os.Getenv("TROUPE_LONG") == "" {
		t.Skip("TROUPE_LONG is not set")
	}
	db, err := store.Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cache := os.Getenv("TROUPE_LONG")
	s, err := New(Options{Cells: SmokeCells(), Iterations: 80, Cache: cache, Out: t.TempDir(), DB: db, Verifier: oracle{}, Parallel: 2,
		Warm:  func(b Base) { t.Logf("%s step %d single %.3f orch %.3f", b.Kind, b.Steps, b.Single, b.Orch) },
		Based: func(b Base) { t.Logf("%s base: %d steps, %.1f s", b.Kind, b.Steps, b.Seconds) },
		Progress: func(c Cell, p trainer.Progress) {
			if p.Iteration%10 == 0 {
				t.Logf("%s %d reward %.3f acc %.3f", c.Name(), p.Iteration, p.Reward, p.Accuracy)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	rs, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		t.Logf("%-16s T1 %.3f -> %.3f p %.1e   greedy %.3f -> %.3f p %.1e  judged %d cached %d", r.Cell.Name(), r.Sampled.Base, r.Sampled.Final, r.Sampled.P,
			r.Greedy.Base, r.Greedy.Final, r.Greedy.P, r.Judged, r.Cached)
		if r.Sampled.P > 0.01 || r.Sampled.Gain() <= 0 {
			t.Errorf("%s did not improve", r.Cell.Name())
		}
	}
}
