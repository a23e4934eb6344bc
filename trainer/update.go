package trainer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"troupe/model"
	"troupe/trainer/grpo"
	"troupe/trainer/metrics"
	"troupe/trainer/optim"
	"troupe/trainer/policy"
)

// updated is what an iteration's update of one set did, for the log.
type updated struct {
	set       string
	iteration int
	roles     []string
	lr        float64
	loss      float64
	gradNorm  float64 // before clipping, mean over steps
	stepNorm  float64 // length of the way the parameters went
	steps     int
	skipped   int
	rows      int
	taught    int // rows with an advantage other than 0
	stats     grpo.Stats
	gradients *metrics.Gradients // of the first step
	apart     [][][]float32      // the parts themselves, where other sets have parts of the same role
	coherence grpo.CoherenceStep
	corrected map[string]corrected // by role, of the first step, where it was measured
}

// update trains every set whose turn it is on its rows.
func (t *Trainer) update(ctx context.Context, iteration int, rows []*row) ([]updated, error) {
	var done []updated
	for _, name := range t.setNames {
		set := t.sets[name]
		if set.Frozen || !policy.Turn(name, t.trained, iteration, t.cfg.Alternate) {
			continue
		}
		var own []*row
		for _, r := range rows {
			if r.set == name && r.kept {
				own = append(own, r)
			}
		}
		if len(own) == 0 {
			continue
		}
		u, err := t.updateSet(ctx, set, iteration, own)
		if err != nil {
			return nil, fmt.Errorf("update %s: %w", name, err)
		}
		done = append(done, u)
		set.Calls++
		t.calls++
	}
	return done, nil
}

// rate is the learning rate of a set's update: by iteration, or by how many
// updates of any set there were.
func (t *Trainer) rate(iteration int) float64 {
	k := iteration - 1
	if t.cfg.LRStep == "call" {
		k = t.calls
	}
	return t.cfg.schedule().At(k)
}

// updateSet goes over a set's rows in mini-batches, once an epoch.
func (t *Trainer) updateSet(ctx context.Context, set *policy.Set, iteration int, rows []*row) (updated, error) {
	u := updated{set: set.Name, iteration: iteration, lr: t.rate(iteration), rows: len(rows)}
	for _, r := range rows {
		if r.advantage != 0 {
			u.taught++
		}
		if !slices.Contains(u.roles, r.call.Role.Name) {
			u.roles = append(u.roles, r.call.Role.Name)
		}
	}
	before := clone(set.Values())
	for epoch := range t.cfg.Epochs {
		ordered := t.lineUp(rows, set.Name, iteration, epoch)
		for _, mb := range grpo.MiniBatches(len(ordered), t.cfg.MiniBatch) {
			if err := t.step(ctx, set, ordered[mb.From:mb.To], &u); err != nil {
				return u, err
			}
		}
	}
	if n := u.steps + u.skipped; n > 0 {
		u.gradNorm /= float64(n)
		u.loss /= float64(n)
	}
	u.stepNorm = distanceBetween(before, set.Values())
	return u, nil
}

// step is one optimizer step on a mini-batch: gradients part by part, their
// sum damped and clipped, AdamW. A loss or gradient that is not finite changes
// nothing.
func (t *Trainer) step(ctx context.Context, set *policy.Set, rows []*row, u *updated) error {
	weights, err := t.weights(rows)
	if err != nil {
		return err
	}
	stats, ps, grads, err := t.gradients(ctx, set, rows, weights)
	if err != nil {
		return err
	}
	total := model.NewGrads(set.Params())
	tensors := make([][][]float32, len(grads))
	for i, g := range grads {
		t.inject(fmt.Sprintf("gradient/%s%d", ps[i].Role, ps[i].Slot), g.Tensors()...)
		g.AddTo(total)
		tensors[i] = g.Tensors()
	}
	t.inject("gradient/"+set.Name, total.Tensors()...)
	norm := total.Norm()
	if role, what := soundLoss(stats, ps, grads, norm); what != "" {
		u.skipped++
		t.found(role, "%s in the update of %s", what, set.Name)
		return nil
	}
	if u.gradients == nil {
		if err := t.measure(ctx, set, u, rows, weights, ps, tensors); err != nil {
			return err
		}
	}
	if t.cfg.CoherenceLambda > 0 {
		t.inject("average/"+set.Name, set.Damping.EMA...)
		set.Damping.Lambda, set.Damping.Window = t.cfg.CoherenceLambda, t.cfg.CoherenceWindow
		u.coherence = set.Damping.Apply(total.Tensors())
		norm = total.Norm()
	}
	optim.Clip(total.Tensors(), norm, t.cfg.Clip)
	t.inject("first moments/"+set.Name, set.Opt.M...)
	t.inject("second moments/"+set.Name, set.Opt.V...)
	t.cfg.adam().Apply(set.Values(), total.Tensors(), set.Opt, u.lr)
	t.inject("parameters/"+set.Name, set.Values()...)
	if what := soundSet(set); what != "" {
		t.found("", "%s of %s", what, set.Name)
		return fmt.Errorf("%w: %s", ErrNonFinite, what)
	}
	set.Refresh()
	u.steps++
	u.gradNorm += norm
	u.loss += stats.Loss
	u.stats.Add(stats)
	return nil
}

