package kernels

import "unsafe"

// Backward computes the gradients of Forward: dq (overwritten, rows as q) and dk,
// dv (added to; position j of a cache is row cache.Row+j, KVHeads·HeadDim values,
// stride ldkv), from dout, the forward's out, q and stats. Each dk and dv is one
// chain over spans in order, heads of the group, then query rows in order. Spans
// that share a prefix, and the span that owns it, must stand next to each other.
func (a Attention) Backward(p *Pool, dq []float32, lddq int, dk, dv []float32, ldkv int, dout []float32, lddo int,
	out []float32, ldo int, q []float32, ldq int, spans []Span, stats *Stats, scratch *Scratch) {
	items := scratch.cut(spans, a, true)
	scratch.room(p.Workers())
	b := attentionBack{a, dq, dk, dv, dout, out, q, lddq, ldkv, lddo, ldo, ldq, stats}
	work := func(w, i int) {
		it := &items[i]
		ws := &scratch.worker[w]
		var last *KVCache
		for s := it.span; s < it.r1; s++ {
			pre := spans[s].Prefix
			if pre != nil && pre != last {
				b.unpack(pre, it.head, ws, 1)
				last = pre
			}
			b.span(&spans[s], it.head, ws)
		}
	}
	p.weighed(len(items), 3*scratch.flops, 0, work)
}

// attentionBack carries the operands of one Backward.
type attentionBack struct {
	Attention
	dq, dk, dv, dout, out, q   []float32
	lddq, ldkv, lddo, ldo, ldq int
	stats                      *Stats
}

// unpack writes the other orientation of a cache's keys (rows) and values (panels)
// for one key-value head into buffers 2·slot and 2·slot+1.
func (b *attentionBack) unpack(c *KVCache, kv int, w *workerScratch, slot int) {
	d, n := b.HeadDim, panels(c.Len)*panel
	rows, cols := w.floats(2*slot, c.Len*d), w.floats(2*slot+1, n*d)
	k, v := c.K[kv*c.Cap*d:], c.V[kv*c.Cap*d:]
	for j := range c.Len {
		at := j/panel*d*panel + j%panel
		from, to, row := k[at:][:(d-1)*panel+1], cols[at:][:(d-1)*panel+1], rows[j*d:][:d]
		for i, x := range v[j*d:][:d] {
			row[i] = from[i*panel]
			to[i*panel] = x
		}
	}
	if c.Len < n {
		b.zeroTail(cols, c.Len, n)
	}
}

// zeroTail clears the columns [from, to) of the last panel.
func (b *attentionBack) zeroTail(cols []float32, from, to int) {
	last := cols[(to-panel)*b.HeadDim:]
	for i := range b.HeadDim {
		clear(last[i*panel+from%panel:][:to-from])
	}
}

// span adds the gradients of one span under one key-value head.
func (b *attentionBack) span(s *Span, kv int, w *workerScratch) {
	b.unpack(s.Own, kv, w, 0)
	group := b.Heads / b.KVHeads
	b.collect(w, s.Own, kv, 0, true)
	if s.Prefix != nil {
		b.collect(w, s.Prefix, kv, 1, true)
	}
	for h := kv * group; h < (kv+1)*group; h++ {
		for r := 0; r < s.Rows; r += attentionRows {
			b.rows(s, h, kv, r, min(r+attentionRows, s.Rows), w)
		}
	}
	b.collect(w, s.Own, kv, 0, false)
	if s.Prefix != nil {
		b.collect(w, s.Prefix, kv, 1, false)
	}
}

// Buffers of a worker in Backward: 0-3 the other orientation of own and prefix, 4
// and 5 probabilities and their gradients, 6-9 dk and dv of own and prefix, close
// together, 10 and 11 rows of q and dout.
const (
	bufGrad = 6
	bufQ    = 10
	bufDout = 11
)

// grads returns where dk and dv of a cache's rows are summed, and the row stride:
// in place, or where the rows are far apart in a worker's buffers.
func (b *attentionBack) grads(w *workerScratch, c *KVCache, kv, slot int) (dk, dv []float32, ld int) {
	if b.ldkv < farApart {
		at := c.Row*b.ldkv + kv*b.HeadDim
		return b.dk[at:], b.dv[at:], b.ldkv
	}
	return w.buf[bufGrad+2*slot], w.buf[bufGrad+2*slot+1], b.HeadDim
}

