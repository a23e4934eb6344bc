package grpo

import (
	"encoding/json"
	"testing"

	"troupe/internal/golden"
)

func TestGoldenKL(t *testing.T) {
	var g struct {
		Pairs      [][2]float64 `json:"pairs_logprob_ref"`
		Estimators map[string]struct{ Value, Grad []float64 }
		I1         struct {
			Clip  [2]float64
			C     float64
			Roles []struct {
				Role string
				Beta float64
				lossInput
				Ref [][]num `json:"ref_log_prob"`
				Row []num   `json:"row_advantage"`
				Out struct {
					PG   num `json:"pg_loss"`
					KL   num `json:"kl_loss"`
					Loss num
					Grad [][]num
				}
			}
		} `json:"I1_per_role_kl_anchor"`
	}
	golden.JSON(t, &g, "grpo", "kl.json")
	for i, p := range g.Pairs {
		v, s := K3(p[0], p[1])
		if w := g.Estimators["k3"]; !close64(v, w.Value[i], 1e-10, 1e-12) || !close64(s, w.Grad[i], 1e-10, 1e-12) {
			t.Errorf("K3(%v, %v) = %v, %v, want %v, %v", p[0], p[1], v, s, w.Value[i], w.Grad[i])
		}
	}
	for _, r := range g.I1.Roles {
		r.Adv = make([][]num, len(r.New))
		for i := range r.Adv {
			for range r.New[i] {
				r.Adv[i] = append(r.Adv[i], r.Row[i])
			}
		}
		rows, lengths := r.rows()
		w, _ := TokenWeights(lengths, WeightOptions{Aggregation: SeqMeanTokenMean})
		loss := Loss{Kind: PPO, ClipLow: g.I1.Clip[0], ClipHigh: g.I1.Clip[1], DualClip: g.I1.C, Clamp: 20}
		pg, kl := 0.0, 0.0
		for i, row := range rows {
			grad := make([]float64, len(row.LogProb))
			pg += loss.Row(row, w[i], grad).Loss
			kl += Anchor(row, floats(r.Ref[i]), r.Beta, w[i], grad)
			for k, want := range r.Out.Grad[i] {
				if !close64(grad[k], float64(want), 1e-10, 1e-12) {
					t.Errorf("%s, gradient %d,%d: %v, want %v", r.Role, i, k, grad[k], want)
				}
			}
		}
		if !close64(pg, float64(r.Out.PG), 1e-10, 1e-12) || !close64(kl, float64(r.Out.KL), 1e-10, 1e-12) ||
			!close64(pg+r.Beta*kl, float64(r.Out.Loss), 1e-10, 1e-12) {
			t.Errorf("%s: pg %v, kl %v; want %v, %v", r.Role, pg, kl, r.Out.PG, r.Out.KL)
		}
	}
}

// tensors is the gradient of the coherence cases: a matrix and a vector.
func tensors(t *testing.T, raw json.RawMessage) [][]float64 {
	t.Helper()
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for _, p := range parts {
		var flat []float64
		var rows [][]float64
		if json.Unmarshal(p, &flat) != nil {
			if err := json.Unmarshal(p, &rows); err != nil {
				t.Fatal(err)
			}
			flat = nil
			for _, r := range rows {
				flat = append(flat, r...)
			}
		}
		out = append(out, flat)
	}
	return out
}

