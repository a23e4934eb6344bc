package kernels

import "unsafe"

// scores computes q·Kᵀ for keys [0, total) of prefix and own.
func (a Attention) scores(c []float32, ld int, q []float32, ldq, rows int, s *Span, kv, total int, w *workerScratch) {
	a.panelProduct(c, ld, q, ldq, rows, s.Prefix, kv, s.shared(), w)
	a.panelProduct(c[s.shared():], ld, q, ldq, rows, s.Own, kv, total-s.shared(), w)
}

// panelProduct computes q·Kᵀ for the first n keys of a cache.
func (a Attention) panelProduct(c []float32, ld int, q []float32, ldq, rows int, kc *KVCache, kv, n int, w *workerScratch) {
	whole := n
	if kc != nil && kc.Tail != nil {
		whole = min(n, kc.Len&^(panel-1))
	}
	if n > whole {
		a.tailProduct(c[whole:], ld, q, ldq, rows, kc, kv, n-whole, w)
	}
	if whole == 0 {
		return
	}
	g := gemmRun{
		m: rows, n: whole, k: a.HeadDim, packed: true, ldb: 4 * panel,
		y: unsafe.Pointer(&c[0]), ldy: 4 * ld, x: unsafe.Pointer(&q[0]), ldx: 4 * ldq,
	}
	if kc.K16 != nil {
		g.form, g.b = formWiden, unsafe.Pointer(&kc.K16[kv*kc.Cap*((a.HeadDim+1)&^1)])
	} else {
		g.b = unsafe.Pointer(&kc.K[kv*kc.Cap*a.HeadDim])
	}
	g.block(0, rows, 0, whole)
}

// tailProduct computes q·Kᵀ for n keys that lie in rows: K·qᵀ, whose chains are the
// same, with the queries as columns.
func (a Attention) tailProduct(c []float32, ld int, q []float32, ldq, rows int, kc *KVCache, kv, n int, w *workerScratch) {
	d := a.HeadDim
	columns, y := w.floats(12, d*rows), w.floats(13, n*rows)
	for r := range rows {
		for i, x := range q[r*ldq:][:d] {
			columns[i*rows+r] = x
		}
	}
	g := gemmRun{
		m: n, n: rows, k: d, ldb: 4 * rows, ldx: 4 * d, ldy: 4 * rows,
		y: unsafe.Pointer(&y[0]), x: unsafe.Pointer(&kc.Tail[kv*panel*d]), b: unsafe.Pointer(&columns[0]),
	}
	g.block(0, n, 0, rows)
	for r := range rows {
		for j := range n {
			c[r*ld+j] = y[j*rows+r]
		}
	}
}

// values computes out = P·V over keys [0, total), one chain over prefix and own.
func (a Attention) values(out []float32, ldo int, p []float32, ld, rows int, s *Span, kv, total int) {
	n := s.shared()
	if n > 0 {
		a.rowProduct(out, ldo, p, ld, rows, s.Prefix, kv, n, false)
	}
	a.rowProduct(out, ldo, p[n:], ld, rows, s.Own, kv, total-n, n > 0)
}

// rowProduct computes or adds P·V over the first n positions of a cache.
func (a Attention) rowProduct(out []float32, ldo int, p []float32, ld, rows int, kc *KVCache, kv, n int, acc bool) {
	d := a.HeadDim
	g := gemmRun{
		m: rows, n: d, k: n, ldb: 4 * d, acc: acc,
		y: unsafe.Pointer(&out[0]), ldy: 4 * ldo, x: unsafe.Pointer(&p[0]), ldx: 4 * ld,
	}
	if kc.V16 == nil {
		g.b = unsafe.Pointer(&kc.V[kv*kc.Cap*d])
		g.block(0, rows, 0, d)
		return
	}
	g.form, g.packed, g.ldb = formWiden, true, 4*panel
	for i := 0; i < d; i += panel {
		g.y, g.n = unsafe.Pointer(&out[i]), min(panel, d-i)
		g.b = unsafe.Pointer(&kc.V16[(kv*panels(d)+i/panel)*kc.Cap*panel])
		g.block(0, rows, 0, g.n)
	}
}
