package trainer

import (
	"math"
	"strings"
	"testing"

	"troupe/trainer/rollout"
)

// Each role can have an estimator of its own; what that computes over a batch it
// computes over the role's rows.
func TestEstimatorsByRole(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig("grpo.estimators=aggregator=reinforce++", "grpo.estimators.generator=rloo"), nil)
	defer w.db.Close()
	episodes, err := rollout.Play(t.Context(), w.t.workflow, rollout.Jobs(1, 1, w.t.source.draw(1, 4), 4), w.t.engine, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.t.rows(episodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	others := func(r *row) float64 { // mean reward of the group's other rows
		sum, n := 0.0, 0.0
		for _, o := range rows {
			if o != r && o.group == r.group {
				sum, n = sum+o.reward, n+1
			}
		}
		return sum / n
	}
	var tokens, sum, square float64
	for _, r := range rows {
		switch n := float64(len(r.call.IDs)); r.call.Role.Name {
		case "generator":
			if want := r.reward - others(r); math.Abs(r.advantage-want) > 1e-12 {
				t.Fatalf("advantage %v, leave-one-out gives %v", r.advantage, want)
			}
		case "aggregator":
			tokens, sum, square = tokens+n, sum+n*r.advantage, square+n*r.advantage*r.advantage
		}
	}
	if tokens < 2 || math.Abs(sum/tokens) > 1e-6 || math.Abs(square/(tokens-1)-1) > 1e-6 {
		t.Errorf("%v tokens of aggregators have mean %v, variance %v: they are not whitened by themselves", tokens, sum/tokens, square/(tokens-1))
	}
}

func TestSettingsForOtherRolesAreRefused(t *testing.T) {
	for _, set := range []string{"anchor.evaluator=0.1", "grpo.estimators.worker=rloo"} {
		w := newWorld(t, t.TempDir(), smallConfig(), nil)
		w.db.Close()
		cfg := smallConfig(set)
		cfg.Out = w.cfg.Out
		if _, err := New(cfg, w.t.parts); err == nil || !strings.Contains(err.Error(), "the roles of voting are generator, aggregator") {
			t.Errorf("%s: %v", set, err)
		}
	}
	cfg := smallConfig("grpo.estimators.generator=guess")
	if err := cfg.Validate(); err == nil {
		t.Error("an estimator that is not there was accepted")
	}
}
