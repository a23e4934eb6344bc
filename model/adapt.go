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

// lowRows gives the activations s·x·Aᵀ of a projection, [R, rank].
func (p *pass) lowRows(a *activations, proj lora.Projection, rank int) []float32 {
	if !p.keep {
		return floats(&a.low, p.rows*rank)
	}
	all := floats(&a.low, int(lora.Projections)*p.rows*rank)
	return all[int(proj)*p.rows*rank:][:p.rows*rank]
}

// loraForward: y += B·(s·A·x), for the rows that have an adapter.
func (p *pass) loraForward(l int, proj lora.Projection, y []float32, ldy int, x []float32, ldx int, a *activations) {
	if len(p.adapters) == 0 {
		return
	}
	rank := p.rank()
	low := p.lowRows(a, proj, rank)
	for _, ar := range p.adapters {
		m := ar.adapter.Module(l, proj)
		if m == nil {
			continue
		}
		n, u := ar.to-ar.from, low[ar.from*rank:ar.to*rank]
		p.pool.MatMul(u, rank, x[ar.from*ldx:], ldx, n, m.A, false)
		scaleRows(u, m.Scale, n, rank, m.Rank)
		p.pool.MatMul(y[ar.from*ldy:], ldy, u, rank, n, m.B, true)
	}
}

// loraBackward adds to dx the gradient through the adapters, and to their
// gradients those of A and B: dB += dyᵀ·u, du = s·dy·B, dA += duᵀ·x, dx += du·A.
func (p *pass) loraBackward(l int, proj lora.Projection, rg rowRange, dx []float32, lddx int, dy []float32, ldy int, x []float32, ldx int, a *activations) {
	if len(p.adapters) == 0 {
		return
	}
	rank := p.rank()
	low, du := p.lowRows(a, proj, rank), floats(&p.low, p.rows*rank)
	for _, ar := range p.adapters {
		m := ar.adapter.Module(l, proj)
		from, to := max(ar.from, rg.from), min(ar.to, rg.to)
		if m == nil || from >= to {
			continue
		}
		n, dyr, xr, d := to-from, dy[from*ldy:], x[from*ldx:], du[from*rank:to*rank]
		p.pool.MatMulT(d, rank, dyr, ldy, n, m.B, false)
		scaleRows(d, m.Scale, n, rank, m.Rank)
		if ar.grads != nil {
			p.pool.GradW(ar.grads.flat[m.GradB:][:m.Out*m.Rank], dyr, ldy, low[from*rank:], rank, n, m.Out, m.Rank)
			p.pool.GradW(ar.grads.flat[m.GradA:][:m.Rank*m.In], d, rank, xr, ldx, n, m.Rank, m.In)
		}
		p.pool.MatMulT(dx[from*lddx:], lddx, d, rank, n, m.A, true)
	}
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
