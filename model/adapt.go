package model

import (
	"errors"

	"troupe/model/kernels"
	"troupe/model/lora"
)

const (
	projQ    = lora.Q
	projK    = lora.K
	projV    = lora.V
	projO    = lora.O
	projGate = lora.Gate
	projUp   = lora.Up
	projDown = lora.Down
)

// AdapterBase gives the shape that adapters of a model must have.
func (c *Config) AdapterBase() lora.Base {
	z := c.sizes()
	b := lora.Base{Layers: c.Layers}
	b.In = [...]int{z.hidden, z.hidden, z.hidden, z.q, z.hidden, z.hidden, z.inner}
	b.Out = [...]int{z.q, z.kv, z.kv, z.hidden, z.inner, z.inner, z.hidden}
	return b
}

// rank is the row stride of the low-rank activations: the largest rank of the
// pass's adapters.
func (p *pass) rank() int {
	n := 0
	for _, ar := range p.adapters {
		n = max(n, ar.adapter.Rank)
	}
	return n
}

// part is a projection whose output begins at a column of a product's.
type part struct {
	proj lora.Projection
	col  int
}

// lowRows gives the activations s·x·Aᵀ of a projection, the i-th of a product's,
// [R, rank].
func (p *pass) lowRows(a *activations, i int, proj lora.Projection, rank int) []float32 {
	n, at := maxParts, i
	if p.keep {
		n, at = int(lora.Projections), int(proj)
	}
	return floats(&a.low, n*p.rows*rank)[at*p.rows*rank:][:p.rows*rank]
}

// maxParts is the most projections that one product computes: q, k and v.
const maxParts = 3

// loraForward computes s·x·Aᵀ of the parts for the rows that have an adapter and
// returns what adds B·(s·A·x) to their product. The result is good until the next call.
func (p *pass) loraForward(l int, x []float32, ldx int, a *activations, parts ...part) []kernels.Addend {
	p.then = p.then[:0]
	if len(p.adapters) == 0 {
		return nil
	}
	rank := p.rank()
	for i, pt := range parts {
		low := p.lowRows(a, i, pt.proj, rank)
		for _, ar := range p.adapters {
			m := ar.adapter.Module(l, pt.proj)
			if m == nil {
				continue
			}
			n, u := ar.to-ar.from, low[ar.from*rank:ar.to*rank]
			p.pool.MatMul(u, rank, x[ar.from*ldx:], ldx, n, m.A, false)
			scaleRows(u, m.Scale, n, rank, m.Rank)
			p.then = append(p.then, kernels.Addend{Row: ar.from, Rows: n, Col: pt.col, X: u, LdX: rank, W: m.B})
		}
	}
	return p.then
}

// loraBackward adds to the adapters' gradients those of A and B and returns what adds
// the gradient through the adapters to dx, whose first row is rg.from: dB += dyᵀ·u,
// du = s·dy·B, dA += duᵀ·x, dx += du·A. The result is good until the next call.
func (p *pass) loraBackward(l int, rg rowRange, dy []float32, ldy int, x []float32, ldx int, a *activations, parts ...part) []kernels.Addend {
	p.then = p.then[:0]
	if len(p.adapters) == 0 {
		return nil
	}
	rank := p.rank()
	dus := floats(&p.low, maxParts*p.rows*rank)
	for i, pt := range parts {
		low, du := p.lowRows(a, i, pt.proj, rank), dus[i*p.rows*rank:][:p.rows*rank]
		for _, ar := range p.adapters {
			m := ar.adapter.Module(l, pt.proj)
			from, to := max(ar.from, rg.from), min(ar.to, rg.to)
			if m == nil || from >= to {
				continue
			}
			n, dyr, xr, d := to-from, dy[from*ldy+pt.col:], x[from*ldx:], du[from*rank:to*rank]
			p.pool.MatMulT(d, rank, dyr, ldy, n, m.B, false)
			scaleRows(d, m.Scale, n, rank, m.Rank)
			if ar.grads != nil {
				p.pool.GradW(ar.grads.flat[m.GradB:][:m.Out*m.Rank], dyr, ldy, low[from*rank:], rank, n, m.Out, m.Rank)
				p.pool.GradW(ar.grads.flat[m.GradA:][:m.Rank*m.In], d, rank, xr, ldx, n, m.Rank, m.In)
			}
			p.then = append(p.then, kernels.Addend{Row: from - rg.from, Rows: n, X: d, LdX: rank, W: m.A, Transposed: true})
		}
	}
	return p.then
}

func scaleRows(u []float32, s float32, rows, ld, n int) {
	for r := range rows {
		kernels.Scale(u[r*ld:][:n], s, u[r*ld:][:n])
	}
}

// LoadAdapter reads a PEFT adapter for this model.
func (m *Model) LoadAdapter(dir string) (*lora.Adapter, error) {
	return lora.Load(dir, m.Config.AdapterBase())
}

// Merge adds an adapter to the weights of a trainable model: W + s·B·A in
// float32. Saving rounds once.
func (m *Model) Merge(a *lora.Adapter) error {
	if m.flat == nil {
		return errors.New("merge: a frozen model's weights can't be changed; load it trainable")
	}
	if !a.Fits(m.Config.AdapterBase()) {
		return errors.New("merge: the adapter belongs to a model of another shape")
	}
	z := m.Config.sizes()
	for l, at := range m.layout.layers {
		places := [lora.Projections]int{at.qkv, at.qkv + z.q*z.hidden, at.qkv + z.rot*z.hidden, at.o,
			at.gateUp, at.gateUp + z.inner*z.hidden, at.down}
		for p, place := range places {
			if mod := a.Module(l, lora.Projection(p)); mod != nil {
				mod.AddDelta(a, m.flat[place:][:mod.Out*mod.In])
			}
		}
	}
	m.Refresh()
	return nil
}
