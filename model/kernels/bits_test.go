package kernels

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"testing"
)

// digest is the hash of everything goldenBits computes: the same on every machine,
// architecture and implementation. A change of it changes the bits of every run.
const digest = "6fa2cd8d72797d4c"

func TestGoldenBitsAreTheSameEverywhere(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	each(t, func(t *testing.T) {
		for _, p := range []*Pool{nil, pool} {
			h := sha256.New()
			goldenBits(p, h)
			if got := hex.EncodeToString(h.Sum(nil))[:16]; got != digest {
				t.Errorf("%d workers: digest %s, want %s", p.Workers(), got, digest)
			}
		}
	})
}

// uneven gives n values in [-1, 1) from a counter, without any rounding.
func uneven(seed uint32, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		seed = seed*1664525 + 1013904223
		x[i] = float32(int32(seed)>>8) / (1 << 23)
	}
	return x
}

func goldenBits(p *Pool, h hash.Hash) {
	put := func(x []float32) {
		for _, v := range x {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
			h.Write(b[:])
		}
	}
	const rows, n, k = 19, 40, 36
	x, w, y := uneven(1, rows*k), uneven(2, n*k), make([]float32, rows*n)
	half := make([]uint16, len(w))
	for i, v := range w {
		half[i] = BF16(v)
	}
	for _, m := range []*Matrix{PackF32(w, n, k), PackBF16(half, n, k), PackNumerics(half, n, k, F32x3), PackNumerics(half, n, k, BF16Products)} {
		p.MatMul(y, n, x, k, rows, m, false)
		put(y)
		tx := uneven(8, rows*k)
		p.MatMulT(tx, k, y, n, rows, m, true)
		put(tx)
	}
	p.GradW(w, y, n, x, k, rows, n, k)
	put(w)

	x, inv, dx, dw := uneven(3, rows*k), make([]float32, rows), uneven(4, rows*k), uneven(5, k)
	p.RMSNorm(y, k, x, k, rows, k, w, 1e-6, inv)
	p.RMSNormBackward(dx, k, dw, y[:rows*k], k, x, k, rows, k, w, inv)
	put(dx)
	put(dw)
	p.SiLUGate(y, k, x, k, dx, k, rows, k)
	p.SiLUGateBackward(x, k, dx, k, y, k, x, k, dx, k, rows, k)
	put(x)
	put(dx)
	m, v := uneven(6, rows*k), make([]float32, rows*k)
	for range 4 {
		p.AdamW(x, dx, m, v, AdamW{Decay: 0.999, Rate: 0.0123, Root: 0.345, B1: 0.9, C1: 0.1, B2: 0.99, C2: 0.01, Eps: 1e-8})
	}
	put(x)
	put([]float32{float32(Norm2(x)), Log(3.7)})

	head := Head{W: PackF32(uneven(7, n*k), n, k), Temperature: 0.7}
	logp, entropy, targets := make([]float32, rows), make([]float32, rows), make([]int32, rows)
	var scratch Scratch
	head.Backward(p, dx, k, nil, logp, entropy, x, k, []int{0, 7, rows}, targets,
		func(_ int, lp, en []float32) (_, _ []float32) { return lp, en }, &scratch)
	put(logp)
	put(entropy)
	for i, c := range attentionCases {
		b := newAttentionBatch(c, 1)
		copy(b.q, uneven(uint32(10+i), len(b.q)))
		copy(b.k, uneven(uint32(20+i), len(b.k)))
		copy(b.v, uneven(uint32(30+i), len(b.v)))
		b.fill()
		b.Forward(p, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
		dq, dk, dv := make([]float32, len(b.q)), make([]float32, len(b.k)), make([]float32, len(b.v))
		b.Backward(p, dq, b.ldq, dk, dv, b.ldkv, b.out, b.ldq, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
		for _, g := range [][]float32{b.out, dq, dk, dv} {
			put(g)
		}
	}
}
