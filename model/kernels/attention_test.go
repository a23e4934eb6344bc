package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// attentionCase is a small batch: lengths of sequences without a prefix, then one
// prefix with completions.
type attentionCase struct {
	Attention
	lens        []int
	prefix      int
	completions []int
	pad         int // more floats between rows
}

var attentionCases = []attentionCase{
	{Attention{2, 1, 8, 0.35}, []int{1, 5, 40}, 0, nil, 0},
	{Attention{3, 3, 16, 0.25}, []int{33, 2}, 0, nil, 0},
	{Attention{4, 2, 24, 0.2}, []int{70}, 37, []int{3, 1, 30}, 0},
	{Attention{6, 2, 32, 0.2}, nil, 64, []int{40, 41}, 0},
}

// farCases has rows so far apart that they are copied together first.
var farCases = append(attentionCases[:len(attentionCases):len(attentionCases)],
	attentionCase{Attention{4, 2, 16, 0.3}, []int{35}, 20, []int{3, 30}, farApart})

type attentionBatch struct {
	attentionCase
	rows       int
	q, k, v    []float32
	ldq, ldkv  int
	spans      []Span
	stats      *Stats
	scratch    Scratch
	out        []float32
	rounded    bool    // keys and values to bfloat16
	rowsOfSpan [][]int // for each span the rows of the keys its last row sees, in order
}

func newAttentionBatch(c attentionCase, seed uint64) *attentionBatch {
	b := &attentionBatch{attentionCase: c, ldq: c.Heads*c.HeadDim + 4 + c.pad, ldkv: c.KVHeads*c.HeadDim + 2 + c.pad}
	for _, n := range append(append([]int{c.prefix}, c.completions...), c.lens...) {
		b.rows += n
	}
	r := rand.New(rand.NewPCG(seed, 1))
	b.q, b.k, b.v = normal(r, b.rows*b.ldq), normal(r, b.rows*b.ldkv), normal(r, b.rows*b.ldkv)
	b.out, b.stats = make([]float32, b.rows*b.ldq), c.NewStats(b.rows)
	b.fill()
	return b
}

// fill makes the spans and caches from k and v.
func (b *attentionBatch) fill() {
	b.spans, b.rowsOfSpan = nil, nil
	row := 0
	add := func(n int, prefix *KVCache, before []int) ([]int, *KVCache) {
		c := b.NewCache(n)
		c.Row, c.Rounded = row, b.rounded
		b.Append(c, b.k[row*b.ldkv:], b.ldkv, b.v[row*b.ldkv:], b.ldkv, n)
		rows := append([]int(nil), before...)
		for i := range n {
			rows = append(rows, row+i)
		}
		b.spans = append(b.spans, Span{Row: row, Rows: n, Prefix: prefix, Own: c})
		b.rowsOfSpan = append(b.rowsOfSpan, rows)
		row += n
		return rows, c
	}
	if b.prefix > 0 {
		before, c := add(b.prefix, nil, nil)
		for _, n := range b.completions {
			add(n, c, before)
		}
	}
	for _, n := range b.lens {
		add(n, nil, nil)
	}
}

// reference is attention in float64 by its definition.
func (b *attentionBatch) reference() []float64 {
	out := make([]float64, b.rows*b.ldq)
	for s, sp := range b.spans {
		for i := range sp.Rows {
			keys := b.rowsOfSpan[s][:len(b.rowsOfSpan[s])-sp.Rows+i+1]
			for h := range b.Heads {
				b.referenceRow(out, sp.Row+i, h, keys)
			}
		}
	}
	return out
}

func (b *attentionBatch) referenceRow(out []float64, row, h int, keys []int) {
	kv := h / (b.Heads / b.KVHeads) * b.HeadDim
	p := make([]float64, len(keys))
	top, sum := math.Inf(-1), 0.0
	for j, kr := range keys {
		for d := range b.HeadDim {
			p[j] += float64(b.q[row*b.ldq+h*b.HeadDim+d]) * float64(b.k[kr*b.ldkv+kv+d])
		}
		p[j] *= float64(b.Scale)
		top = max(top, p[j])
	}
	for j := range p {
		p[j] = math.Exp(p[j] - top)
		sum += p[j]
	}
	for j, kr := range keys {
		for d := range b.HeadDim {
			out[row*b.ldq+h*b.HeadDim+d] += p[j] / sum * float64(b.v[kr*b.ldkv+kv+d])
		}
	}
}

