package grpo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The golden numbers come from verl 0.6.1 and TRL 1.16.0. TROUPE_GOLDEN names
// another directory with the same layout.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	dir := os.Getenv("TROUPE_GOLDEN")
	if dir == "" {
		dir = "testdata"
	}
	b, err := os.ReadFile(filepath.Join(dir, "grpo", name))
	if errors.Is(err, fs.ErrNotExist) && dir != "testdata" {
		t.Skipf("no golden file grpo/%s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

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
	golden(t, "advantages.json", &g)
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
	golden(t, "advantages.json", &g)
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

type lossInput struct {
	Old  [][]num `json:"old_log_prob"`
	New  [][]num `json:"log_prob"`
	Adv  [][]num `json:"advantages"`
	Mask [][]int
}

func (in lossInput) rows() (rows []Row, lengths []int) {
	for i := range in.New {
		r := Row{LogProb: floats(in.New[i]), Old: floats(in.Old[i]), TokenAdvantage: floats(in.Adv[i]), Mask: make([]bool, len(in.Mask[i]))}
		for t, m := range in.Mask[i] {
			r.Mask[t] = m == 1
		}
		rows = append(rows, r)
		lengths = append(lengths, r.Len())
	}
	return rows, lengths
}

type lossCase struct {
	Input, Oracle, Loss, Agg string
	IS                       [][]num `json:"rollout_is_weights"`
	Params                   struct {
		Low      float64 `json:"clip_low"`
		High     float64 `json:"clip_high"`
		C        float64 `json:"c"`
		EpsHigh  float64 `json:"eps_high"`
		EpsLow   float64 `json:"eps_low"`
		Delta    float64 `json:"delta"`
		NumItems int     `json:"num_items"`
		Longest  int     `json:"max_completion_length"`
		Level    string  `json:"level"`
	}
	Out struct {
		Loss        num
		ClipFrac    *num `json:"pg_clipfrac"`
		ClipFracLow *num `json:"pg_clipfrac_lower"`
		KL          *num `json:"ppo_kl"`
		Grad        [][]num
	}
}

// settings translates a case into ours; ok is false for losses that are not on
// our menu.
func (c lossCase) settings(width int) (l Loss, w WeightOptions, ok bool) {
	p := c.Params
	if c.Oracle == "verl" {
		w.Aggregation = Aggregation(c.Agg)
		l = Loss{ClipLow: p.Low, ClipHigh: p.High, DualClip: p.C, Clamp: 20}
		switch c.Loss {
		case "vanilla":
			l.Kind = PPO
		case "gspo":
			l.Kind = GSPO
		case "gpg":
			l.Kind = REINFORCE
		default:
			return l, w, false
		}
		if c.Agg == "seq-mean-token-sum-norm" {
			return l, w, false // divides by the padded width: an artefact of padding, which we do not have
		}
		return l, w, true
	}
	if p.Level != "" {
		return l, w, false
	}
	l = Loss{Kind: PPO, ClipLow: p.EpsLow, ClipHigh: p.EpsHigh, DualClip: p.Delta}
	switch c.Loss {
	case "grpo":
		w = WeightOptions{Aggregation: SeqMeanTokenMean, CountEmpty: true}
	case "bnpo", "dapo":
		w = WeightOptions{Aggregation: TokenMean}
	case "dr_grpo":
		w = WeightOptions{Aggregation: DrGRPO, Longest: p.Longest}
	case "cispo":
		l = Loss{Kind: CISPO, Cap: p.EpsHigh}
		w = WeightOptions{Aggregation: TokenMean}
	default:
		return l, w, false
	}
	return l, w, true
}

func TestGoldenLosses(t *testing.T) {
	var g struct {
		Inputs map[string]lossInput
		Cases  []lossCase
	}
	golden(t, "losses.json", &g)
	checked := map[string]int{}
	for n, c := range g.Cases {
		in := g.Inputs[c.Input]
		rows, lengths := in.rows()
		loss, wopt, ok := c.settings(len(in.Mask[0]))
		if !ok {
			continue
		}
		w, err := TokenWeights(lengths, wopt)
		if err != nil {
			t.Fatal(err)
		}
		if c.Params.NumItems > 0 { // TRL's denominator: tokens of the whole optimizer step
			for i := range w {
				w[i] = 1 / float64(c.Params.NumItems)
			}
		}
		var s Stats
		for i, r := range rows {
			grad := make([]float64, len(r.LogProb))
			if c.IS != nil {
				r.ISWeight = floats(c.IS[i])
			}
			s.Add(loss.Row(r, w[i], grad))
			for k, want := range c.Out.Grad[i] {
				if !close64(grad[k], float64(want), 1e-10, 1e-12) {
					t.Errorf("case %d (%s %s on %s), gradient %d,%d: %v, want %v", n, c.Oracle, c.Loss, c.Input, i, k, grad[k], want)
				}
			}
		}
		check := func(what string, got float64, want *num) {
			if want != nil && !close64(got, float64(*want), 1e-10, 1e-12) {
				t.Errorf("case %d (%s %s %s on %s): %s %v, want %v", n, c.Oracle, c.Loss, c.Agg, c.Input, what, got, *want)
			}
		}
		check("loss", s.Loss, &c.Out.Loss)
		check("clip fraction", s.ClipFrac(), c.Out.ClipFrac)
		check("lower clip fraction", s.ClipFracLower(), c.Out.ClipFracLow)
		check("kl", s.PPOKL(), c.Out.KL)
		checked[c.Oracle+" "+c.Loss]++
	}
	for _, want := range []string{"verl vanilla", "verl gspo", "verl gpg", "trl grpo", "trl dapo", "trl dr_grpo", "trl cispo"} {
		if checked[want] == 0 {
			t.Errorf("no case of %s was checked", want)
		}
	}
	t.Logf("checked %v", checked)
}

func TestGoldenMicrobatch(t *testing.T) {
	var g struct {
		Weights []struct {
			Rows     int
			Size     int  `json:"mini_batch_rows"`
			Steps    int  `json:"optimizer_steps"`
			OnPolicy bool `json:"on_policy"`
			Mini     []struct {
				Rows   int
				Weight float64 `json:"weight_of_every_row"`
			} `json:"mini_batches"`
		} `json:"row_weights_512"`
		Order struct {
			Cases []struct {
				Parallel int   `json:"data_parallel"`
				Lengths  []int `json:"sequence_lengths"`
				Order    json.RawMessage
			}
		} `json:"length_balanced_order"`
	}
	golden(t, "microbatch.json", &g)
	for _, c := range g.Weights {
		mini := MiniBatches(c.Rows, c.Size)
		if len(mini) != c.Steps || (len(mini) == 1) != c.OnPolicy {
			t.Errorf("%d rows: %d steps, want %d", c.Rows, len(mini), c.Steps)
			continue
		}
		for k, m := range c.Mini {
			lengths := make([]int, mini[k].To-mini[k].From)
			for i := range lengths {
				lengths[i] = 1 + i%7
			}
			w, err := TokenWeights(lengths, WeightOptions{Aggregation: SeqMeanTokenMean, Rows: c.Size})
			if err != nil || len(w) != m.Rows {
				t.Fatalf("%d rows, step %d: %d weights, %v", c.Rows, k, len(w), err)
			}
			for i := range w {
				if got := w[i] * float64(lengths[i]); !close64(got, m.Weight, 1e-12, 0) {
					t.Fatalf("%d rows, step %d, row %d weighs %v, want %v", c.Rows, k, i, got, m.Weight)
				}
			}
		}
	}
	checked := 0
	for _, c := range g.Order.Cases {
		var want []int
		if c.Parallel != 1 || json.Unmarshal(c.Order, &want) != nil {
			continue
		}
		got := LengthBalanced(c.Lengths)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("lengths %v: order %v, want %v", c.Lengths, got, want)
				break
			}
		}
		checked++
	}
	if checked == 0 {
		t.Error("no length-balanced order was checked")
	}
}

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
	golden(t, "kl.json", &g)
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
	golden(t, "kl.json", &g)
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
	golden(t, "overlong.json", &g)
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
