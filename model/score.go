package model

import (
	"context"
	"fmt"

	"troupe/model/kernels"
)

// Scored holds, for each action token of a sequence, its log-probability and
// the entropy (in nats) of the distribution it came from, both at the
// temperature asked for.
type Scored struct{ LogProbs, Entropy []float32 }

// LossFunc gets the log-probabilities and entropies of one sequence's action
// tokens and returns the derivatives of the loss by them; the second may be
// nil. A sequence whose derivatives are all zero costs no backward. It is
// called once for each sequence with action tokens, one call at a time, in an
// order that depends on the batch alone. The arguments are valid during the
// call only.
type LossFunc func(seq int, logp, entropy []float32) (dlogp, dentropy []float32)

// smallModel is the number of parameters up to which chunks are spread over
// the workers; above it each product is.
const smallModel = 1 << 22

// Rows of a chunk: small models keep a chunk's activations in the cache.
const (
	smallRows = 256
	largeRows = 2048
)

// defaultActivations is the memory for activations of a large model's
// training, unless the load options say otherwise.
const defaultActivations = 2 << 30

// keptLogits is the part of that memory that the head may have on top of it for
// the logits of one long sequence, which are computed twice otherwise.
const keptLogits = 4

// small tells how work is spread. It depends on the configuration alone, like
// everything that decides about the order of sums.
func (m *Model) small() bool { return !m.large && m.layout.total <= smallModel }

// ActivationBytes is the memory for activations that training keeps to: that of the
// load options, or the usual.
func (m *Model) ActivationBytes() int64 {
	if m.budget > 0 {
		return m.budget
	}
	return defaultActivations
}

func (m *Model) chunkRows() int {
	if m.small() {
		return smallRows
	}
	return largeRows
}

// takePass gives a free workspace.
func (m *Model) takePass(keep bool) *pass {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range m.passes {
		if p.keep == keep {
			m.passes = append(m.passes[:i], m.passes[i+1:]...)
			return p
		}
	}
	pool := m.pool
	if m.small() {
		pool = nil
	}
	return newPass(m, pool, keep)
}

func (m *Model) givePass(p *pass) {
	m.mu.Lock()
	m.passes = append(m.passes, p)
	m.mu.Unlock()
}

// spread runs f for every chunk: on the workers for a small model, in order on
// the caller for a large one, whose products use the workers. It stops early
// when ctx is cancelled.
func (m *Model) spread(ctx context.Context, n int, keep bool, f func(p *pass, i int)) error {
	if m.small() && n > 1 {
		m.pool.Run(n, func(_, i int) {
			if ctx.Err() == nil {
				p := m.takePass(keep)
				f(p, i)
				m.givePass(p)
			}
		})
		return ctx.Err()
	}
	p := m.takePass(keep)
	defer m.givePass(p)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		f(p, i)
	}
	return ctx.Err()
}

// results makes room for the scores of a batch in one piece.
func results(seqs []Sequence) []Scored {
	n := 0
	for i := range seqs {
		n += len(seqs[i].Action)
	}
	all, out := make([]float32, 2*n), make([]Scored, len(seqs))
	for i := range seqs {
		k := len(seqs[i].Action)
		out[i] = Scored{all[:k:k], all[k : 2*k : 2*k]}
		all = all[2*k:]
	}
	return out
}

// store copies the pass's scores to their sequences.
func (p *pass) store(c *chunk, out []Scored) {
	i := 0
	for _, f := range c.families {
		for _, s := range f.seqs {
			copy(out[s].LogProbs, p.head.logp[p.head.bounds[i]:p.head.bounds[i+1]])
			copy(out[s].Entropy, p.head.entropy[p.head.bounds[i]:p.head.bounds[i+1]])
			i++
		}
	}
}

// Score computes the log-probabilities of the sequences' action tokens. A
// temperature of 0 means 1.
func (m *Model) Score(ctx context.Context, seqs []Sequence, temperature float32) ([]Scored, error) {
	if err := m.check(seqs); err != nil {
		return nil, err
	}
	out := results(seqs)
	chunks := plan(seqs, m.chunkRows(), false)
	err := m.spread(ctx, len(chunks), false, func(p *pass, i int) {
		p.load(seqs, &chunks[i], nil)
		p.forward()
		p.logProbs(temperature)
		p.store(&chunks[i], out)
	})
	return out, err
}

// wave is the number of chunks of a small model that run between two
// reductions of their gradients.
const wave = 16

