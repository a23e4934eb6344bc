package kernels

import "unsafe"

// Step is AppendSpans and Forward of spans of which none has another's own cache for
// its prefix. Where each is a single row, as in decoding, the worker that takes a
// key-value head stores that head's new keys and values and attends: one run in place
// of two, and each cache is fetched once, by one core.
func (a Attention) Step(p *Pool, out []float32, ldo int, q []float32, ldq int, k []float32, ldk int, v []float32, ldv int, spans []Span, scratch *Scratch) {
	for i := range spans {
		if spans[i].Rows != 1 || a.Heads/a.KVHeads > attentionRows { // a head is not one item's
			a.AppendSpans(p, spans, k, ldk, v, ldv)
			a.Forward(p, out, ldo, q, ldq, spans, nil, scratch)
			return
		}
	}
	for i := range spans {
		spans[i].Own.grow(1)
	}
	items := scratch.cut(spans, a, false)
	scratch.room(p.Workers())
	work := func(w, i int) {
		it := &items[i]
		from, to := it.span, it.span+1
		if it.shared {
			from, to = it.r0, it.r1
		}
		kv := it.head / (a.Heads / a.KVHeads)
		if pre := spans[from].Prefix; pre != nil {
			a.fetch(pre, kv)
		}
		for s := from; s < to; s++ {
			a.fetch(spans[s].Own, kv)
		}
		for s := from; s < to; s++ {
			own, r := spans[s].Own, spans[s].Row
			a.putHead(own, kv, own.Len-1, k[r*ldk:], v[r*ldv:])
		}
		if it.shared {
			a.forwardShared(out, ldo, q, ldq, spans[from:to], it, nil, &scratch.worker[w])
			return
		}
		a.forwardItem(out, ldo, q, ldq, &spans[from], it, nil, &scratch.worker[w])
	}
	p.weighed(len(items), scratch.flops, scratch.bytes, work)
}

// fetchBytes is how much of a run of keys or values is asked for ahead of its use:
// the processor notices longer runs by itself.
const fetchBytes = 16 << 10

// fetch asks for the memory that a step reads of one head. Between two steps the
// weights pass through the caches, so nothing of it is left there, and it lies in
// pieces too small for the processor to run ahead.
func (a Attention) fetch(c *KVCache, h int) {
	d := a.HeadDim
	whole := c.Len
	if c.Tail != nil {
		whole = c.Len &^ (panel - 1)
		fetch(unsafe.Pointer(&c.Tail[h*panel*d]), 4*d*(c.Len-whole))
	}
	if c.K == nil {
		return
	}
	if whole > 0 {
		fetch(unsafe.Pointer(&c.K[h*c.Cap*d]), min(4*d*panels(whole)*panel, fetchBytes))
	}
	fetch(unsafe.Pointer(&c.V[h*c.Cap*d]), min(4*d*c.Len, fetchBytes))
}