// measure looks at the gradients of an update's first step, part by part.
func (t *Trainer) measure(ctx context.Context, set *policy.Set, u *updated, rows []*row, weights []float64, ps []metrics.Part, tensors [][][]float32) (err error) {
	start := time.Now()
	u.gradients = metrics.NewGradients(ps, tensors)
	if t.apart(set, ps) {
		u.apart = tensors
	}
	t.measuring += time.Since(start)
	if !t.halvesDue(u.iteration) {
		return nil
	}
	start = time.Now()
	u.corrected, err = t.halves(ctx, set, rows, weights, ps, tensors)
	t.halving += time.Since(start)
	return err
}

// weights are the weights of the rows' tokens in a mini-batch's loss.
func (t *Trainer) weights(rows []*row) ([]float64, error) {
	lengths := make([]int, len(rows))
	for i, r := range rows {
		lengths[i] = len(r.call.IDs)
	}
	opt := grpo.WeightOptions{Aggregation: grpo.Aggregation(t.cfg.Aggregation), Longest: t.longest()}
	if t.cfg.MiniBatchPartial == "downweight" {
		opt.Rows = t.cfg.MiniBatch
	}
	return grpo.TokenWeights(lengths, opt)
}

// longest is the most tokens that a reply of any role may have: the same
// constant for every mini-batch, whichever roles have rows in it.
func (t *Trainer) longest() int {
	n := 0
	for _, role := range t.workflow.Roles() {
		if own := t.cfg.RoleTokens[role]; own > 0 {
			n = max(n, own)
		} else {
			n = max(n, t.cfg.MaxTokens)
		}
	}
	return n
}

// gradients takes the gradient of a mini-batch apart by role and slot, in one
// pass over all rows. Rows without advantage only stand in the denominators;
// where nothing else acts on them they are not computed.
func (t *Trainer) gradients(ctx context.Context, set *policy.Set, rows []*row, weights []float64) (grpo.Stats, []metrics.Part, []*model.Grads, error) {
	var names []metrics.Part
	var grads []*model.Grads
	var seqs []model.Sequence
	var of []int
	for _, p := range t.divide(rows) {
		g := model.NewGrads(set.Params())
		names, grads = append(names, metrics.Part{Role: p.role, Slot: p.slot}), append(grads, g)
		for _, i := range p.rows {
			if r := rows[i]; r.advantage != 0 || t.cfg.Anchor[p.role] != 0 || t.cfg.Entropy != 0 {
				seqs = append(seqs, model.Sequence{Prompt: r.call.PromptIDs, Action: r.call.IDs, Adapter: set.Adapter, Grads: g})
				of = append(of, i)
			}
		}
	}
	if len(seqs) == 0 {
		return grpo.Stats{}, names, grads, nil
	}
	reference, err := t.reference(ctx, seqs)
	if err != nil {
		return grpo.Stats{}, nil, nil, err
	}
	each := make([]grpo.Stats, len(seqs))
	_, err = set.Model.Backward(ctx, seqs, float32(t.cfg.Temperature), func(k int, logp, entropy []float32) (d, dEntropy []float32) {
		var ref []float32
		if reference != nil {
			ref = reference[k].LogProbs
		}
		each[k], d, dEntropy = t.rowLoss(rows[of[k]], weights[of[k]], logp, entropy, ref)
		return d, dEntropy
	}, nil)
	if err != nil {
		return grpo.Stats{}, nil, nil, err
	}
	var sum grpo.Stats
	for _, s := range each {
		sum.Add(s)
	}
	return sum, names, grads, nil
}

// rowLoss is the loss of one row and its derivatives: the policy loss, the
// role's anchor to the base where it has one, and the entropy bonus.
func (t *Trainer) rowLoss(r *row, weight float64, logp, entropy, ref []float32) (grpo.Stats, []float32, []float32) {
	t.injectCall("log-probability", r.call, logp)
	t.injectCall("reference", r.call, ref)
	gr := grpo.Row{LogProb: wide(logp), Old: wide(r.call.LogProbs), Advantage: r.advantage}
	d := make([]float64, len(logp))
	stats := t.cfg.loss().Row(gr, weight, d)
	if beta := t.cfg.Anchor[r.call.Role.Name]; beta != 0 && ref != nil {
		if stats.Loss += beta * grpo.Anchor(gr, wide(ref), beta, weight, d); !finite32(ref) {
			stats.Loss = math.NaN() // the clamps would hide it
		}
	}
	slopes := narrow(d)
	t.injectCall("slope", r.call, slopes)
	if t.cfg.Entropy == 0 {
		return stats, slopes, nil
	}
	t.injectCall("entropy", r.call, entropy)
	dEntropy := make([]float32, len(entropy))
	for i, h := range entropy {
		stats.Loss -= t.cfg.Entropy * weight * float64(h)
		dEntropy[i] = float32(-t.cfg.Entropy * weight)
	}
	return stats, slopes, dEntropy
}

// reference scores sequences under the policy before any training, where some
// role is anchored to it.
func (t *Trainer) reference(ctx context.Context, seqs []model.Sequence) ([]model.Scored, error) {
	if len(t.cfg.Anchor) == 0 {
		return nil, nil
	}
	bare := slices.Clone(seqs)
	for i := range bare {
		bare[i].Adapter, bare[i].Grads = nil, nil
	}
	return t.parts.Base.Score(ctx, bare, float32(t.cfg.Temperature))
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func clone(x [][]float32) [][]float32 {
	y := make([][]float32, len(x))
	for i := range x {
		y[i] = slices.Clone(x[i])
	}
	return y
}

// distanceBetween is the 2-norm of the difference, summed in order.
func distanceBetween(a, b [][]float32) float64 {
	sum := 0.0
	for i := range a {
		for j, v := range a[i] {
			d := float64(b[i][j] - v)
			sum += float64(d * d)
		}
	}
	return math.Sqrt(sum)
}
