package kernels

import (
	"fmt"
	"testing"
)

// Steps of several continuations, with and without a prefix in common, give the bits
// of the whole sequences, on one worker and on two.
func TestAttentionStepsGiveTheBitsOfWholeSequences(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	cases := []attentionCase{
		{Attention{6, 2, 32, 0.2}, nil, 70, []int{40, 35, 3, 41}, 0}, // enough memory for two workers
		{Attention{4, 4, 16, 0.3}, []int{5, 34}, 3, []int{2, 1}, 0},
		{Attention{2 * attentionRows, 1, 8, 0.3}, []int{4}, 2, []int{3, 3}, 0}, // one head's rows in two items
		{Attention{attentionRows + 1, 1, 8, 0.3}, []int{4}, 2, []int{3, 3}, 0},
	}
	each(t, func(t *testing.T) {
		for i, c := range cases {
			for kind := range 4 {
				b := newAttentionBatch(c, uint64(i))
				tail, half := kind&1 == 1, kind&2 == 2
				b.rounded = half
				b.fill()
				b.Forward(nil, b.out, b.ldq, b.q, b.ldq, b.spans, nil, &b.scratch)
				for _, p := range []*Pool{nil, pool} {
					b.checkSteps(t, p, fmt.Sprintf("case %d, tail %v, bfloat16 %v, %d workers", i, tail, half, p.Workers()), tail, half)
				}
			}
		}
	})
}

// checkSteps decodes all spans side by side, a row of each a step.
func (b *attentionBatch) checkSteps(t *testing.T, p *Pool, what string, tail, half bool) {
	t.Helper()
	own, longest := make([]*KVCache, len(b.spans)), 0
	for s, sp := range b.spans {
		own[s], longest = b.decodeCache(sp.Rows, tail, half), max(longest, sp.Rows)
	}
	n, nkv := b.Heads*b.HeadDim, b.KVHeads*b.HeadDim
	for r := range longest {
		var spans []Span
		var rows []int
		var q, k, v []float32
		for s, sp := range b.spans {
			if r >= sp.Rows {
				continue
			}
			row := sp.Row + r
			spans = append(spans, Span{Row: len(rows), Rows: 1, Prefix: sp.Prefix, Own: own[s]})
			rows = append(rows, row)
			q = append(q, b.q[row*b.ldq:][:n]...)
			k = append(k, b.k[row*b.ldkv:][:nkv]...)
			v = append(v, b.v[row*b.ldkv:][:nkv]...)
		}
		out := make([]float32, len(q))
		b.Step(p, out, n, q, n, k, nkv, v, nkv, spans, &b.scratch)
		for i, row := range rows {
			sameBits(t, fmt.Sprintf("%s: row %d", what, row), out[i*n:], b.out[row*b.ldq:][:n])
		}
	}
}
