package kernels

import (
	"fmt"
	"unsafe"
)

// Attention is the shape of causal grouped-query attention: query head h reads
// key-value head h / (Heads/KVHeads).
type Attention struct {
	Heads, KVHeads, HeadDim int
	Scale                   float32 // usually 1/sqrt(HeadDim); positive
}

// KVCache holds the keys and values of the first Len positions of one sequence in
// one layer: keys in panels [KVHeads][Cap/32][HeadDim][32], values in rows
// [KVHeads][Cap][HeadDim]. The trainer and the sampler use the same.
type KVCache struct {
	K, V     []float32
	Cap, Len int
	// Row is the row of position 0 in the gradients dk and dv of Backward.
	Row int
}

// Span is a run of consecutive query rows of one sequence. The rows are the last
// Rows positions of Own; a row sees all of Prefix (which may be nil, or shared by
// several spans) and the positions of Own up to its own.
type Span struct {
	Row, Rows   int
	Prefix, Own *KVCache
}

// keys is the number of keys seen by the span's last row.
func (s *Span) keys() int { return s.Own.Len + s.shared() }

func (s *Span) shared() int {
	if s.Prefix == nil {
		return 0
	}
	return s.Prefix.Len
}

// CacheLen returns the lengths of K and V for a cache of the given capacity,
// which is rounded up to a multiple of 32.
func (a Attention) CacheLen(capacity int) (k, v, rounded int) {
	rounded = panels(capacity) * panel
	n := a.KVHeads * rounded * a.HeadDim
	return n, n, rounded
}

// NewCache returns an empty cache for at least capacity positions.
func (a Attention) NewCache(capacity int) *KVCache {
	k, v, c := a.CacheLen(capacity)
	return &KVCache{K: alignedF32(k), V: alignedF32(v), Cap: c}
}

// Append stores rows of keys (already rotated) and values, KVHeads·HeadDim each,
// at the end of the cache.
func (a Attention) Append(c *KVCache, k []float32, ldk int, v []float32, ldv, rows int) {
	if c.Len+rows > c.Cap {
		panic(fmt.Sprintf("kernels: key-value cache of %d positions is full", c.Cap))
	}
	d := a.HeadDim
	for h := range a.KVHeads {
		kh, vh := c.K[h*c.Cap*d:][:c.Cap*d], c.V[h*c.Cap*d:][:c.Cap*d]
		for r := range rows {
			j := c.Len + r
			p := kh[j/panel*d*panel+j%panel:]
			for i, x := range k[r*ldk+h*d:][:d] {
				p[i*panel] = x
			}
			copy(vh[j*d:][:d], v[r*ldv+h*d:][:d])
		}
	}
	c.Len += rows
}

// Stats holds, for each query row and head, what Backward needs to rebuild the
// probabilities: the largest scaled score and one over the sum.
type Stats struct{ Max, Inv []float32 }

// NewStats returns room for rows query rows.
func (a Attention) NewStats(rows int) *Stats {
	return &Stats{Max: make([]float32, rows*a.Heads), Inv: make([]float32, rows*a.Heads)}
}

// attentionRows is the number of query rows of one head worked on together.
const attentionRows = 28

// Forward computes out = softmax(q·Kᵀ·Scale)·V for the rows of all spans. Row r of
// q and out holds Heads·HeadDim values with strides ldq and ldo. Keys are summed in
// order; the softmax sum runs in lanes over the absolute key index. stats may be nil.
func (a Attention) Forward(p *Pool, out []float32, ldo int, q []float32, ldq int, spans []Span, stats *Stats, scratch *Scratch) {
	items := scratch.cut(spans, a, false)
	scratch.room(p.Workers())
	work := func(w, i int) {
		it := &items[i]
		if it.shared {
			a.forwardShared(out, ldo, q, ldq, spans[it.r0:it.r1], it, stats, &scratch.worker[w])
			return
		}
		a.forwardItem(out, ldo, q, ldq, &spans[it.span], it, stats, &scratch.worker[w])
	}
	p.weighed(len(items), scratch.flops, work)
}

