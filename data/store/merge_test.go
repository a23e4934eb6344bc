package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// fill writes iterations 0 to n-1 of a run.
func fill(t *testing.T, db *DB, run string, n int) {
	t.Helper()
	addRun(t, db, run)
	for i := range n {
		b := sampleBatch(run, i)
		b.Checkpoint.Path = db.Path() // may differ between equal runs
		b.Timings[0].Seconds = float64(len(db.Path()) + i)
		if err := db.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMerge(t *testing.T) {
	a, b, both := newDB(t), newDB(t), newDB(t)
	fill(t, a, "r1", 3)
	fill(t, a, "r2", 2)
	fill(t, b, "r2", 4) // goes further than a's
	fill(t, b, "r3", 1)
	fill(t, both, "r1", 3)
	fill(t, both, "r2", 4)
	fill(t, both, "r3", 1)
	m, err := a.Merge(t.Context(), b.Path())
	if err != nil || strings.Join(m.Added, " ") != "r3" || strings.Join(m.Completed, " ") != "r2" || len(m.Present) != 0 {
		t.Fatalf("%+v, error %v", m, err)
	}
	want := dump(t, both)
	if got := dump(t, a); got != want {
		t.Errorf("merged:\n%s\nwant\n%s", got, want)
	}
	m, err = a.Merge(t.Context(), b.Path())
	if err != nil || len(m.Added)+len(m.Completed) != 0 || len(m.Present) != 2 || dump(t, a) != want {
		t.Errorf("merging again: %+v, error %v", m, err)
	}
	// The other way round: theirs is the shorter one now.
	if _, err := b.Merge(t.Context(), a.Path()); err != nil || dump(t, b) != want {
		t.Errorf("the other way round: error %v", err)
	}
}

func TestMergeTakesTheStateOfTheLongerRun(t *testing.T) {
	a, b := newDB(t), newDB(t)
	fill(t, a, "r1", 1)
	fill(t, b, "r1", 2)
	if err := b.SetState(t.Context(), "r1", Done); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Merge(t.Context(), b.Path()); err != nil {
		t.Fatal(err)
	}
	if r, _ := a.RunByID(t.Context(), "r1"); r.State != Done {
		t.Errorf("state %q", r.State)
	}
	// Equal length: a finished run is told by whoever knows that it finished.
	c := newDB(t)
	fill(t, c, "r1", 2)
	if _, err := c.Merge(t.Context(), b.Path()); err != nil {
		t.Fatal(err)
	}
	if r, _ := c.RunByID(t.Context(), "r1"); r.State != Done {
		t.Errorf("state %q", r.State)
	}
}

func TestMergeRefusesConflicts(t *testing.T) {
	for name, change := range map[string]string{
		"metric":  "UPDATE steps SET value = 7 WHERE iteration = 1 AND metric = 'critic/rewards/mean'",
		"missing": "DELETE FROM calls WHERE iteration = 0",
		"config":  "UPDATE runs SET config = 'seed: 2'",
		"blob":    "UPDATE calls SET ids = x'00' WHERE iteration = 1",
	} {
		a, b := newDB(t), newDB(t)
		fill(t, a, "r1", 3)
		fill(t, a, "r0", 1)
		fill(t, b, "new", 1)
		fill(t, b, "r1", 2)
		if _, err := b.sql.Exec(change); err != nil {
			t.Fatal(err)
		}
		before := dump(t, a)
		_, err := a.Merge(t.Context(), b.Path())
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "r1") {
			t.Errorf("%s: error %v", name, err)
		}
		if dump(t, a) != before {
			t.Errorf("%s: a refused merge changed the log", name)
		}
	}
	a := newDB(t)
	if _, err := a.Merge(t.Context(), filepath.Join(t.TempDir(), "missing.db")); err == nil {
		t.Error("no error for a missing file")
	}
	if _, err := a.Merge(t.Context(), a.Path()); err != nil {
		t.Errorf("merging a log into itself: %v", err)
	}
}
