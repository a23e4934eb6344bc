package trainer

import (
	"testing"
	"time"

	"troupe/data/store"
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

// The last iteration is evaluated at both temperatures and probed, which those
// before it were not: a limit counts that before it is too late.
func TestALimitKeepsTimeForTheEnd(t *testing.T) {
	phases := func(seconds ...float64) (ts []store.Timing) {
		for i, phase := range []string{"rollout", "update", "eval", "metrics"} {
			ts = append(ts, store.Timing{Phase: phase, Seconds: seconds[i]})
		}
		return ts
	}
	both := due{evaluations: 2, probes: 1}
	for left, ends := range map[time.Duration]bool{200 * time.Second: false, 180 * time.Second: true} {
		l := newLimit(20*time.Minute, 20*time.Minute-left)
		l.saw(phases(0, 0, 80, 50), both)
		l.saw(phases(12, 8, 0, 0), due{})
		l.saw(phases(10, 6, 40, 0), due{evaluations: 1})
		// 18 s, then 18 + 80 + 50, and a tenth
		if l.takes(both) != 148*time.Second || l.ends(due{}, both) != ends {
			t.Errorf("%v left: %+v takes %v, ends %v", left, l, l.takes(both), l.ends(due{}, both))
		}
	}
	if l := newLimit(0, time.Minute); l.ends(both, both) {
		t.Error("no budget, yet it is used up")
	}
}

// A run that is told where a budget ended it computes what that run did, with
// no clock.
func TestARunEndsWhereItEndedBefore(t *testing.T) {
	dir := t.TempDir()
	late := func(p *Parts) { p.Until = time.Now().Add(-time.Second) }
	w := newWorld(t, dir, smallConfig("budget=1h"), late).play(t)
	rows := w.rows(t)
	cfg := w.cfg
	cfg.Ends = 1
	cfg.Out, cfg.DB = "", ""
	again := newWorld(t, t.TempDir(), cfg, nil).play(t)
	if again.t.ID() != w.t.ID() {
		t.Errorf("%s is another run than %s", again.t.ID(), w.t.ID())
	}
	sameRows(t, rows, again.rows(t))
	if again.weights() != w.weights() {
		t.Error("other parameters")
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