// weighed runs items on the workers if they hold enough work, else here.
func (p *Pool) weighed(n, flops int, f func(worker, i int)) {
	if flops < serialFlops/2 || p.Workers() == 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	p.Run(n, f)
}

// forwardItem does rows [it.r0, it.r1) of one span and head. For a single row it
// does all heads of one key-value head, so that the cache is read once.
func (a Attention) forwardItem(out []float32, ldo int, q []float32, ldq int, s *Span, it *attentionItem, stats *Stats, w *workerScratch) {
	d := a.HeadDim
	rows, lda, ldc := it.r1-it.r0, ldq, ldo
	if it.heads > 1 {
		rows, lda, ldc = it.heads, d, d
	}
	kv := it.head / (a.Heads / a.KVHeads)
	first := s.Own.Len - s.Rows + it.r0 // own position of the first row
	total := s.shared() + first + it.r1 - it.r0
	ld := (total + panel - 1) &^ (panel - 1)
	scores := w.floats(0, rows*ld)
	qp := q[(s.Row+it.r0)*ldq+it.head*d:]
	op := out[(s.Row+it.r0)*ldo+it.head*d:]
	qp, lda = w.gather(1, qp, lda, rows, d)
	a.scores(scores, ld, qp, lda, rows, s, kv, total)
	for r := range rows {
		n := total
		if it.heads == 1 {
			n = s.shared() + first + r + 1
		}
		row := scores[r*ld:][:n]
		m := float32(rowMax(row) * a.Scale)
		inv := 1 / ExpRow(row, row, a.Scale, m)
		clear(scores[r*ld+n : r*ld+total])
		w.inv[r] = inv
		if stats != nil {
			at := (s.Row+it.r0+r)*a.Heads + it.head
			if it.heads > 1 {
				at = (s.Row+it.r0)*a.Heads + it.head + r
			}
			stats.Max[at], stats.Inv[at] = m, inv
		}
	}
	a.values(op, ldc, scores, ld, rows, s, kv, total)
	for r := range rows {
		o := op[r*ldc:][:d]
		rowScale(o, w.inv[r], o)
	}
}

// scores computes q·Kᵀ for keys [0, total) of prefix and own.
func (a Attention) scores(c []float32, ld int, q []float32, ldq, rows int, s *Span, kv, total int) {
	a.panelProduct(c, ld, q, ldq, rows, s.Prefix, kv, s.shared())
	a.panelProduct(c[s.shared():], ld, q, ldq, rows, s.Own, kv, total-s.shared())
}

func (a Attention) panelProduct(c []float32, ld int, q []float32, ldq, rows int, kc *KVCache, kv, n int) {
	if n == 0 {
		return
	}
	g := gemmRun{
		m: rows, n: n, k: a.HeadDim, packed: true, ldb: 4 * panel,
		y: unsafe.Pointer(&c[0]), ldy: 4 * ld, x: unsafe.Pointer(&q[0]), ldx: 4 * ldq,
		b: unsafe.Pointer(&kc.K[kv*kc.Cap*a.HeadDim]),
	}
	g.block(0, rows, 0, n)
}

// values computes out = P·V over keys [0, total), one chain over prefix and own.
func (a Attention) values(out []float32, ldo int, p []float32, ld, rows int, s *Span, kv, total int) {
	n := s.shared()
	if n > 0 {
		a.rowProduct(out, ldo, p, ld, rows, s.Prefix, kv, n, false)
	}
	a.rowProduct(out, ldo, p[n:], ld, rows, s.Own, kv, total-n, n > 0)
}

func (a Attention) rowProduct(out []float32, ldo int, p []float32, ld, rows int, kc *KVCache, kv, n int, acc bool) {
	g := gemmRun{
		m: rows, n: a.HeadDim, k: n, ldb: 4 * a.HeadDim, acc: acc,
		y: unsafe.Pointer(&out[0]), ldy: 4 * ldo, x: unsafe.Pointer(&p[0]), ldx: 4 * ld,
		b: unsafe.Pointer(&kc.V[kv*kc.Cap*a.HeadDim]),
	}
	g.block(0, rows, 0, a.HeadDim)
}
