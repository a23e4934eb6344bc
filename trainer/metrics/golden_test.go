package metrics

import (
	"math"
	"testing"

	"troupe/internal/golden"
	"troupe/internal/prng"
)

// The golden numbers were made with scipy, statsmodels and verl 0.6.1.

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14+1e-12*math.Abs(b) }

func bools(x []int) []bool {
	out := make([]bool, len(x))
	for i, v := range x {
		out[i] = v == 1
	}
	return out
}

func TestGoldenStatistics(t *testing.T) {
	var g struct {
		McNemar []struct {
			First  int     `json:"only_first_right"`
			Second int     `json:"only_second_right"`
			Exact  float64 `json:"p_exact_two_sided"`
			Mid    float64 `json:"p_mid"`
		}
		Bootstrap []struct {
			First, Second []int
			Differences   []float64
			OnlyFirst     int `json:"only_first_right"`
			OnlySecond    int `json:"only_second_right"`
			Exact         struct {
				Mean      float64   `json:"mean_difference"`
				SE        float64   `json:"bootstrap_se"`
				Quantiles []float64 `json:"quantiles_0.025_0.5_0.975"`
				P         float64   `json:"P_resampled_mean_at_most_0"`
			}
			Band float64 `json:"five_sigma_band_of_P_at_most_0_with_10000_resamples"`
		} `json:"paired_bootstrap"`
		SE []struct {
			Right, N int
			SE       float64 `json:"se_binomial"`
		} `json:"standard_error"`
		Many []struct {
			Samples int   `json:"samples_per_problem"`
			Right   []int `json:"right_per_problem"`
			Pass1   float64
			SE      float64 `json:"se_between_problems"`
		} `json:"pass1_many_samples"`
		PassK []struct {
			N, Right, K int
			P           float64 `json:"pass_at_k_unbiased"`
		} `json:"pass_at_k"`
		Majority []struct {
			Votes []string
			Right []string `json:"right_answers"`
			Score float64  `json:"score_first_seen_wins"`
		}
		Wilson []struct {
			Right, N  int
			Z         float64
			Low, High float64
		}
	}
	golden.JSON(t, &g, "grpo", "stats.json")
	for _, c := range g.McNemar {
		e, m := McNemar(c.First, c.Second)
		if !near(e, c.Exact) || !near(m, c.Mid) {
			t.Errorf("McNemar(%d, %d) = %v, %v, want %v, %v", c.First, c.Second, e, m, c.Exact, c.Mid)
		}
	}
	for n, c := range g.Bootstrap {
		if a, b := Discordant(bools(c.First), bools(c.Second)); a != c.OnlyFirst || b != c.OnlySecond {
			t.Errorf("bootstrap %d: discordant %d, %d", n, a, b)
		}
		// The golden difference is first - second.
		diff := c.Differences
		if diff == nil {
			diff = Differences(bools(c.Second), bools(c.First))
		}
		if c.Band == 0 {
			c.Band = 0.02
		}
		b := PairedBootstrap(diff, 10000, 1)
		if !near(b.Mean, c.Exact.Mean) || math.Abs(b.SE-c.Exact.SE) > 0.05*c.Exact.SE+1e-12 || math.Abs(b.PAtMost0-c.Exact.P) > c.Band+1e-12 {
			t.Errorf("bootstrap %d: %+v, want %+v", n, b, c.Exact)
		}
		step := 1.5 / float64(len(diff))
		if math.Abs(b.Low-c.Exact.Quantiles[0]) > step || math.Abs(b.High-c.Exact.Quantiles[2]) > step {
			t.Errorf("bootstrap %d: quantiles %v, %v, want %v", n, b.Low, b.High, c.Exact.Quantiles)
		}
	}
	for _, c := range g.SE {
		if got := BinomialSE(float64(c.Right)/float64(c.N), c.N); !near(got, c.SE) {
			t.Errorf("SE of %d/%d: %v, want %v", c.Right, c.N, got, c.SE)
		}
	}
	for _, c := range g.Many {
		p := make([]float64, len(c.Right))
		for i, r := range c.Right {
			p[i] = float64(r) / float64(c.Samples)
		}
		if m, se := Mean(p), Std(p)/math.Sqrt(float64(len(p))); !near(m, c.Pass1) || !near(se, c.SE) {
			t.Errorf("many samples: %v ± %v, want %v ± %v", m, se, c.Pass1, c.SE)
		}
	}
	for _, c := range g.PassK {
		if got := PassAtK(c.N, c.Right, c.K); !near(got, c.P) {
			t.Errorf("PassAtK(%d, %d, %d) = %v, want %v", c.N, c.Right, c.K, got, c.P)
		}
	}
	for _, c := range g.Majority {
		got := 0.0
		if v := c.Votes[Majority(c.Votes)]; len(c.Right) > 0 {
			for _, r := range c.Right {
				if v == r {
					got = 1
				}
			}
		}
		if got != c.Score {
			t.Errorf("majority of %q scores %v, want %v", c.Votes, got, c.Score)
		}
	}
	for _, c := range g.Wilson {
		if lo, hi := Wilson(c.Right, c.N, c.Z); !near(lo, c.Low) || !near(hi, c.High) {
			t.Errorf("Wilson(%d, %d) = %v, %v, want %v, %v", c.Right, c.N, lo, hi, c.Low, c.High)
		}
	}
	if len(g.McNemar) == 0 || len(g.Bootstrap) == 0 || len(g.PassK) == 0 || len(g.Wilson) == 0 {
		t.Error("a group of cases is empty")
	}
}

