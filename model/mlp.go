package model

// mlpForward: act = silu(gate)·up of n2.
func (p *pass) mlpForward(l int, w *layer, a *activations) {
	z, r := p.m.Config.sizes(), p.rows
	then := p.loraForward(l, a.n2, z.hidden, a, part{projGate, 0}, part{projUp, z.inner})
	p.pool.MatMul(a.gup, 2*z.inner, a.n2, z.hidden, r, w.gup, false, then...)
	p.pool.SiLUGate(a.act, z.inner, a.gup, 2*z.inner, a.gup[z.inner:], 2*z.inner, r, z.inner)
}

// mlpBackward takes back.dact to back.dn, the gradient of norm2's output.
func (p *pass) mlpBackward(l int, w *layer, a *activations, rg rowRange) {
	z, b := p.m.Config.sizes(), &p.back
	from, r := rg.from, rg.to-rg.from
	gup, dgup := a.gup[from*2*z.inner:], b.dgup[from*2*z.inner:]
	p.pool.SiLUGateBackward(dgup, 2*z.inner, dgup[z.inner:], 2*z.inner, b.dact[from*z.inner:], z.inner,
		gup, 2*z.inner, gup[z.inner:], 2*z.inner, r, z.inner)
	then := p.loraBackward(l, rg, b.dgup, 2*z.inner, a.n2, z.hidden, a, part{projGate, 0}, part{projUp, z.inner})
	p.pool.MatMulT(b.dn[from*z.hidden:], z.hidden, dgup, 2*z.inner, r, w.gup, false, then...)
}
