package model

import "troupe/model/kernels"

// qkvForward projects, adds the bias, normalises heads and rotates.
func (p *pass) qkvForward(l int, w *layer, a *activations) {
	c, z, r := &p.m.Config, p.m.Config.sizes(), p.rows
	then := p.loraForward(l, a.n1, z.ld.hidden, a, part{projQ, 0}, part{projK, z.q}, part{projV, z.rot})
	p.pool.MatMul(a.raw, z.ld.qkv, a.n1, z.ld.hidden, r, w.qkv, false, then...)
	if w.bias != nil {
		for i := range r {
			kernels.Add(a.raw[i*z.ld.qkv:][:z.qkv], w.bias)
		}
	}
	rot, ld := a.rotated(z, c.HeadNorm())
	if c.HeadNorm() {
		eps := float32(c.Eps)
		p.pool.RMSNormHeads(rot, ld, a.raw, z.ld.qkv, r, c.Heads, z.dim, w.qnorm, eps, a.invHead)
		p.pool.RMSNormHeads(rot[z.q:], ld, a.raw[z.q:], z.ld.qkv, r, c.KVHeads, z.dim, w.knorm, eps, a.invHead[c.Heads*r:])
	}
	p.pool.RoPE(rot, ld, r, c.Heads+c.KVHeads, z.dim, p.pos, p.cos, p.sin)
}

// projected is where the gradients of the projections q, k, v gather. Those of the
// values, which no head norm changes, go there at once.
func (b *backBuffers) projected(headNorm bool) []float32 {
	if headNorm {
		return b.draw
	}
	return b.drot
}

// qkvBackward takes the gradients of attentionBackward to back.dn, the gradient of norm1's output.
func (p *pass) qkvBackward(l int, w *layer, a *activations, rg rowRange, g *Grads) {
	c, z, b := &p.m.Config, p.m.Config.sizes(), &p.back
	at, from, r, ld := &p.m.layout.layers[l], rg.from, rg.to-rg.from, z.ld
	o := from * ld.qkv
	p.pool.RoPEBackward(b.drot[o:], ld.qkv, r, c.Heads+c.KVHeads, z.dim, p.pos[from:], p.cos, p.sin)
	d := b.projected(c.HeadNorm())
	if c.HeadNorm() {
		p.pool.Clear(d[o:], ld.qkv, r, z.rot)
		for h := range c.Heads + c.KVHeads {
			weight, place := w.qnorm, at.qnorm
			if h >= c.Heads {
				weight, place = w.knorm, at.knorm
			}
			var dw []float32
			if g != nil {
				dw = g.flat[place:][:z.dim]
			}
			p.pool.RMSNormBackward(d[o+h*z.dim:], ld.qkv, dw, b.drot[o+h*z.dim:], ld.qkv,
				a.raw[o+h*z.dim:], ld.qkv, r, z.dim, weight, a.invHead[h*p.rows+from:])
		}
	}
	then := p.loraBackward(l, rg, d, ld.qkv, a.n1, ld.hidden, a, part{projQ, 0}, part{projK, z.q}, part{projV, z.rot})
	p.pool.MatMulT(b.dn[from*ld.hidden:], ld.hidden, d[o:], ld.qkv, r, w.qkv, false, then...)
	if g == nil {
		return
	}
	p.pool.GradW(g.flat[at.qkv:][:z.qkv*z.hidden], d[o:], ld.qkv, a.n1[from*ld.hidden:], ld.hidden, r, z.qkv, z.hidden)
	if at.bias >= 0 {
		db := g.flat[at.bias:][:z.qkv]
		for i := from; i < rg.to; i++ {
			kernels.Add(db, d[i*ld.qkv:][:z.qkv])
		}
	}
}

// attentionForward appends the rows' keys and values to their caches and
// attends: a.att [R, Nq·D].
func (p *pass) attentionForward(l int, a *activations) {
	z := p.m.Config.sizes()
	rot, ld := a.rotated(z, p.m.Config.HeadNorm())
	k, v, spans := rot[z.q:], a.raw[z.rot:], p.spans[l]
	if p.steps {
		p.att.Step(p.pool, a.att, z.ld.q, rot, ld, k, ld, v, z.ld.qkv, spans, &p.scr)
		return
	}
	for i := range spans {
		if p.keep {
			spans[i].Own.Len = 0 // layers may share it, and a backward may run again
		}
	}
	p.att.AppendSpans(p.pool, spans, k, ld, v, z.ld.qkv)
	var stats *kernels.Stats
	if p.keep {
		stats = &a.stats
	}
	p.att.Forward(p.pool, a.att, z.ld.q, rot, ld, spans, stats, &p.scr)
}

// attentionBackward takes back.datt to the gradients of the rotated queries and keys,
// in back.drot, and of the values, where they are projected.
func (p *pass) attentionBackward(l int, a *activations, rg rowRange) {
	z, b := p.m.Config.sizes(), &p.back
	rot, ld := a.rotated(z, p.m.Config.HeadNorm())
	dk, dv := b.drot[z.q:], b.projected(p.m.Config.HeadNorm())[z.rot:]
	for _, g := range [][]float32{dk, dv} {
		p.pool.Clear(g[rg.from*z.ld.qkv:], z.ld.qkv, rg.to-rg.from, z.kv)
	}
	p.att.Backward(p.pool, b.drot, z.ld.qkv, dk, dv, z.ld.qkv,
		b.datt, z.ld.q, a.att, z.ld.q, rot, ld, p.spans[l][rg.span0:rg.span1], &a.stats, &p.scr)
}
