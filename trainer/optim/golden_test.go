package optim

import (
	"math"
	"testing"

	"troupe/internal/golden"
)

// The golden numbers were made with torch 2.15 and verl 0.6.1.

// tensors flattens nested JSON arrays: one slice for each element of the outer
// array. Strings spell NaN and infinities.
func tensors(t *testing.T, v any) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, e := range v.([]any) {
		var flat []float64
		var walk func(any)
		walk = func(x any) {
			switch x := x.(type) {
			case []any:
				for _, y := range x {
					walk(y)
				}
			case float64:
				flat = append(flat, x)
			case string:
				f := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}
				flat = append(flat, f[x])
			}
		}
		walk(e)
		out = append(out, flat)
	}
	return out
}

type optimizerStep struct {
	Grad    any
	LR      float64
	Norm    any `json:"grad_norm"`
	Skipped bool
	Clip    *float64 `json:"clip_coefficient"`
	Step    int      `json:"adam_step"`
	Param   any
	M       any `json:"exp_avg"`
	V       any `json:"exp_avg_sq"`
}

func TestGoldenAdamW(t *testing.T) {
	var g struct {
		Betas   [2]float64
		Eps     float64
		Decay   float64 `json:"weight_decay"`
		MaxNorm float64 `json:"max_norm"`
		Initial any
		Runs    []struct {
			Name, Dtype string
			Steps       []optimizerStep
		}
	}
	golden.JSON(t, &g, "grpo", "optimizer.json")
	a := AdamW{Beta1: g.Betas[0], Beta2: g.Betas[1], Epsilon: g.Eps, WeightDecay: g.Decay}
	for _, run := range g.Runs {
		t.Run(run.Name+" "+run.Dtype, func(t *testing.T) {
			if run.Dtype == "float64" {
				checkRun(t, a, a.Apply64, tensors(t, g.Initial), run.Steps, g.MaxNorm, 1e-12, 1e-14)
				return
			}
			checkRun(t, a, a.Apply, narrow(tensors(t, g.Initial)), run.Steps, g.MaxNorm, 1e-6, 1e-7)
		})
	}
}

func narrow(x [][]float64) [][]float32 {
	out := make([][]float32, len(x))
	for i := range x {
		for _, v := range x[i] {
			out[i] = append(out[i], float32(v))
		}
	}
	return out
}

func checkRun[T Float](t *testing.T, a AdamW, step func(p, g [][]T, s *State[T], lr float64), params [][]T, steps []optimizerStep, maxNorm, rel, abs float64) {
	state := NewState(params)
	for n, s := range steps {
		var grads [][]T
		for _, g := range tensors(t, s.Grad) {
			var row []T
			for _, v := range g {
				row = append(row, T(v))
			}
			grads = append(grads, row)
		}
		norm := Norm(grads)
		if Finite(norm) == s.Skipped {
			t.Fatalf("step %d: norm %v, skipped should be %v", n, norm, s.Skipped)
		}
		if !s.Skipped {
			if w := s.Norm.(float64); math.Abs(norm-w) > rel*w+abs {
				t.Errorf("step %d: norm %v, want %v", n, norm, w)
			}
			c := Clip(grads, norm, maxNorm)
			if s.Clip != nil && math.Abs(c-*s.Clip) > rel+abs {
				t.Errorf("step %d: clip factor %v, want %v", n, c, *s.Clip)
			}
			step(params, grads, state, s.LR)
		}
		if state.Step != s.Step {
			t.Errorf("step %d: counted %d, want %d", n, state.Step, s.Step)
		}
		for what, pair := range map[string]struct {
			got  [][]T
			want any
		}{"parameter": {params, s.Param}, "first moment": {state.M, s.M}, "second moment": {state.V, s.V}} {
			for i, w := range tensors(t, pair.want) {
				for j := range w {
					if d := math.Abs(float64(pair.got[i][j]) - w[j]); d > rel*math.Abs(w[j])+abs {
						t.Errorf("step %d: %s %d,%d is %v, want %v", n, what, i, j, pair.got[i][j], w[j])
					}
				}
			}
		}
	}
}

func TestGoldenSchedule(t *testing.T) {
	var g struct {
		Rate      float64 `json:"base_lr"`
		Warmup    int
		Total     int
		Schedules []struct {
			Schedule string
			LR       [][2]float64
		}
		ByIteration []struct {
			Calls int `json:"calls_per_iteration"`
			LR    [][]float64
		} `json:"cosine_by_iteration"`
	}
	golden.JSON(t, &g, "grpo", "schedule.json")
	base := Schedule{Shape: Cosine, Rate: g.Rate, Warmup: g.Warmup, Total: g.Total}
	named := map[string]func(s *Schedule){
		"constant":                     func(s *Schedule) { s.Shape, s.Warmup = Constant, 0 },
		"linear warm-up then constant": func(s *Schedule) { s.Shape = Constant },
		"cosine":                       func(*Schedule) {},
		"cosine, min_lr_ratio 0.1":     func(s *Schedule) { s.Floor = 0.1 },
		"cosine, no warm-up":           func(s *Schedule) { s.Warmup = 0 },
		"cosine, num_cycles 1":         func(s *Schedule) { s.Cycles = 1 },
		"cosine, init_lr_ratio 0.2":    func(s *Schedule) { s.Init = 0.2 },
	}
	for _, c := range g.Schedules {
		change, ok := named[c.Schedule]
		if !ok {
			t.Errorf("schedule %q is not known here", c.Schedule)
			continue
		}
		s := base
		change(&s)
		for _, p := range c.LR {
			if got := s.At(int(p[0])); math.Abs(got-p[1]) > 1e-12*p[1]+1e-20 {
				t.Errorf("%s, call %v: %v, want %v", c.Schedule, p[0], got, p[1])
			}
		}
	}
	for _, c := range g.ByIteration {
		for _, row := range c.LR {
			for k, want := range row[1:] {
				if got := base.At(int(row[0])*c.Calls + k); math.Abs(got-want) > 1e-12*want+1e-20 {
					t.Errorf("%d calls, iteration %v, call %d: %v, want %v", c.Calls, row[0], k, got, want)
				}
			}
		}
	}
}

func TestAClampedCosineStaysDown(t *testing.T) {
	s := Schedule{Shape: Cosine, Rate: 1, Warmup: 5, Total: 100, Clamp: true}
	if got := s.At(150); got > 1e-12 {
		t.Errorf("rate after the end: %v", got)
	}
	s.Clamp = false
	if got := s.At(195); got < 0.99 {
		t.Errorf("the unclamped schedule should be back at its peak: %v", got)
	}
}
