package trainer

import (
	"fmt"
	"math"
	"slices"

	"troupe/model"
	"troupe/trainer/grpo"
	"troupe/trainer/metrics"
	"troupe/trainer/optim"
	"troupe/trainer/policy"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Nothing that is not finite is trained on or saved. A sample, reward, loss or
// gradient that is not is left out, and named in an event with the place where
// it was found; parameters or moments that are not end the run before anything
// of the iteration is saved.

// finding is something that was not finite.
type finding struct {
	role string
	what string
}

// found notes what was not finite, for the iteration's events.
func (t *Trainer) found(role, format string, args ...any) {
	t.findings = append(t.findings, finding{role, fmt.Sprintf(format, args...)})
}

// inject lets a test spoil values at a named place.
func (t *Trainer) inject(site string, values ...[]float32) {
	if t.parts.Inject != nil {
		t.parts.Inject(site, values)
	}
}

func (t *Trainer) injectCall(site string, c *workflow.Call, values ...[]float32) {
	if t.parts.Inject != nil {
		t.parts.Inject(fmt.Sprintf("%s/%s%d", site, c.Role.Name, c.Role.Slot), values)
	}
}

// sound turns verdicts with rewards that are no numbers into infrastructure
// failures, which are never rewards.
func (t *Trainer) sound(episodes []workflow.Episode) {
	for i := range episodes {
		v := &episodes[i].Verdict
		if v.Rewarded() && !optim.Finite(v.Reward) {
			t.found("", "reward of task %s, rollout %d", episodes[i].Task, episodes[i].Rollout)
			*v = verdict.Verdict{Code: verdict.IE, Reason: "the reward is not finite"}
		}
		for j := range episodes[i].Calls {
			c := &episodes[i].Calls[j]
			t.injectCall("sample", c, c.LogProbs)
		}
	}
}

// soundSample reports whether a call's log-probabilities are finite.
func (t *Trainer) soundSample(ep *workflow.Episode, c *workflow.Call) bool {
	if finite32(c.LogProbs) {
		return true
	}
	t.found(c.Role.Name, "log-probability of a sample of task %s, rollout %d", ep.Task, ep.Rollout)
	return false
}

// soundLoss names the first thing that is not finite in a step's loss and
// gradients, "" if all are.
func soundLoss(stats grpo.Stats, ps []metrics.Part, grads []*model.Grads, norm float64) (role, what string) {
	for i, g := range grads {
		if !optim.Finite(norm) && !optim.Finite(g.Norm()) {
			return ps[i].Role, fmt.Sprintf("gradient of %s %d", ps[i].Role, ps[i].Slot)
		}
	}
	for _, x := range []struct {
		what  string
		value float64
	}{{"loss", stats.Loss}, {"divergence", stats.KL}, {"ratio", stats.MaxLogRatio}, {"squared ratio", stats.Chi2}, {"gradient", norm}} {
		if !optim.Finite(x.value) {
			return "", x.what
		}
	}
	return "", ""
}

// soundSet names a part of a set's state that is not finite, "" if all are.
func soundSet(s *policy.Set) string {
	for _, x := range []struct {
		what   string
		values [][]float32
	}{{"parameters", s.Values()}, {"first moments", s.Opt.M}, {"second moments", s.Opt.V}, {"gradient average", s.Damping.EMA}} {
		if slices.ContainsFunc(x.values, func(v []float32) bool { return !finite32(v) }) {
			return x.what
		}
	}
	return ""
}

// finite32 looks at the exponents: all ones is infinite or no number.
func finite32(x []float32) bool {
	const exponent = 0x7f800000
	for _, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return false
		}
	}
	return true
}