func TestGoldenOffPolicy(t *testing.T) {
	var g struct {
		Inputs map[string]struct {
			New  [][]float64 `json:"log_prob"`
			Old  [][]float64 `json:"rollout_log_prob"`
			Mask [][]int
		}
		Want map[string]map[string]float64 `json:"offpolicy_metrics"`
	}
	golden.JSON(t, &g, "grpo", "rollout_corr.json")
	for name, want := range g.Want {
		in := g.Inputs[name]
		training, rollout := make([][]float64, len(in.New)), make([][]float64, len(in.New))
		for i, m := range in.Mask {
			for k, on := range m {
				if on == 1 {
					training[i] = append(training[i], in.New[i][k])
					rollout[i] = append(rollout[i], in.Old[i][k])
				}
			}
		}
		o := CompareOffPolicy(training, rollout)
		got := map[string]float64{"training_ppl": o.TrainingPPL, "rollout_ppl": o.RolloutPPL, "ppl_ratio": o.PPLRatio, "kl": o.KL,
			"k3_kl": o.K3, "chi2_token": o.Chi2Token, "chi2_seq": o.Chi2Seq, "log_ppl_diff": o.LogPPLDiff}
		for k, v := range got {
			if w, ok := want[k]; !ok || math.Abs(v-w) > 1e-9*math.Abs(w)+1e-12 {
				t.Errorf("%s: %s is %v, want %v", name, k, v, w)
			}
		}
	}
	if len(g.Want) == 0 {
		t.Error("no cases")
	}
}

func TestEqualPoliciesHaveNoDistance(t *testing.T) {
	rows := [][]float64{{-1, -0.3}, {}, {-2}}
	o := CompareOffPolicy(rows, rows)
	if o.KL != 0 || o.K3 != 0 || o.Chi2Token != 0 || o.Chi2Seq != 0 || o.PPLRatio != 1 || o.MaxLogRatio != 0 {
		t.Errorf("%+v", o)
	}
}

func TestGradientParts(t *testing.T) {
	same := [][]float32{{1, 2}, {3}}
	zero := [][]float32{{0, 0}, {0}}
	flip := [][]float32{{-1, -2}, {-3}}
	orth := [][]float32{{2, -1}, {0}}
	part := func(n int) []Part {
		p := make([]Part, n)
		for i := range p {
			p[i] = Part{"generator", i}
		}
		return p
	}
	cases := []struct {
		grads    [][][]float32
		amp, cos float64
	}{
		{[][][]float32{same, same, same}, math.Sqrt(3), 1},
		{[][][]float32{same, orth}, 1, 0},
		{[][][]float32{same, flip}, 0, -1},
		{[][][]float32{zero, zero}, 0, 0},
	}
	for i, c := range cases {
		g := NewGradients(part(len(c.grads)), c.grads)
		if a, k := g.Amplification("generator"), g.SlotCosine("generator"); math.Abs(a-c.amp) > 1e-6 || math.Abs(k-c.cos) > 1e-6 {
			t.Errorf("case %d: amplification %v, cosine %v, want %v, %v", i, a, k, c.amp, c.cos)
		}
	}
	g := NewGradients([]Part{{"generator", 0}, {"aggregator", 0}}, [][][]float32{same, {{0.5, 1}, {1}}})
	roles := []string{"generator", "aggregator"}
	sum := g.MassShare("generator") + g.MassShare("aggregator")
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("mass shares add up to %v", sum)
	}
	if s := g.NormShare("generator", roles) + g.NormShare("aggregator", roles); math.Abs(s-1) > 1e-12 {
		t.Errorf("norm shares add up to %v", s)
	}
}

