package model

import (
	"troupe/model/kernels"
)

// embed: x[0] = the embedding rows of the ids.
func (p *pass) embed() {
	h, ld := p.m.Config.Hidden, p.m.Config.sizes().ld.hidden
	t := &p.m.embed
	for i, id := range p.ids {
		dst := p.x[0][i*ld:][:h]
		switch at := int(id) * h; {
		case t.f32 != nil:
			copy(dst, t.f32[at:at+h])
		case t.bf16 != nil:
			kernels.WidenBF16(dst, t.bf16[at:at+h])
		default:
			p.m.head.Row(dst, int(id))
		}
	}
}

// embedBackward adds back.dx to the rows of the embedding's gradient.
func (p *pass) embedBackward(rg rowRange, g *Grads) {
	h, ld, at := p.m.Config.Hidden, p.m.Config.sizes().ld.hidden, p.m.layout.embed
	for i := rg.from; i < rg.to; i++ {
		kernels.Add(g.flat[at+int(p.ids[i])*h:][:h], p.back.dx[i*ld:][:h])
	}
}
