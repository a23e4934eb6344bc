package kernels

import (
	"fmt"
	"testing"
)

// benchShapes are N x K of tiny studies, of a 0.6 B model, and its head.
var benchShapes = []struct{ n, k int }{{48, 48}, {192, 48}, {128, 128}, {1024, 1024}, {3072, 1024}, {1024, 3072}}

func BenchmarkMatMul(b *testing.B) {
	for _, kind := range []string{"f32", "bf16"} {
		for _, s := range benchShapes {
			for _, m := range []int{1, 8, 32, 256} {
				b.Run(fmt.Sprintf("%s/%dx%d/m=%d", kind, s.n, s.k, m), func(b *testing.B) { benchMatMul(b, kind, m, s.n, s.k) })
			}
		}
	}
}

func benchMatMul(b *testing.B, kind string, m, n, k int) {
	w := PackF32(make([]float32, n*k), n, k)
	if kind == "bf16" {
		w = PackBF16(make([]uint16, n*k), n, k)
	}
	x, y := ones(m*k), make([]float32, m*n)
	p := Default()
	b.ReportAllocs()
	for b.Loop() {
		p.MatMul(y, n, x, k, m, w, false)
	}
	b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

func BenchmarkGradW(b *testing.B) {
	for _, s := range benchShapes[:4] {
		const m = 256
		b.Run(fmt.Sprintf("%dx%d/m=%d", s.n, s.k, m), func(b *testing.B) {
			dw, dy, x := ones(s.n*s.k), ones(m*s.n), ones(m*s.k)
			for b.Loop() {
				Default().GradW(dw, dy, s.n, x, s.k, m, s.n, s.k)
			}
			b.ReportMetric(2*float64(m*s.n*s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// BenchmarkTiny times the operations of a tiny study's layer besides products:
// 256 rows of hidden 48, 12 sequences.
func BenchmarkTiny(b *testing.B) {
	const rows, hidden, ff, heads, hd, seqs, vocab = 256, 48, 128, 2, 24, 8, 44
	x, y, g := ones(rows*ff), ones(rows*ff), ones(rows*ff)
	w, inv := make([]float32, ff), make([]float32, rows*heads)
	for i := range x {
		x[i], g[i] = float32(i%17)/9-1, float32(i%13)/7-1
	}
	pos := make([]int32, rows)
	var p *Pool
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
	run("RMSNorm", func() { p.RMSNorm(y, hidden, x, hidden, rows, hidden, w, 1e-6, inv) })
	run("RMSNormBackward", func() { p.RMSNormBackward(y, hidden, w, x, hidden, x, hidden, rows, hidden, w, inv) })
	run("RMSNorm heads", func() { p.RMSNorm(y, hd, x, hd, rows*heads, hd, w, 1e-6, inv) })
	run("RoPE", func() { p.RoPE(y, hidden, rows, heads, hd, pos, w, w) })
	run("SiLUGate", func() { p.SiLUGate(y, ff, x, ff, g, ff, rows, ff) })
	run("SiLUGateBackward", func() { p.SiLUGateBackward(y, ff, y, ff, x, ff, x, ff, g, ff, rows, ff) })
	run("AdamW 42k", func() {
		p.AdamW(x, y, g, g, AdamW{Decay: 1, Rate: 1e-9, Root: .3, B1: .9, C1: .1, B2: .99, C2: .01, Eps: 1})
	})

	a := Attention{Heads: heads, KVHeads: heads, HeadDim: hd, Scale: 0.2}
	var spans []Span
	for s := range seqs {
		c := a.NewCache(rows / seqs)
		c.Row = s * rows / seqs
		a.Append(c, x[c.Row*hidden:], hidden, g[c.Row*hidden:], hidden, rows/seqs)
		spans = append(spans, Span{Row: c.Row, Rows: rows / seqs, Own: c})
	}
	st, scratch := a.NewStats(rows), Scratch{}
	out, dk, dv := ones(rows*hidden), ones(rows*hidden), ones(rows*hidden)
	run("Append", func() {
		for _, s := range spans {
			s.Own.Len = 0
			a.Append(s.Own, x, hidden, g, hidden, rows/seqs)
		}
	})
	run("Attention", func() { a.Forward(p, out, hidden, x, hidden, spans, st, &scratch) })
	run("AttentionBackward", func() {
		a.Backward(p, y, hidden, dk, dv, hidden, g, hidden, out, hidden, x, hidden, spans, st, &scratch)
	})
	decode := make([]Span, 0, seqs)
	for s := range seqs {
		decode = append(decode, Span{Row: s, Rows: 1, Own: spans[s].Own})
	}
	run("decode 8 rows", func() { a.Forward(p, out, hidden, x, hidden, decode, nil, &scratch) })

	h := Head{W: PackF32(make([]float32, vocab*hidden), vocab, hidden)}
	logp, ent, dl, targets, bounds := make([]float32, rows), make([]float32, rows), make([]float32, rows), make([]int32, rows), []int{0, rows}
	run("Head", func() { h.LogProbs(p, logp, ent, x, hidden, rows, targets, &scratch) })
	run("HeadBackward", func() {
		h.Backward(p, y, hidden, dk[:vocab*hidden], logp, ent, x, hidden, bounds, targets,
			func(int, []float32, []float32) (_, _ []float32) { return dl, nil }, &scratch)
	})
}

// BenchmarkAttention is one 512-token sequence in a layer of the 0.6 B shape, and
// one decoding step of eight sequences at that length.
func BenchmarkAttention(b *testing.B) {
	const rows, seqs = 512, 8
	a := Attention{Heads: 16, KVHeads: 8, HeadDim: 128, Scale: 0.088}
	ld, ldkv := a.Heads*a.HeadDim, a.KVHeads*a.HeadDim
	q, out, dq, dout := ones(rows*ld), ones(rows*ld), ones(rows*ld), ones(rows*ld)
	kv, dk, dv := ones(rows*ldkv), ones(rows*ldkv), ones(rows*ldkv)
	for i := range q {
		q[i] = float32(i%17)/9 - 1
	}
	c := a.NewCache(rows)
	a.Append(c, kv, ldkv, kv, ldkv, rows)
	spans, st := []Span{{Rows: rows, Own: c}}, a.NewStats(rows)
	var scratch Scratch
	p := Default()
	flops := 2.0 * rows * rows * float64(ld)
	rate := func(b *testing.B, flops float64) {
		b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
	}
	b.Run("forward", func(b *testing.B) {
		for b.Loop() {
			a.Forward(p, out, ld, q, ld, spans, st, &scratch)
		}
		rate(b, flops)
	})
	b.Run("backward", func(b *testing.B) {
		for b.Loop() {
			a.Backward(p, dq, ld, dk, dv, ldkv, dout, ld, out, ld, q, ld, spans, st, &scratch)
		}
		rate(b, 2.5*flops)
	})
	var decode []Span
	for s := range seqs {
		decode = append(decode, Span{Row: s, Rows: 1, Own: c})
	}
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			a.Forward(p, out, ld, q, ld, decode, nil, &scratch)
		}
		rate(b, 4*rows*seqs*float64(ld))
	})
}

// BenchmarkHead is 128 rows through the head of the 0.6 B shape.
func BenchmarkHead(b *testing.B) {
	const v, k, rows = 151936, 1024, 128
	h := Head{W: PackBF16(make([]uint16, v*k), v, k)}
	x, dx, logp, ent := ones(rows*k), ones(rows*k), make([]float32, rows), make([]float32, rows)
	targets, bounds := make([]int32, rows), []int{0, rows}
	var scratch Scratch
	for _, kind := range []string{"forward", "backward"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				if kind == "forward" {
					h.LogProbs(Default(), logp, ent, x, k, rows, targets, &scratch)
				} else {
					h.Backward(Default(), dx, k, nil, logp, ent, x, k, bounds, targets, func(int, []float32, []float32) (_, _ []float32) { return logp, ent }, &scratch)
				}
			}
			gemms := map[string]float64{"forward": 2, "backward": 4}[kind]
			b.ReportMetric(gemms*v*k*rows*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// BenchmarkPack is the load of a weight of the 0.6 B shape.
func BenchmarkPack(b *testing.B) {
	const n, k = 3072, 1024
	w := make([]uint16, n*k)
	dy, dx := ones(n), ones(k)
	for _, kind := range []Numerics{F32, BF16Products} {
		b.Run(kind.String(), func(b *testing.B) {
			b.SetBytes(2 * n * k)
			for b.Loop() {
				PackNumerics(w, n, k, kind)
			}
		})
		b.Run(kind.String()+" both", func(b *testing.B) {
			b.SetBytes(2 * n * k)
			for b.Loop() {
				(*Pool)(nil).MatMulT(dx, k, dy, n, 1, PackNumerics(w, n, k, kind), false)
			}
		})
	}
}
