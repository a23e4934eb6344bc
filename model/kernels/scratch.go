package kernels

// Scratch is memory that attention and the head reuse from call to call. The zero
// value is ready; one Scratch serves one call at a time.
type Scratch struct {
	items  []attentionItem
	flops  int
	bytes  int // of keys and values that a forward pass reads, bfloat16 counted as float32
	worker []workerScratch
	head   headScratch
}

// attentionItem is a unit of attention work: rows [r0, r1) of a span, one head, or
// for single rows all heads of one key-value head.
// With shared set r0 and r1 are spans: single rows that stand next to each other and
// see one prefix, which is read once for all of them.
type attentionItem struct {
	span, head, heads, r0, r1 int
	shared                    bool
}

type workerScratch struct {
	buf [14][]float32
	inv [attentionRows]float32
}

// floats returns n floats of buffer i with undefined contents.
func (w *workerScratch) floats(i, n int) []float32 {
	if cap(w.buf[i]) < n {
		w.buf[i] = alignedF32(n + n/4 + 64)
	}
	return w.buf[i][:n]
}

// farApart is the row stride, in floats, from which a tile's rows fall into the same
// few sets of the first-level cache and are copied together first.
const farApart = 512

// gather returns rows of n values close together: x itself, or a copy in buffer i.
func (w *workerScratch) gather(i int, x []float32, ld, rows, n int) ([]float32, int) {
	if ld < farApart {
		return x, ld
	}
	y := w.floats(i, rows*n)
	copyRows(y, n, x, ld, rows, n)
	return y, n
}

func copyRows(y []float32, ldy int, x []float32, ldx, rows, n int) {
	for r := range rows {
		copy(y[r*ldy:][:n], x[r*ldx:][:n])
	}
}

// room makes sure of one workerScratch per worker.
func (s *Scratch) room(workers int) {
	for len(s.worker) < workers {
		s.worker = append(s.worker, workerScratch{})
	}
}

// cut lists the items of a forward pass, or of a backward one (one per key-value
// head and family of spans that share a prefix).
func (s *Scratch) cut(spans []Span, a Attention, backward bool) []attentionItem {
	s.items, s.flops, s.bytes = s.items[:0], 0, 0
	group := a.Heads / a.KVHeads
	for i := 0; i < len(spans); i++ {
		sp := &spans[i]
		s.flops += 4 * sp.Rows * sp.keys() * a.Heads * a.HeadDim
		s.bytes += 8 * sp.keys() * a.KVHeads * a.HeadDim
		switch {
		case backward:
			j := kinship(spans, i)
			for k := i + 1; k < j; k++ {
				s.flops += 4 * spans[k].Rows * spans[k].keys() * a.Heads * a.HeadDim
			}
			for h := range a.KVHeads {
				s.items = append(s.items, attentionItem{span: i, head: h, r1: j})
			}
			i = j - 1
		case sp.Rows == 1 && neighbours(spans, i) >= 2 && group <= attentionRows/2:
			j := i + min(neighbours(spans, i), attentionRows/group)
			for k := i + 1; k < j; k++ {
				s.flops += 4 * spans[k].keys() * a.Heads * a.HeadDim
				s.bytes += 8 * spans[k].Own.Len * a.KVHeads * a.HeadDim
			}
			for h := 0; h < a.Heads; h += group {
				s.items = append(s.items, attentionItem{head: h, heads: group, r0: i, r1: j, shared: true})
			}
			i = j - 1
		case sp.Rows == 1 && group <= attentionRows:
			for h := 0; h < a.Heads; h += group {
				s.items = append(s.items, attentionItem{span: i, head: h, heads: group, r1: 1})
			}
		default:
			for r := 0; r < sp.Rows; r += attentionRows {
				for h := range a.Heads {
					s.items = append(s.items, attentionItem{span: i, head: h, heads: 1, r0: r, r1: min(r+attentionRows, sp.Rows)})
				}
			}
		}
	}
	return s.items
}

// kinship returns the end of the run of spans from i on whose gradients meet in
// one prefix: they are worked through in order by one worker.
func kinship(spans []Span, i int) int {
	root := spans[i].Prefix
	if root == nil {
		root = spans[i].Own
	}
	j := i + 1
	for j < len(spans) && (spans[j].Prefix == root || spans[j].Own == root) {
		j++
	}
	return j
}

// neighbours is the number of spans from i on that are single rows, one after the
// other, with one prefix.
func neighbours(spans []Span, i int) int {
	n := 1
	for pre := spans[i].Prefix; pre != nil && pre.Len > 0 && i+n < len(spans); n++ {
		if s := &spans[i+n]; s.Rows != 1 || s.Prefix != pre || s.Row != spans[i].Row+n {
			break
		}
	}
	return n
}
