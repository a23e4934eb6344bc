package trainer

import "testing"

// Base perplexity that rises while the reward still grows is a role that goes
// its own way; it is an alarm once the reward lies under its best.
func TestBasePerplexityIsAnAlarmInADipOnly(t *testing.T) {
	reward := map[string]func(i int) float64{
		"grows": func(i int) float64 { return 0.3 + 0.005*float64(i) },
		"falls": func(i int) float64 { return 0.3 + 0.005*float64(min(i, 30)) - 0.01*float64(max(0, i-30)) },
	}
	for name, want := range map[string][]int{"grows": nil, "falls": {50}} {
		w := newWatches([]string{"generator"})
		var at []int
		for i := 1; i <= 70; i++ {
			values := map[[2]string]float64{{"", rewardMetric}: reward[name](i)}
			if i%10 == 0 {
				values[[2]string{"generator", "actor/ppl_base"}] = 1.2 + float64(i)*0.03
			}
			for _, e := range w.observe(values) {
				if e.Kind == "ppl_base" {
					at = append(at, i)
				}
			}
		}
		if len(at) != len(want) || len(want) > 0 && at[0] != want[0] {
			t.Errorf("the reward %s: alarms at %v, want %v", name, at, want)
		}
	}
}
