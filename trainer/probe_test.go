package trainer

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// metricsOf is the last value of each role metric of a run.
func metricsOf(t *testing.T, w *world) map[string]string {
	t.Helper()
	last := map[string]string{}
	for _, r := range w.rows(t) {
		if f := strings.Split(r, "|"); f[0] == "role_steps" {
			last[strings.Trim(f[3], "'")+" "+strings.Trim(f[5], "'")] = f[6]
		}
	}
	return last
}

func TestMetricsDoNotChangeWhatIsTrained(t *testing.T) {
	for _, params := range []string{"full", "lora"} {
		with := newWorld(t, t.TempDir(), smallConfig("params="+params, "rank=4", "alpha=8", "metrics.every=2", "metrics.tasks=4"), nil).play(t)
		without := newWorld(t, t.TempDir(), smallConfig("params="+params, "rank=4", "alpha=8", "metrics.every=0"), nil).play(t)
		if with.weights() != without.weights() {
			t.Errorf("%s: looking at a run changed it", params)
		}
	}
}

func TestEveryWorkflowHasItsMetrics(t *testing.T) {
	common := []string{"actor/ppl_base", "actor/ppl_self", "actor/kl_base", "actor/displacement", "actor/upd_norm",
		"actor/entropy", "actor/chi2_token", "actor/pg_clipfrac", "batch/fractions/effective"}
	for name, want := range map[string][]string{
		"single": {"generator actor/ppl_base"},
		"voting": {"aggregator actor/capture", "aggregator actor/prompt_sensitivity", "aggregator workflow/oracle",
			"aggregator workflow/minus_oracle", "generator workflow/right", "generator actor/amplification", "generator actor/prompt_sensitivity"},
		"evalopt": {"evaluator actor/capture", "generator workflow/recovery", "generator workflow/right"},
		"orch":    {"orchestrator actor/capture", "synthesizer actor/capture", "worker actor/amplification", "synthesizer workflow/oracle"},
	} {
		for _, policy := range []string{"shared", "isolated"} {
			cfg := smallConfig("workflow="+name, "policy="+policy, "iterations=2", "metrics.every=1", "metrics.tasks=8")
			w := newWorld(t, t.TempDir(), cfg, nil).play(t)
			got := metricsOf(t, w)
			want := slices.Clone(want)
			for _, role := range w.t.workflow.Roles() {
				for _, m := range common {
					want = append(want, role+" "+m)
				}
				if policy == "shared" && name != "single" {
					want = append(want, role+" actor/mass_share")
				}
			}
			for _, m := range want {
				if v, ok := got[m]; !ok || v == "NULL" {
					t.Errorf("%s %s: no %s", name, policy, m)
				}
			}
		}
	}
}

// Before any training the policy is the base: no divergence, and the same
// perplexity under both.
func TestTheFirstProbeIsOfTheBase(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig("iterations=1", "lr=0", "metrics.every=1", "metrics.tasks=8"), nil).play(t)
	for name, v := range metricsOf(t, w) {
		if strings.HasSuffix(name, "actor/kl_base") || strings.HasSuffix(name, "actor/displacement") {
			if v != "0.0" {
				t.Errorf("%s is %s", name, v)
			}
		}
	}
}

func TestProductNorm(t *testing.T) {
	a := []float32{1, 2, 3, 4, 5, 6} // [2, 3]
	b := []float32{1, -1, 0, 2}      // [2, 2]
	want := 0.0
	for o := range 2 {
		for i := range 3 {
			v := float64(b[o*2]*a[i] + b[o*2+1]*a[3+i])
			want += v * v
		}
	}
	if got := productNorm2(b, a, 2); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

// BenchmarkProductNorm is the largest pair of an adapter of rank 64 at the 0.6B
// shape: displacement has 196 of that kind.
func BenchmarkProductNorm(b *testing.B) {
	x, y := make([]float32, 3072*64), make([]float32, 1024*64)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	copy(y, x)
	for b.Loop() {
		productNorm2(x, y, 64)
	}
}