// collect copies the gradients of a cache's rows into a worker's buffers, or back.
func (b *attentionBack) collect(w *workerScratch, c *KVCache, kv, slot int, in bool) {
	if b.ldkv < farApart {
		return
	}
	d := b.HeadDim
	for i, g := range [2][]float32{b.dk, b.dv} {
		buf, far := w.floats(bufGrad+2*slot+i, c.Len*d), g[c.Row*b.ldkv+kv*d:]
		if in {
			copyRows(buf, d, far, b.ldkv, c.Len, d)
		} else {
			copyRows(far, b.ldkv, buf, d, c.Len, d)
		}
	}
}

// rows handles query rows [r0, r1) of one head.
func (b *attentionBack) rows(s *Span, h, kv, r0, r1 int, w *workerScratch) {
	d, n, rows := b.HeadDim, s.shared(), r1-r0
	first := s.Own.Len - s.Rows + r0
	total := n + first + rows
	ld := (total + panel - 1) &^ (panel - 1)
	p, g := w.floats(4, rows*ld), w.floats(5, rows*ld)
	row := s.Row + r0
	o := b.out[row*b.ldo+h*d:]
	q, ldq := w.gather(bufQ, b.q[row*b.ldq+h*d:], b.ldq, rows, d)
	do, lddo := w.gather(bufDout, b.dout[row*b.lddo+h*d:], b.lddo, rows, d)
	b.scores(p, ld, q, ldq, rows, s, kv, total, w)
	if n > 0 {
		product(g, ld, do, lddo, rows, w.buf[3], n, d)
	}
	product(g[n:], ld, do, lddo, rows, w.buf[1], total-n, d)
	for r := range rows {
		seen := n + first + r + 1
		at := (row+r)*b.Heads + h
		delta := Dot(do[r*lddo:][:d], o[r*b.ldo:][:d])
		pr, gr := p[r*ld:][:total], g[r*ld:][:total]
		rowSoftmaxBack(pr[:seen], gr[:seen], b.Scale, b.stats.Max[at], b.stats.Inv[at], delta)
		clear(pr[seen:])
		clear(gr[seen:])
	}
	dq := b.dq[row*b.lddq+h*d:]
	if n > 0 {
		b.times(dq, b.lddq, g, ld, rows, w.buf[2], n, false)
		dk, dv, ldg := b.grads(w, s.Prefix, kv, 1)
		b.outer(dk, ldg, g, ld, q, ldq, rows, n)
		b.outer(dv, ldg, p, ld, do, lddo, rows, n)
	}
	b.times(dq, b.lddq, g[n:], ld, rows, w.buf[0], total-n, n > 0)
	dk, dv, ldg := b.grads(w, s.Own, kv, 0)
	b.outer(dk, ldg, g[n:], ld, q, ldq, rows, total-n)
	b.outer(dv, ldg, p[n:], ld, do, lddo, rows, total-n)
}

// product is c[rows, n] = x·B with B in panels, k deep.
func product(c []float32, ldc int, x []float32, ldx, rows int, b []float32, n, k int) {
	g := gemmRun{
		m: rows, n: n, k: k, packed: true, ldb: 4 * panel, ldy: 4 * ldc, ldx: 4 * ldx,
		y: unsafe.Pointer(&c[0]), x: unsafe.Pointer(&x[0]), b: unsafe.Pointer(&b[:1][0]),
	}
	g.block(0, rows, 0, n)
}

// times is dq (+)= dS·K with K in rows.
func (b *attentionBack) times(dq []float32, lddq int, g []float32, ld, rows int, k []float32, n int, acc bool) {
	r := gemmRun{
		m: rows, n: b.HeadDim, k: n, ldb: 4 * b.HeadDim, acc: acc, ldy: 4 * lddq, ldx: 4 * ld,
		y: unsafe.Pointer(&dq[0]), x: unsafe.Pointer(&g[0]), b: unsafe.Pointer(&k[:1][0]),
	}
	r.block(0, rows, 0, b.HeadDim)
}

// outer adds Pᵀ·X to the gradients of n cache positions.
func (b *attentionBack) outer(dst []float32, ldy int, p []float32, ld int, x []float32, ldx, rows, n int) {
	d := b.HeadDim
	r := gemmRun{
		form: formOuter, acc: true, m: n, n: d, k: rows, ldb: 4 * ldx, ldy: 4 * ldy, ldx: 4 * ld,
		y: unsafe.Pointer(&dst[:1][0]), x: unsafe.Pointer(&p[0]), b: unsafe.Pointer(&x[0]),
	}
	r.block(0, n, 0, d)
}
