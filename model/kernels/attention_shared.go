package kernels

// forwardShared does the heads of one key-value head for single rows that stand
// next to each other and see one prefix: the prefix's keys and values are read once
// for all of them. The chains are those of forwardItem. Row h·len(spans)+s of the
// scratch belongs to head h of the group and span s.
func (a Attention) forwardShared(out []float32, ldo int, q []float32, ldq int, spans []Span, it *attentionItem, stats *Stats, w *workerScratch) {
	d, n := a.HeadDim, len(spans)
	pre, kv := spans[0].shared(), it.head/(a.Heads/a.KVHeads)
	longest := 0
	for i := range spans {
		longest = max(longest, spans[i].keys())
	}
	ld := (longest + panel - 1) &^ (panel - 1)
	scores := w.floats(0, it.heads*n*ld)
	qs, os := q[spans[0].Row*ldq+it.head*d:], out[spans[0].Row*ldo+it.head*d:]
	for h := range it.heads {
		a.panelProduct(scores[h*n*ld:], ld, qs[h*d:], ldq, n, spans[0].Prefix, kv, pre, w)
	}
	for i := range spans { // own keys: the rows of a span's heads are n rows apart
		s := &spans[i]
		a.panelProduct(scores[i*ld+pre:], n*ld, qs[i*ldq:], d, it.heads, s.Own, kv, s.Own.Len, w)
		for h := range it.heads {
			row := scores[(h*n+i)*ld:][:s.keys()]
			m := float32(rowMax(row) * a.Scale)
			inv := 1 / ExpRow(row, row, a.Scale, m)
			w.inv[h*n+i] = inv
			if stats != nil {
				at := s.Row*a.Heads + it.head + h
				stats.Max[at], stats.Inv[at] = m, inv
			}
		}
	}
	for h := range it.heads {
		a.rowProduct(os[h*d:], ldo, scores[h*n*ld:], ld, n, spans[0].Prefix, kv, pre, false)
	}
	for i := range spans {
		s := &spans[i]
		a.rowProduct(os[i*ldo:], d, scores[i*ld+pre:], n*ld, it.heads, s.Own, kv, s.Own.Len, true)
		for h := range it.heads {
			o := os[i*ldo+h*d:][:d]
			rowScale(o, w.inv[h*n+i], o)
		}
	}
}
