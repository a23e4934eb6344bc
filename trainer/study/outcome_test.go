package study

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

// Amplification of two runs is compared iteration by iteration.
func TestAmplificationIsComparedByIteration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for run, values := range map[string][]float64{"a": {1.2, 1.3, 1.1, 1.2, 1.2, 1.4}, "b": {1, 1, 1, 1, 1, 1.5}} {
		if err := db.CreateRun(t.Context(), store.Run{ID: run, State: store.Done}); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			err := db.Write(t.Context(), store.Batch{Run: run, Iteration: i + 1, RoleSteps: []store.RoleStep{
				{Role: "generator", Slot: store.AllSlots, Metric: "actor/amplification", Value: v}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	db.Close()
	if db, err = store.OpenReadOnly(path); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := signTest(t.Context(), db, "a", "b")
	if want := 14.0 / 64; err != nil || math.Abs(p-want) > 1e-12 { // five of six, two-sided
		t.Errorf("p %v, want %v (%v)", p, want, err)
	}
}

func TestSentencesSayWhatTheNumbersShow(t *testing.T) {
	fallen := ArmOutcome{Label: "ramp", Peak: .5, Final: .1, PeakAt: 20, DropP: 1e-9, FallAt: 70, Alarm: "ppl_base aggregator", AlarmAt: 50}
	sound := ArmOutcome{Label: "recipe", Peak: .6, Final: .6, DropP: 1}
	for _, c := range []struct {
		o    Outcome
		want string
	}{
		{Outcome{Arms: [2]ArmOutcome{sound, fallen}, P: 1e-9}, "Ramp collapses: 40 points from its peak; the alarm ppl_base aggregator fired 20 iterations before the first measurement 10 points down; recipe ends 50.0 points above ramp."},
		{Outcome{Arms: [2]ArmOutcome{sound, sound}, P: .5}, "The ends of recipe and recipe can't be told apart."},
	} {
		if got := c.o.Sentence(); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
	amplified := Outcome{Control: Control{Slots: true}, Arms: [2]ArmOutcome{{Label: "a", Amplification: 1.2}, {Label: "b", Amplification: 1}}, P: 1, AmplificationP: .01}
	if got := amplified.Sentence(); !strings.Contains(got, "1.20 with a and 1.00 with b (p 0.01 over iterations)") {
		t.Error(got)
	}
}
