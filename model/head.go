package model

import "troupe/model/kernels"

// headBuffers holds the rows that predict an action token, gathered: T rows,
// one per action token; a shared prompt's last row occurs once a sequence.
type headBuffers struct {
	rows    []int32 // where in the pass the row stands
	targets []int32
	bounds  []int // sequence i of the pass has rows [bounds[i], bounds[i+1])

	x, n, inv     []float32 // [T, H] before and after the final norm
	dx, dn        []float32
	logp, entropy []float32
	zero          []float32
}

// headForward gathers and normalises.
func (p *pass) headForward() {
	z, b, t := p.m.Config.sizes(), &p.head, len(p.head.rows)
	h, ld, last := z.hidden, z.ld.hidden, p.x[len(p.x)-1]
	floats(&b.x, t*ld)
	for i, r := range b.rows {
		copy(b.x[i*ld:][:h], last[int(r)*ld:][:h])
	}
	p.pool.RMSNorm(floats(&b.n, t*ld), ld, b.x, ld, t, h, p.m.norm, float32(p.m.Config.Eps), floats(&b.inv, t))
	floats(&b.logp, t)
	floats(&b.entropy, t)
}

// logProbs fills head.logp and head.entropy.
func (p *pass) logProbs(temperature float32) {
	p.headForward()
	b := &p.head
	head := p.m.output(temperature)
	head.LogProbs(p.pool, b.logp, b.entropy, b.n, p.m.Config.sizes().ld.hidden, len(b.rows), b.targets, &p.scr)
}

// headBackward does the head forward and backward: back.dx becomes the gradient
// of x[Layers].
func (p *pass) headBackward(temperature float32, loss kernels.Loss, g *Grads) {
	p.headForward()
	z, b, t := p.m.Config.sizes(), &p.head, len(p.head.rows)
	h, ld := z.hidden, z.ld.hidden
	var dw, dnorm []float32
	if g != nil {
		dw = g.flat[p.m.layout.head:][:p.m.Config.Vocab*h]
		dnorm = g.flat[p.m.layout.norm:][:h]
	}
	clear(floats(&b.dn, t*ld))
	clear(floats(&b.dx, t*ld))
	head := p.m.output(temperature)
	head.KeptBytes = int(p.m.ActivationBytes() / keptLogits)
	head.Backward(p.pool, b.dn, ld, dw, b.logp, b.entropy, b.n, ld, b.bounds, b.targets, loss, &p.scr)
	p.pool.RMSNormBackward(b.dx, ld, dnorm, b.dn, ld, b.x, ld, t, h, p.m.norm, b.inv)
	p.sizeBack()
	clear(p.back.dx)
	for i, r := range b.rows {
		kernels.Add(p.back.dx[int(r)*ld:][:h], b.dx[i*ld:][:h])
	}
}
