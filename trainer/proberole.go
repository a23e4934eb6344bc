package trainer

import (
	"context"
	"math"

	"troupe/data/store"
	"troupe/model"
	"troupe/trainer/metrics"
	"troupe/trainer/workflow"
)

// probeRole measures what a role's answers look like to the base policy and to
// the role's own policy under the prompts of other roles.
func (t *Trainer) probeRole(ctx context.Context, log *record, role string, calls []*workflow.Call) error {
	if len(calls) == 0 {
		return nil
	}
	put := func(metric string, value float64) { log.role(role, store.AllSlots, metric, value) }
	proxies, err := t.proxies(role, calls)
	if err != nil {
		return err
	}
	own := make([]model.Sequence, len(calls))
	for i, c := range calls {
		own[i] = model.Sequence{Prompt: c.PromptIDs, Action: c.IDs}
	}
	base, err := t.underBase(ctx, own)
	if err != nil {
		return err
	}
	var ppl float64
	for i, c := range calls {
		ppl += math.Exp(-base[i] / float64(len(c.IDs)))
	}
	put("actor/ppl_base", ppl/float64(len(calls)))
	if err := t.probeKL(ctx, calls, put); err != nil {
		return err
	}
	if err := t.probeCapture(ctx, role, calls, base, proxies, put); err != nil {
		return err
	}
	return t.probeSensitivity(ctx, calls, proxies, put)
}

// proxies puts each answer after the prompts of the other roles, where those
// have prompts of ours and the sequence fits the model.
func (t *Trainer) proxies(role string, calls []*workflow.Call) ([]proxy, error) {
	prompts := t.prompts()
	var out []proxy
	for _, other := range t.workflow.Roles() {
		if other == role {
			continue
		}
		for i, c := range calls {
			chat := c.Instead(prompts, t.kind, other)
			if chat == nil {
				continue
			}
			ids, err := t.engine.encode(chat)
			if err != nil {
				return nil, err
			}
			if n := len(ids) + len(c.IDs); len(ids) > 0 && n <= t.parts.Base.Config.MaxPositions {
				out = append(out, proxy{i, other, model.Sequence{Prompt: ids, Action: c.IDs}})
			}
		}
	}
	return out, nil
}

// underBase is the log-probability of each sequence's action under the policy
// before any training, at the training temperature.
func (t *Trainer) underBase(ctx context.Context, seqs []model.Sequence) ([]float64, error) {
	scored, err := t.parts.Base.Score(ctx, seqs, float32(t.cfg.Temperature))
	if err != nil {
		return nil, err
	}
	return sums(scored), nil
}

func sums(scored []model.Scored) []float64 {
	out := make([]float64, len(scored))
	for i, s := range scored {
		for _, l := range s.LogProbs {
			out[i] += float64(l)
		}
	}
	return out
}

// probeKL notes the exact divergence from the base, as a mean over tokens.
func (t *Trainer) probeKL(ctx context.Context, calls []*workflow.Call, put func(string, float64)) error {
	var all []float64
	for _, name := range t.setNames {
		set := t.sets[name]
		var seqs []model.Sequence
		for _, c := range calls {
			if t.route.Set(c.Role.Name, c.Role.Slot) == name {
				seqs = append(seqs, model.Sequence{Prompt: c.PromptIDs, Action: c.IDs, Adapter: set.Adapter})
			}
		}
		if len(seqs) == 0 {
			continue
		}
		kl, err := set.Model.Divergence(ctx, t.parts.Base, seqs, float32(t.cfg.Temperature))
		if err != nil {
			return err
		}
		for _, tokens := range kl {
			all = append(all, tokens...)
		}
	}
	put("actor/kl_base", metrics.Mean(all))
	return nil
}

// probeCapture notes how much more a role's answers read, to the base, like
// those of the role that solves than like its own, in nats a token.
func (t *Trainer) probeCapture(ctx context.Context, role string, calls []*workflow.Call, base []float64, proxies []proxy, put func(string, float64)) error {
	if workflow.Solves(role) {
		return nil
	}
	var seqs []model.Sequence
	var of []int
	for _, p := range proxies {
		if workflow.Solves(p.role) {
			seqs, of = append(seqs, p.seq), append(of, p.call)
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	other, err := t.underBase(ctx, seqs)
	if err != nil {
		return err
	}
	score := 0.0
	for k, i := range of {
		score += (other[k] - base[i]) / float64(len(calls[i].IDs))
	}
	put("actor/capture", score/float64(len(of)))
	return nil
}

// probeSensitivity notes how much a role's policy minds whose prompt it is
// given, in nats a token: 0 means that it ignores it.
func (t *Trainer) probeSensitivity(ctx context.Context, calls []*workflow.Call, proxies []proxy, put func(string, float64)) error {
	likelihoods := make([][]float64, len(calls)) // of each call under every prompt, its own first
	for i, c := range calls {
		l := 0.0
		for _, v := range c.LogProbs {
			l += float64(v)
		}
		likelihoods[i] = []float64{l}
	}
	for _, name := range t.setNames {
		set := t.sets[name]
		var seqs []model.Sequence
		var of []int
		for _, p := range proxies {
			if c := calls[p.call]; t.route.Set(c.Role.Name, c.Role.Slot) == name {
				p.seq.Adapter = set.Adapter
				seqs, of = append(seqs, p.seq), append(of, p.call)
			}
		}
		if len(seqs) == 0 {
			continue
		}
		scored, err := set.Model.Score(ctx, seqs, float32(t.cfg.Temperature))
		if err != nil {
			return err
		}
		for k, l := range sums(scored) {
			likelihoods[of[k]] = append(likelihoods[of[k]], l)
		}
	}
	var minds []float64
	for i, ls := range likelihoods {
		if len(ls) > 1 {
			minds = append(minds, metrics.Sensitivity(ls)/float64(len(calls[i].IDs)))
		}
	}
	if len(minds) > 0 {
		put("actor/prompt_sensitivity", metrics.Mean(minds))
	}
	return nil
}
