package kernels

// Attention is the shape of causal grouped-query attention: query head h reads
// key-value head h / (Heads/KVHeads).
type Attention struct {
	Heads, KVHeads, HeadDim int
	Scale                   float32 // usually 1/sqrt(HeadDim); positive
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
	p.weighed(len(items), scratch.flops, scratch.bytes, work)
}

// weighed runs items on the workers if they hold enough work or wait for enough
// memory, else here.
func (p *Pool) weighed(n, flops, bytes int, f func(worker, i int)) {
	if flops < serialFlops/2 && bytes < serialBytes/8 || p.Workers() == 1 {
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
	a.scores(scores, ld, qp, lda, rows, s, kv, total, w)
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
