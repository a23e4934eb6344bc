package trainer

import (
	"testing"
	"time"
)

// A run whose time is up ends after an iteration that is evaluated and saved.
// Another session has nothing left to do, and the iteration can be replayed.
func TestABudgetEndsARun(t *testing.T) {
	dir := t.TempDir()
	late := func(p *Parts) { p.Until = time.Now().Add(-time.Second) }
	w := newWorld(t, dir, smallConfig("budget=1h", "eval.greedy=true"), late).play(t)
	rows := w.rows(t)
	again := newWorld(t, dir, w.cfg, nil).play(t)
	sameRows(t, rows, again.rows(t))
	if again.weights() != w.weights() {
		t.Error("another session changed the parameters")
	}
	db := newWorld(t, dir, w.cfg, nil).db
	defer db.Close()
	if last, err := db.LastIteration(t.Context(), w.t.id); err != nil || last != 1 {
		t.Errorf("the run ended after iteration %d: %v", last, err)
	}
	if c, ok, err := db.LastCheckpoint(t.Context(), w.t.id); err != nil || !ok || c.Iteration != 1 {
		t.Errorf("newest checkpoint %+v: %v", c, err)
	}
	evals, err := db.Evals(t.Context(), w.t.id)
	if err != nil || len(evals) != 4 { // sampled and greedy, before and after
		t.Errorf("evaluations %+v: %v", evals, err)
	}
	if got := replay(t, w, "", 1, nil); len(got.Differences) > 0 {
		t.Errorf("replayed: %+v", got)
	}
}

func TestALimitFollowsTheRunsPace(t *testing.T) {
	l := newLimit(time.Minute, 50)
	l.iteration = time.Second
	if l.ends() {
		t.Error("ten seconds are left, an iteration takes one")
	}
	l.closing = 5 * time.Second
	if !l.ends() {
		t.Error("the evaluation at the end does not fit any more")
	}
	if l = newLimit(0, 50); l.ends() {
		t.Error("no budget, yet it is used up")
	}
}

func TestBudgetsAreDurations(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "45m": true, "1h30m": true, "0s": false, "-5m": false, "soon": false, "45": false} {
		if err := smallConfig("budget=" + text).validated(); (err == nil) != ok {
			t.Errorf("budget %q: %v", text, err)
		}
	}
}

func (c Config) validated() error { return c.Validate() }