func TestGoldenCoherence(t *testing.T) {
	var g struct {
		I6 struct {
			Runs []struct {
				Lambda float64
				Window float64
				Steps  []struct {
					Role      string
					Grad      json.RawMessage
					Cos       float64         `json:"coherence_cos"`
					Scale     float64         `json:"coherence_scale"`
					EMANorm   float64         `json:"coherence_ema_norm"`
					GradAfter json.RawMessage `json:"grad_after"`
					EMAAfter  json.RawMessage `json:"ema_after"`
				}
			}
		} `json:"I6_coherence"`
	}
	golden.JSON(t, &g, "grpo", "kl.json")
	if len(g.I6.Runs) == 0 {
		t.Fatal("no runs")
	}
	for _, run := range g.I6.Runs {
		state := map[string]*Coherence[float64]{}
		for n, s := range run.Steps {
			c := state[s.Role]
			if c == nil {
				c = &Coherence[float64]{Lambda: run.Lambda, Window: run.Window}
				state[s.Role] = c
			}
			grad := tensors(t, s.Grad)
			got := c.Apply(grad)
			if run.Lambda == 0 {
				continue
			}
			if !close64(got.Cos, s.Cos, 1e-10, 1e-12) || !close64(got.Scale, s.Scale, 1e-10, 1e-12) || !close64(got.EMANorm, s.EMANorm, 1e-10, 1e-12) {
				t.Errorf("λ %v, step %d: %+v, want cos %v scale %v norm %v", run.Lambda, n, got, s.Cos, s.Scale, s.EMANorm)
			}
			for what, pair := range map[string][2][][]float64{"gradient": {grad, tensors(t, s.GradAfter)}, "average": {c.EMA, tensors(t, s.EMAAfter)}} {
				for i := range pair[1] {
					for j, w := range pair[1][i] {
						if !close64(pair[0][i][j], w, 1e-10, 1e-12) {
							t.Errorf("λ %v, step %d: %s %d,%d is %v, want %v", run.Lambda, n, what, i, j, pair[0][i][j], w)
						}
					}
				}
			}
		}
	}
}

func TestGoldenOverlong(t *testing.T) {
	var g struct {
		Soft []struct {
			MaxLen  int `json:"max_len"`
			Buffer  int
			Factor  float64 `json:"penalty_factor"`
			Lengths []int
			Penalty []float64
		} `json:"soft_punishment"`
		Groups []struct {
			Group  string
			Metric []float64
			Keep   bool `json:"kept_if_exact"`
		} `json:"dynamic_sampling_groups"`
		Flow []struct {
			Target  int   `json:"target_groups"`
			Kept    []int `json:"kept_per_generation"`
			Max     int   `json:"max_generations"`
			Trained *int  `json:"trained_groups"`
		} `json:"dynamic_sampling_flow"`
		Truncation struct {
			MaxLen int `json:"max_len"`
			Rows   []struct {
				Length int
				Ended  bool `json:"ends_with_eos"`
				Full   bool `json:"full_width_rule"`
				NoEOS  bool `json:"no_eos_rule"`
			}
		}
	}
	golden.JSON(t, &g, "grpo", "overlong.json")
	for _, c := range g.Soft {
		for i, n := range c.Lengths {
			if got := SoftPunishment(n, c.MaxLen, c.Buffer, c.Factor); !close64(got, c.Penalty[i], 1e-12, 1e-15) {
				t.Errorf("penalty of %d tokens: %v, want %v", n, got, c.Penalty[i])
			}
		}
	}
	for _, c := range g.Groups {
		if got := Teaches(c.Metric); got != c.Keep {
			t.Errorf("group %q kept: %v", c.Group, got)
		}
	}
	for n, c := range g.Flow {
		d := DynamicSampling{Target: c.Target, MaxGenerations: c.Max}
		total, done := 0, false
		var err error
		for _, k := range c.Kept {
			var use int
			use, done, err = d.Add(k)
			total += use
		}
		if c.Trained == nil {
			if err == nil {
				t.Errorf("flow %d: no error", n)
			}
		} else if !done || total != *c.Trained {
			t.Errorf("flow %d: trained %d (done %v), want %d", n, total, done, *c.Trained)
		}
	}
	for _, r := range g.Truncation.Rows {
		full, _ := OverlongFull.Truncated(r.Length, g.Truncation.MaxLen, r.Ended)
		drop, _ := OverlongDrop.Truncated(r.Length, g.Truncation.MaxLen, r.Ended)
		if full != r.Full || drop != r.NoEOS {
			t.Errorf("row of %d tokens, ended %v: full %v, drop %v", r.Length, r.Ended, full, drop)
		}
	}
}
