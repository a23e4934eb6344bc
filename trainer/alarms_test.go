package trainer

import (
	"slices"
	"testing"
)

// firedAt plays 70 iterations of made-up metrics and returns when one kind of
// alarm fired.
func firedAt(kind string, values func(i int) map[[2]string]float64) []int {
	w := newWatches([]string{"generator"})
	var at []int
	for i := 1; i <= 70; i++ {
		for _, e := range w.observe(values(i)) {
			if e.Kind == kind {
				at = append(at, i)
			}
		}
	}
	return at
}

var fates = map[string]func(i int) float64{
	"grows": func(i int) float64 { return 0.3 + 0.005*float64(i) },
	"falls": func(i int) float64 { return 0.3 + 0.005*float64(min(i, 30)) - 0.01*float64(max(0, i-30)) },
}

// Base perplexity that rises while the reward still grows is a role that goes
// its own way; it is an alarm once the reward lies under its best. So is a
// gradient that has doubled.
func TestDriftIsAnAlarmInADipOnly(t *testing.T) {
	for fate, want := range map[string]map[string][]int{
		"grows": {},
		"falls": {"ppl_base": {50}, "gradient": {44}},
	} {
		values := func(i int) map[[2]string]float64 {
			v := map[[2]string]float64{{"", rewardMetric}: fates[fate](i),
				{"generator", "actor/grad_norm"}: 0.5 + 0.02*float64(i)}
			if i%10 == 0 {
				v[[2]string{"generator", "actor/ppl_base"}] = 1.2 + float64(i)*0.03
			}
			return v
		}
		for _, kind := range []string{"ppl_base", "gradient"} {
			if got := firedAt(kind, values); !slices.Equal(got, want[kind]) {
				t.Errorf("the reward %s: %s at %v, want %v", fate, kind, got, want[kind])
			}
		}
	}
}

// One batch in which the agents happen to agree is no amplification; agents
// that agree for as long as the average remembers are.
func TestAmplificationIsAnAlarmWhereItLasts(t *testing.T) {
	cosine := func(from, to int) func(i int) map[[2]string]float64 {
		return func(i int) map[[2]string]float64 {
			x := 0.15
			if i >= from && i <= to {
				x = 0.7
			}
			return map[[2]string]float64{{"generator", "actor/slot_cosine"}: x}
		}
	}
	if got := firedAt("amplification", cosine(30, 32)); got != nil {
		t.Errorf("three batches: %v", got)
	}
	if got := firedAt("amplification", cosine(30, 60)); !slices.Equal(got, []int{34}) {
		t.Errorf("thirty batches: %v", got)
	}
}