func TestCorrectedCosineRemovesNoise(t *testing.T) {
	// Slots share one direction; each half adds noise of its own, so the plain
	// cosine is about 1/2 and the corrected one about 1.
	const dim = 4000
	half := func(seed int) [][]float32 {
		rng := prng.Stream(uint64(seed), "noise")
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(math.Sin(float64(i)) + rng.NormFloat64()/math.Sqrt2)
		}
		return [][]float32{v}
	}
	halves := [][2][][]float32{{half(1), half(2)}, {half(3), half(4)}, {half(5), half(6)}}
	cos, ok := CorrectedCosine(halves)
	if !ok || math.Abs(cos-1) > 0.1 {
		t.Errorf("corrected cosine %v, %v", cos, ok)
	}
	if a := AmplificationFromCosine(1, 3); math.Abs(a-math.Sqrt(3)) > 1e-12 {
		t.Errorf("amplification %v", a)
	}
}

// curve makes evaluations with the given numbers of right tasks out of 600.
func curve(right ...int) []Point {
	var out []Point
	for i, n := range right {
		p := Point{Iteration: 10 * i, Right: make([]bool, 600)}
		for k := range n {
			p.Right[k] = true
		}
		out = append(out, p)
	}
	return out
}

func TestCurves(t *testing.T) {
	cases := []struct {
		name            string
		points          []Point
		cliff, terminal bool
		peak            float64
	}{
		{"rising", curve(100, 200, 300, 400, 400, 410), false, false, 410. / 600},
		{"one lucky evaluation is no peak", curve(300, 300, 400, 300, 300, 300), false, false, 0.5},
		{"falls at the end", curve(300, 400, 420, 430, 430, 430, 430, 430, 300, 200, 100), true, true, 430. / 600},
		{"falls in the middle", curve(300, 430, 430, 430, 100, 100, 100, 100, 100, 100, 100), true, false, 430. / 600},
		{"one point", curve(300), false, false, 0.5},
	}
	for _, c := range cases {
		got := Summarize(c.points)
		if got.Cliff != c.cliff || got.Terminal != c.terminal || math.Abs(got.Peak-c.peak) > 1e-9 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestAlarmFiresOnAJumpAndNotOnNoise(t *testing.T) {
	a := NewAlarm(true)
	for i := range 50 {
		if fired, z := a.Observe(1 + 0.1*math.Sin(float64(i*i))); fired {
			t.Fatalf("fired on noise at %d, z %v", i, z)
		}
	}
	if fired, z := a.Observe(2); !fired {
		t.Errorf("did not fire on a jump: z %v", z)
	}
	if fired, _ := a.Observe(math.NaN()); !fired {
		t.Error("did not fire on NaN")
	}
	down := NewAlarm(false)
	for range 10 {
		down.Observe(1)
	}
	if fired, _ := down.Observe(0.5); !fired {
		t.Error("did not fire on a fall")
	}
}

// Two runs that never differ are no evidence of a difference.
func TestBootstrapOfNoDifference(t *testing.T) {
	if p := PairedBootstrap(make([]float64, 30), 1000, 1).P(1000); p < 0.999 {
		t.Errorf("no difference has p %v", p)
	}
	up := PairedBootstrap([]float64{.25, .5, .25, 0, .5, .25, .75, .25, .5, .25}, 1000, 1)
	if p := up.P(1000); p != 0.002 {
		t.Errorf("a difference in nearly all has p %v", p)
	}
}