func TestAttentionIsItsDefinition(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	each(t, func(t *testing.T) {
		for i, c := range farCases {
			b := newAttentionBatch(c, uint64(i))
			b.Forward(pool, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
			for j, want := range b.reference() {
				if math.Abs(float64(b.out[j])-want) > 3e-6 {
					t.Fatalf("case %d: out[%d] = %v, want %v", i, j, b.out[j], want)
				}
			}
		}
	})
}

// Decoding one row at a time must give the bits of the whole sequence, whatever
// the prefix is shared with.
func TestAttentionDecodesTheSameBits(t *testing.T) {
	var first []float32
	each(t, func(t *testing.T) {
		var all []float32
		for i, c := range farCases {
			b := newAttentionBatch(c, uint64(i))
			b.Forward(nil, b.out, b.ldq, b.q, b.ldq, b.spans, nil, &b.scratch)
			all = append(all, b.out...)
			got := make([]float32, len(b.out))
			for s, sp := range b.spans {
				joined := b.NewCache(len(b.rowsOfSpan[s]))
				own := b.NewCache(sp.Rows)
				for _, row := range b.rowsOfSpan[s][:len(b.rowsOfSpan[s])-sp.Rows] {
					b.Append(joined, b.k[row*b.ldkv:], b.ldkv, b.v[row*b.ldkv:], b.ldkv, 1)
				}
				for r := range sp.Rows {
					row := sp.Row + r
					b.Append(joined, b.k[row*b.ldkv:], b.ldkv, b.v[row*b.ldkv:], b.ldkv, 1)
					b.Append(own, b.k[row*b.ldkv:], b.ldkv, b.v[row*b.ldkv:], b.ldkv, 1)
					for _, one := range []Span{{row, 1, nil, joined}, {row, 1, sp.Prefix, own}} {
						b.Forward(nil, got, b.ldq, b.q, b.ldq, []Span{one}, nil, &b.scratch)
						sameBits(t, fmt.Sprintf("case %d row %d", i, row), got[row*b.ldq:], b.out[row*b.ldq:][:b.Heads*b.HeadDim])
					}
				}
			}
		}
		if first == nil {
			first = all
		}
		sameBits(t, "families", all, first)
	})
}

// decodeCache is a cache of float32 or bfloat16, growing by single positions or not.
func (b *attentionBatch) decodeCache(n int, tail, half bool) *KVCache {
	c := b.NewCache(n)
	c.Rounded = b.rounded
	if tail {
		c.Tail = make([]float32, b.TailLen())
	}
	if half {
		k, v, _ := b.CacheLen16(n)
		c.K, c.V, c.K16, c.V16 = nil, nil, alignedU16(k), alignedU16(v)
	}
	return c
}

// Caches of every kind give the bits of the whole sequence, that of bfloat16 those
// of a sequence whose keys and values are rounded.
func TestAttentionDecodesTheSameBitsFromEveryCache(t *testing.T) {
	each(t, func(t *testing.T) {
		for i, c := range farCases {
			for kind := range 8 {
				b := newAttentionBatch(c, uint64(i))
				tail, half := kind&1 == 1, kind&2 == 2
				b.rounded = half || kind&4 == 4
				b.fill()
				b.Forward(nil, b.out, b.ldq, b.q, b.ldq, b.spans, nil, &b.scratch)
				for s := range b.spans {
					b.checkDecode(t, s, tail, half)
				}
			}
		}
	})
}

// checkDecode decodes span s row by row, its prefix first in pieces.
func (b *attentionBatch) checkDecode(t *testing.T, s int, tail, half bool) {
	t.Helper()
	sp, got := b.spans[s], make([]float32, len(b.out))
	own, pre := b.decodeCache(sp.Rows, tail, half), (*KVCache)(nil)
	if before := b.rowsOfSpan[s][:len(b.rowsOfSpan[s])-sp.Rows]; len(before) > 0 {
		pre = b.decodeCache(len(before), tail, half)
		for at, piece := 0, 1; at < len(before); at, piece = at+piece, piece+3 {
			piece = min(piece, len(before)-at)
			row := before[at] * b.ldkv
			b.Append(pre, b.k[row:], b.ldkv, b.v[row:], b.ldkv, piece)
		}
	}
	for r := range sp.Rows {
		one := []Span{{sp.Row + r, 1, pre, own}}
		b.Step(nil, got, b.ldq, b.q, b.ldq, b.k, b.ldkv, b.v, b.ldkv, one, &b.scratch)
		row := (sp.Row + r) * b.ldq
		sameBits(t, fmt.Sprintf("span %d row %d, tail %v, bfloat16 %v", s, r, tail, half), got[row:][:b.Heads*b.HeadDim], b.out[row:][:b.Heads*b.HeadDim])
	}
}

// Single rows that share a prefix are computed together: the same bits as alone.
func TestAttentionSharesAPrefixBetweenRows(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	each(t, func(t *testing.T) {
		for i, c := range []attentionCase{
			{Attention{4, 2, 24, 0.2}, []int{1, 1}, 37, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0},
			{Attention{6, 2, 32, 0.2}, nil, 64, []int{1, 1, 1}, 0},
			{Attention{2, 2, 10, 0.3}, nil, 3, []int{1, 5, 1, 1}, 0},
		} {
			b := newAttentionBatch(c, uint64(i))
			b.Forward(pool, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
			alone, st := make([]float32, len(b.out)), b.NewStats(b.rows)
			for j := range b.spans {
				b.Forward(nil, alone, b.ldq, b.q, b.ldq, b.spans[j:j+1], st, &b.scratch)
			}
			sameBits(t, "out", b.out, alone)
			sameBits(t, "max", b.stats.Max, st.Max)
			sameBits(t, "inv", b.stats.Inv, st.Inv)
		}
	})
}

func TestAttentionBackwardAgainstDifferences(t *testing.T) {
	arithmeticOnly(t)
	pool := NewPool(2)
	defer pool.Close()
	var first []float32
	each(t, func(t *testing.T) {
		var all []float32
		for i, c := range farCases {
			b := newAttentionBatch(c, uint64(i))
			dout := normal(rand.New(rand.NewPCG(9, 9)), len(b.out))
			dq, dk, dv := make([]float32, len(b.q)), make([]float32, len(b.k)), make([]float32, len(b.v))
			b.Forward(pool, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
			b.Backward(pool, dq, b.ldq, dk, dv, b.ldkv, dout, b.ldq, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
			all = append(append(append(all, dq...), dk...), dv...)
			r := rand.New(rand.NewPCG(4, 4))
			slopes := 12
			if testing.Short() {
				slopes = 2
			}
			for range slopes {
				b.checkSlope(t, "dq", b.q, dq, r.IntN(b.rows)*b.ldq+r.IntN(b.Heads*b.HeadDim), dout)
				b.checkSlope(t, "dk", b.k, dk, r.IntN(b.rows)*b.ldkv+r.IntN(b.KVHeads*b.HeadDim), dout)
				b.checkSlope(t, "dv", b.v, dv, r.IntN(b.rows)*b.ldkv+r.IntN(b.KVHeads*b.HeadDim), dout)
			}
		}
		if first == nil {
			first = all
		}
		sameBits(t, "families", all, first)
	})
}

// checkSlope compares one gradient with a difference of the float64 reference.
func (b *attentionBatch) checkSlope(t *testing.T, what string, x, dx []float32, i int, dout []float32) {
	t.Helper()
	const h = 1.0 / 256
	loss := func(v float32) (l float64) {
		old := x[i]
		x[i] = v
		for j, o := range b.reference() {
			if j%b.ldq < b.Heads*b.HeadDim {
				l += o * float64(dout[j])
			}
		}
		x[i] = old
		return l
	}
	up, down := x[i]+h, x[i]-h
	want := (loss(up) - loss(down)) / float64(up-down)
	if math.Abs(want-float64(dx[i])) > 2e-4*(1+math.Abs(want)) {
		t.Errorf("%s[%d] = %v, difference %v", what, i, dx[i], want)
	}
}
