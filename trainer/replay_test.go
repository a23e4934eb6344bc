package trainer

import (
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

// replay computes an iteration of a played world again; change sees the
// replaying trainer first.
func replay(t *testing.T, w *world, root string, iteration int, change func(*Trainer)) Replayed {
	t.Helper()
	recorded, err := store.OpenReadOnly(filepath.Join(w.dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	r, err := NewReplayer(w.cfg, Parts{Base: smallModel(t, nil), Encoder: letters{}, Verifier: lottery{}, Tasks: smallTasks()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if change != nil {
		change(r)
	}
	got, err := r.Replay(t.Context(), recorded, root, iteration)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Invariant 10: any iteration can be computed again from what is on disk, and
// every row of it is the same bit for bit.
func TestInvariant10ReplayComputesTheSameRows(t *testing.T) {
	for _, params := range []string{"full", "lora"} {
		w := newWorld(t, t.TempDir(), smallConfig("params="+params, "rank=4", "alpha=8", "metrics.every=2", "metrics.tasks=4"), nil).play(t)
		for _, c := range []struct{ iteration, from int }{{0, -1}, {1, -1}, {3, -1}, {5, 4}, {6, 4}} {
			got := replay(t, w, "", c.iteration, nil)
			if len(got.Differences) > 0 || got.Rows < 20 || got.From != c.from {
				t.Errorf("%s, iteration %d: %+v", params, c.iteration, got)
			}
			if got.Weights != (c.iteration%2 == 0) {
				t.Errorf("%s, iteration %d: weights compared %v", params, c.iteration, got.Weights)
			}
		}
		if got := replay(t, w, t.TempDir(), 6, nil); got.From != -1 || len(got.Differences) > 0 {
			t.Errorf("without checkpoints: %+v", got)
		}
		got := replay(t, w, "", 6, func(r *Trainer) { r.cfg.LR *= 1.0001 })
		if len(got.Differences) == 0 || !strings.Contains(strings.Join(got.Differences, " "), "checkpoints") {
			t.Errorf("a changed learning rate went unnoticed: %+v", got)
		}
	}
}
