package model

// forward runs the layers over the pass's rows; the residual stream comes out
// in p.x[Layers].
func (p *pass) forward() {
	p.embed()
	for l := range p.m.layers {
		p.layerForward(l)
	}
}

// layerForward: x[l+1] = x[l] + attention(norm1 x[l]), then + mlp(norm2 …).
func (p *pass) layerForward(l int) {
	w, a := &p.m.layers[l], p.layerActs(l)
	z, eps, r := p.m.Config.sizes(), float32(p.m.Config.Eps), p.rows
	ld := z.ld

	p.pool.RMSNorm(a.n1, ld.hidden, p.x[l], ld.hidden, r, z.hidden, w.norm1, eps, a.inv1)
	p.qkvForward(l, w, a)
	p.attentionForward(l, a)
	if l < p.shared {
		p.filled = l
	}
	mid := p.x[l] // in place when nothing is kept
	if p.keep {
		mid = a.mid
		p.pool.Copy(mid, p.x[l])
	}
	then := p.loraForward(l, a.att, ld.q, a, part{projO, 0})
	p.pool.MatMul(mid, ld.hidden, a.att, ld.q, r, w.o, true, then...)

	p.pool.RMSNorm(a.n2, ld.hidden, mid, ld.hidden, r, z.hidden, w.norm2, eps, a.inv2)
	p.mlpForward(l, w, a)
	out := p.x[l+1]
	if p.keep {
		p.pool.Copy(out, mid)
	}
	then = p.loraForward(l, a.act, ld.inner, a, part{projDown, 0})
	p.pool.MatMul(out, ld.hidden, a.act, ld.inner, r, w.down, true, then...)
}

// backward takes back.dx, the gradient of x[Layers], down through the layers
// for the rows [from, to), which hold whole families of spans, and adds the
// parameters' gradients to g (nil: the base is frozen).
func (p *pass) backward(rg rowRange, g *Grads) {
	last := len(p.m.layers) - 1
	for l := last; l >= 0; l-- {
		if l < p.shared && p.filled != l {
			p.layerForward(l)
		}
		p.layerBackward(l, rg, g)
	}
	if g != nil {
		p.embedBackward(rg, g)
	}
}

// layerBackward turns back.dx from the gradient of x[l+1] into that of x[l].
func (p *pass) layerBackward(l int, rg rowRange, g *Grads) {
	w, a, at := &p.m.layers[l], p.layerActs(l), &p.m.layout.layers[l]
	z := p.m.Config.sizes()
	b, from, r, ld := &p.back, rg.from, rg.to-rg.from, z.ld
	h := from * ld.hidden
	dx := b.dx[h:]

	// Down: dx is the gradient of its output and, by the residual, of mid.
	then := p.loraBackward(l, rg, b.dx, ld.hidden, a.act, ld.inner, a, part{projDown, 0})
	p.pool.MatMulT(b.dact[from*ld.inner:], ld.inner, dx, ld.hidden, r, w.down, false, then...)
	p.mlpBackward(l, w, a, rg)
	var dw []float32
	if g != nil {
		p.pool.GradW(g.flat[at.down:][:z.hidden*z.inner], dx, ld.hidden, a.act[from*ld.inner:], ld.inner, r, z.hidden, z.inner)
		p.pool.GradW(g.flat[at.gateUp:][:2*z.inner*z.hidden], b.dgup[from*ld.gup:], ld.gup, a.n2[h:], ld.hidden, r, 2*z.inner, z.hidden)
		dw = g.flat[at.norm2:][:z.hidden]
	}
	p.pool.RMSNormBackward(dx, ld.hidden, dw, b.dn[h:], ld.hidden, a.mid[h:], ld.hidden, r, z.hidden, w.norm2, a.inv2[from:])

	then = p.loraBackward(l, rg, b.dx, ld.hidden, a.att, ld.q, a, part{projO, 0})
	p.pool.MatMulT(b.datt[from*ld.q:], ld.q, dx, ld.hidden, r, w.o, false, then...)
	p.attentionBackward(l, a, rg)
	if g != nil {
		p.pool.GradW(g.flat[at.o:][:z.hidden*z.q], dx, ld.hidden, a.att[from*ld.q:], ld.q, r, z.hidden, z.q)
		dw = g.flat[at.norm1:][:z.hidden]
	}
	p.qkvBackward(l, w, a, rg, g)
	if l == 0 && g == nil {
		return // nothing below learns
	}
	p.pool.RMSNormBackward(dx, ld.hidden, dw, b.dn[h:], ld.hidden, p.x[l][h:], ld.hidden, r, z.hidden, w.norm1, a.inv1[from:])
}

// rowRange is a run of rows and of the spans in them.
type rowRange struct{ from, to, span0, span1 int }

// backBuffers holds gradients of activations, R rows each.
type backBuffers struct {
	dx         []float32 // [R, H] of the residual stream
	dn         []float32 // [R, H] of a norm's output
	dact, dgup []float32 // [R, F], [R, 2F]
	datt       []float32 // [R, Nq·D]
	drot, draw []float32 // [R, (Nq+2Nkv)·D] of q, k, v after and before head norm
}

func (p *pass) sizeBack() {
	ld, r, b := p.m.Config.sizes().ld, p.rows, &p.back
	floats(&b.dx, r*ld.hidden)
	floats(&b.dn, r*ld.hidden)
	floats(&b.dact, r*ld.inner)
	floats(&b.dgup, r*ld.gup)
	floats(&b.datt, r*ld.q)
	floats(&b.drot, r*ld.qkv)
	if p.m.Config.HeadNorm() {
		floats(&b.draw, r*ld.qkv)
	}
}
