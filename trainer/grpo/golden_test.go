package grpo

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"troupe/internal/golden"
)

// The golden numbers come from verl 0.6.1 and TRL 1.16.0.

// num is a float64 that JSON may spell as "NaN" or "Infinity".
type num float64

func (n *num) UnmarshalJSON(b []byte) error {
	switch s := string(b); s {
	case `"NaN"`:
		*n = num(math.NaN())
	case `"Infinity"`:
		*n = num(math.Inf(1))
	case `"-Infinity"`:
		*n = num(math.Inf(-1))
	default:
		var f float64
		if err := json.Unmarshal(b, &f); err != nil {
			return err
		}
		*n = num(f)
	}
	return nil
}

func floats(in []num) []float64 {
	out := make([]float64, len(in))
	for i, v := range in {
		out[i] = float64(v)
	}
	return out
}

func close64(a, b, rel, abs float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= abs+rel*math.Abs(b)
}

func TestGoldenAdvantages(t *testing.T) {
	var g struct {
		Cases []struct {
			Name    string
			Rewards []num
			Groups  []string
			Lengths []int
			Out     map[string][]num
		}
		ZeroVarianceRounding struct {
			Cases []struct {
				Reward float64
				N      int
			}
		} `json:"zero_variance_rounding"`
	}
	golden.JSON(t, &g, "grpo", "advantages.json")
	ours := map[string]AdvantageOptions{
		"grpo":                         {Estimator: GRPO, Singleton: SingletonRaw},
		"grpo_no_std":                  {Estimator: NoStd, Singleton: SingletonRaw},
		"rloo":                         {Estimator: RLOO, Singleton: SingletonRaw},
		"rloo_vectorized":              {Estimator: RLOO, Singleton: SingletonZero},
		"opo":                          {Estimator: OPO, Singleton: SingletonRaw},
		"reinforce_plus_plus":          {Estimator: RPP},
		"reinforce_plus_plus_baseline": {Estimator: RPPBase, Singleton: SingletonRaw},
		"trl_group":                    {Estimator: GRPO, Epsilon: 1e-4},
		"trl_batch":                    {Estimator: BatchStd, Epsilon: 1e-4},
		"trl_none":                     {Estimator: NoStd},
	}
	checked := 0
	for _, c := range g.Cases {
		for key, want := range c.Out {
			opt, have := ours[key]
			if !have {
				continue
			}
			got, err := Advantages(floats(c.Rewards), c.Groups, c.Lengths, opt)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name, key, err)
			}
			for i, w := range want {
				g := got[i]
				if c.Lengths[i] == 0 && !strings.HasPrefix(key, "trl") {
					g = 0 // verl shows an empty row's tokens, of which there are none
				}
				if !close64(g, float64(w), 1e-9, 1e-9) {
					t.Errorf("%s, %s, row %d: %v, want %v", c.Name, key, i, g, w)
				}
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d cases checked", checked)
	}
	for _, c := range g.ZeroVarianceRounding.Cases {
		r, gr, l := make([]float64, c.N), make([]string, c.N), make([]int, c.N)
		for i := range r {
			r[i], l[i] = c.Reward, 1
		}
		got, _ := Advantages(r, gr, l, AdvantageOptions{Estimator: GRPO})
		for i, a := range got {
			if a != 0 {
				t.Errorf("%d equal rewards %v: row %d has %v, want exactly 0", c.N, c.Reward, i, a)
			}
		}
	}
}

func TestGoldenGrouping(t *testing.T) {
	var g struct {
		Grouping []struct {
			Name    string
			Rows    [][]any
			Rewards []num
			Groups  map[Grouping][]any
			Adv     map[Grouping][]num `json:"grpo_advantages"`
		}
	}
	golden.JSON(t, &g, "grpo", "advantages.json")
	if len(g.Grouping) == 0 {
		t.Fatal("no grouping cases")
	}
	for _, c := range g.Grouping {
		for rule, want := range c.Groups {
			keys := make([]string, len(c.Rows))
			first, back := map[string]any{}, map[any]string{}
			for i, r := range c.Rows {
				k, err := rule.Key(Member{Task: r[0].(string), Role: r[1].(string), Slot: int(r[2].(float64)),
					Turn: int(r[3].(float64)), Prompt: r[5].(string), Trajectory: r[6].(string)})
				if err != nil {
					t.Fatal(err)
				}
				keys[i] = k
				if rule == ByPaper && k != want[i] {
					t.Errorf("%s: row %d is in %q, want %q", c.Name, i, k, want[i])
				}
				if w, ok := first[k]; ok && w != want[i] {
					t.Errorf("%s, %s: row %d joined with another group", c.Name, rule, i)
				}
				if w, ok := back[want[i]]; ok && w != k {
					t.Errorf("%s, %s: row %d split off its group", c.Name, rule, i)
				}
				first[k], back[want[i]] = want[i], k
			}
			lengths := make([]int, len(keys))
			for i := range lengths {
				lengths[i] = 1
			}
			got, err := Advantages(floats(c.Rewards), keys, lengths, AdvantageOptions{Estimator: GRPO, Singleton: SingletonRaw})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range c.Adv[rule] {
				if !close64(got[i], float64(w), 1e-9, 1e-9) {
					t.Errorf("%s, %s, row %d: %v, want %v", c.Name, rule, i, got[i], w)
				}
			}
		}
	}
}
