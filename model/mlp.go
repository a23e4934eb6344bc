package model

// mlpForward: act = silu(gate)·up of n2.
func (p *pass) mlpForward(l int, w *layer, a *activations) {
	z, r := p.m.Config.sizes(), p.rows
	ld := z.ld
	then := p.loraForward(l, a.n2, ld.hidden, a, part{projGate, 0}, part{projUp, z.inner})
	p.pool.MatMul(a.gup, ld.gup, a.n2, ld.hidden, r, w.gup, false, then...)
	p.pool.SiLUGate(a.act, ld.inner, a.gup, ld.gup, a.gup[z.inner:], ld.gup, r, z.inner)
}

// mlpBackward takes back.dact to back.dn, the gradient of norm2's output.
func (p *pass) mlpBackward(l int, w *layer, a *activations, rg rowRange) {
	z, b := p.m.Config.sizes(), &p.back
	from, r, ld := rg.from, rg.to-rg.from, z.ld
	gup, dgup := a.gup[from*ld.gup:], b.dgup[from*ld.gup:]
	p.pool.SiLUGateBackward(dgup, ld.gup, dgup[z.inner:], ld.gup, b.dact[from*ld.inner:], ld.inner,
		gup, ld.gup, gup[z.inner:], ld.gup, r, z.inner)
	then := p.loraBackward(l, rg, b.dgup, ld.gup, a.n2, ld.hidden, a, part{projGate, 0}, part{projUp, z.inner})
	p.pool.MatMulT(b.dn[from*ld.hidden:], ld.hidden, dgup, ld.gup, r, w.gup, false, then...)
}
