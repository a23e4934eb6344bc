package model

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// divergenceBytes bounds the logits of each model that are kept at a time.
const divergenceBytes = 16 << 20

// Divergence computes, for each action token of the sequences, the exact
// KL(p ‖ q) in nats over the whole vocabulary (Vocab): p is this model under the
// sequence's adapter, q is other without any, both at the temperature.
func (m *Model) Divergence(ctx context.Context, other *Model, seqs []Sequence, temperature float32) ([][]float64, error) {
	if m.Config.Vocab != other.Config.Vocab || m.Vocab() != other.Vocab() {
		return nil, fmt.Errorf("divergence: vocabularies of %d and %d tokens", m.Vocab(), other.Vocab())
	}
	bare := slices.Clone(seqs)
	for i := range bare {
		bare[i].Adapter = nil
	}
	if err := m.check(seqs); err != nil {
		return nil, err
	}
	if err := other.check(bare); err != nil {
		return nil, err
	}
	out := make([][]float64, len(seqs))
	chunks := plan(seqs, m.chunkRows(), false)
	err := m.spread(ctx, len(chunks), false, func(p *pass, i int) {
		c := &chunks[i]
		p.load(seqs, c, nil)
		p.forward()
		p.headForward()
		q := other.takePass(false)
		defer other.givePass(q)
		q.load(bare, c, nil)
		q.forward()
		q.headForward()
		kl := p.divergence(q, temperature)
		k := 0
		for _, f := range c.families {
			for _, s := range f.seqs {
				out[s] = kl[p.head.bounds[k]:p.head.bounds[k+1]]
				k++
			}
		}
	})
	return out, err
}

// divergence compares the head's rows of two passes over the same tokens.
func (p *pass) divergence(q *pass, temperature float32) []float64 {
	v, rows := p.m.Config.Vocab, len(p.head.rows)
	ha, hb := p.m.output(temperature), q.m.output(temperature)
	ld := ha.Stride()
	step := max(1, divergenceBytes/(4*ld))
	a, b := make([]float32, min(step, rows)*ld), make([]float32, min(step, rows)*ld)
	wa, wb := p.m.Config.sizes().ld.hidden, q.m.Config.sizes().ld.hidden
	out := make([]float64, rows)
	for r := 0; r < rows; r += step {
		n := min(step, rows-r)
		ha.Logits(p.pool, a, p.head.n[r*wa:], wa, n)
		hb.Logits(q.pool, b, q.head.n[r*wb:], wb, n)
		for i := range n {
			za, zb := a[i*ld:][:v], b[i*ld:][:v]
			sa, sb := ha.Stats(za), hb.Stats(zb)
			sum := 0.0
			for t := range p.m.Vocab() {
				lp := float64(ha.TokenLogProb(za, sa, int32(t)))
				sum += float64(math.Exp(lp) * (lp - float64(hb.TokenLogProb(zb, sb, int32(t)))))
			}
			out[r+i] = max(0, sum) // rounding may leave -1e-9 between equal rows
		}
	}
	return out
}