// Backward runs forward and backward and adds the gradients to grads: of the
// model's parameters for sequences without an adapter, of the adapter's for the
// others (Sequence.Grads goes first). A batch holds the one or the other kind.
// The gradients' bits depend on the batch alone. With an error, grads holds a
// part of the sum and must be thrown away.
func (m *Model) Backward(ctx context.Context, seqs []Sequence, temperature float32, loss LossFunc, grads *Grads) ([]Scored, error) {
	if err := m.checkBackward(seqs, grads); err != nil {
		return nil, err
	}
	out := results(seqs)
	m.training.Lock()
	defer m.training.Unlock()
	if !m.small() {
		return out, m.backwardLarge(ctx, seqs, temperature, loss, grads, out)
	}
	chunks := plan(seqs, smallRows, true)
	for at := 0; at < len(chunks); at += wave {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := chunks[at:min(at+wave, len(chunks))]
		turn := newTurns()
		// Chunks of a wave wait for each other's turn: none may be left out.
		err := m.spread(context.WithoutCancel(ctx), len(part), true, func(p *pass, i int) {
			g := m.scratchGrads(i, chunkGrads(seqs, &part[i], grads))
			p.load(seqs, &part[i], nil)
			p.retarget(g)
			p.train(&part[i], i, temperature, loss, g, turn)
			p.store(&part[i], out)
		})
		if err != nil {
			return nil, err
		}
		for i := range part {
			m.grads[i].AddTo(chunkGrads(seqs, &part[i], grads))
		}
	}
	return out, nil
}

// backwardLarge goes chunk by chunk, straight into the gradients. Adapters
// share a chunk, so that the base's products are done for all rows at once.
func (m *Model) backwardLarge(ctx context.Context, seqs []Sequence, temperature float32, loss LossFunc, grads *Grads, out []Scored) error {
	rank := 0
	for i := range seqs {
		if a := seqs[i].Adapter; a != nil {
			rank = max(rank, a.Rank)
		}
	}
	// Chunks are as large as fits without recomputing; a sequence longer than
	// that is a chunk of its own, of which as many layers are kept as fit.
	rows := m.Config.trainingRows(rank, m.ActivationBytes())
	chunks := plan(seqs, rows, m.flat != nil)
	turn := newTurns()
	return m.spread(ctx, len(chunks), true, func(p *pass, i int) {
		c := &chunks[i]
		p.keepLayers(m.Config.keptLayers(c.rows, rank, m.ActivationBytes()))
		p.load(seqs, c, grads)
		p.train(c, i, temperature, loss, chunkGrads(seqs, c, grads), turn)
		p.store(c, out)
	})
}

// train is the forward and backward of the chunk that was loaded.
func (p *pass) train(c *chunk, i int, temperature float32, loss LossFunc, g *Grads, turn *turns) {
	p.forward()
	order := make([]int, 0, len(p.head.bounds))
	for _, f := range c.families {
		order = append(order, f.seqs...)
	}
	active := make([]bool, len(order))
	called := false
	each := func(k int, logp, entropy []float32) ([]float32, []float32) {
		if !called {
			called = true
			turn.wait(i)
		}
		dl, de := loss(order[k], logp, entropy)
		if dl == nil {
			dl = p.noGradient(len(logp))
		}
		if len(dl) != len(logp) || de != nil && len(de) != len(logp) {
			panic(fmt.Sprintf("model: the loss gave %d and %d derivatives for %d tokens", len(dl), len(de), len(logp)))
		}
		active[k] = !zero(dl) || !zero(de)
		if k == len(order)-1 {
			turn.done()
		}
		return dl, de
	}
	base := g
	if len(p.adapters) > 0 {
		base = nil
	}
	p.headBackward(temperature, kernels.Loss(each), base)
	for _, rg := range activeRanges(c, active) {
		p.backward(rg, base)
	}
}

// retarget sends the gradients of the chunk's adapters to g.
func (p *pass) retarget(g *Grads) {
	for i := range p.adapters {
		p.adapters[i].grads = g
	}
}

// noGradient gives zeros for a loss without derivatives.
func (p *pass) noGradient(n int) []float32 {
	z := floats(&p.head.zero, n)
	clear(z)
	return z
}

// activeRanges gives the runs of families with anything to go back for. Rows
// with zero gradients add exact zeros to every sum, so leaving them out
// changes no bit.
func activeRanges(c *chunk, active []bool) []rowRange {
	var out []rowRange
	k, open := 0, false
	for _, f := range c.families {
		any := false
		for range f.seqs {
			any = any || active[k]
			k++
		}
		switch {
		case any && open:
			last := &out[len(out)-1]
			last.to, last.span1 = f.to, f.span1
		case any:
			out = append(out, f.rowRange)
		}
		open = any
	}
	return out
}

func zero(s []float32) bool {
	for _, v := range s {
		if v != 0 {
			return false
		}
	}
	return true
}
