package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// tdp is the definition of the two kinds, one output: for 32 k and each part of x,
// smallest first, e and o are chains over even and odd k, and c += e + o.
func tdp(c float32, x, w []float32, kind Numerics) float32 {
	c = flush(c)
	for k0 := 0; k0 < len(x); k0 += 32 {
		for q := range kind.parts() {
			var s [2]float32
			for i := k0; i < min(k0+32, len(x)); i++ {
				v := splitValue(x[i], kind.parts())[q]
				s[i&1] = round64(float64(v)*float64(flush(w[i])) + float64(s[i&1]))
			}
			c = round64(float64(c) + float64(round64(float64(s[0])+float64(s[1]))))
		}
	}
	return c
}

// hardValues has moderate numbers, and some near the ends of the range.
func hardValues(r *rand.Rand, n int, hard bool) []float32 {
	x := normal(r, n)
	for i := range x {
		if hard && r.IntN(3) == 0 {
			x[i] *= float32(math.Ldexp(1, []int{-125, -70, -62, 60, -140}[r.IntN(5)]))
		}
	}
	return x
}

func TestSplitKindsAreTheDefinedSums(t *testing.T) {
	arithmeticOnly(t)
	pool := NewPool(2)
	defer pool.Close()
	eachDot(t, func(t *testing.T) {
		for _, kind := range []Numerics{F32x3, BF16Products} {
			for _, s := range []struct{ m, n, k int }{{1, 1, 1}, {2, 17, 31}, {3, 32, 32}, {4, 33, 33}, {5, 48, 64}, {6, 64, 100}, {7, 15, 130}, {13, 50, 40}, {3, 40, 1100}, {14, 20, 1100}, {40, 70, 96}, {400, 33, 34}} {
				for _, hard := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v %dx%dx%d hard=%v", kind, s.m, s.n, s.k, hard), func(t *testing.T) {
						testSplit(t, pool, kind, s.m, s.n, s.k, hard)
					})
				}
			}
		}
	})
}

// eachDot is each, with VDPBF16PS off and on where the machine has it.
func eachDot(t *testing.T, f func(t *testing.T)) {
	each(t, func(t *testing.T) {
		defer func(old bool) { dotOff = old }(dotOff)
		for _, dotOff = range []bool{true, false} {
			if !dotOff && !hasDot() {
				continue
			}
			t.Run(fmt.Sprintf("dot=%v", !dotOff), f)
		}
	})
}

func testSplit(t *testing.T, pool *Pool, kind Numerics, m, n, k int, hard bool) {
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	ldx, ldy := k+1, n+3
	x, y, w := hardValues(r, m*ldx, hard), hardValues(r, m*ldy, hard), hardValues(r, n*k, hard)
	h := make([]uint16, n*k)
	for i := range w {
		h[i] = BF16(w[i])
		w[i] = FromBF16(h[i])
	}
	mat := PackNumerics(h, n, k, kind)
	for _, acc := range []bool{false, true} {
		want, got := append([]float32(nil), y...), append([]float32(nil), y...)
		for i := range m {
			for c := range n {
				from := float32(0)
				if acc {
					from = y[i*ldy+c]
				}
				want[i*ldy+c] = tdp(from, x[i*ldx:][:k], w[c*k:][:k], kind)
			}
		}
		pool.MatMul(got, ldy, x, ldx, m, mat, acc)
		equalOrNaN(t, "MatMul", got, want)
		copy(got, y)
		(*Pool)(nil).MatMul(got, ldy, x, ldx, m, mat, acc)
		equalOrNaN(t, "by one worker", got, want)
		for i := range m { // one row at a time
			copy(got[i*ldy:][:n], y[i*ldy:])
			(*Pool)(nil).MatMul(got[i*ldy:], ldy, x[i*ldx:], ldx, 1, mat, acc)
		}
		equalOrNaN(t, "single rows", got, want)
	}
	dx, column := make([]float32, m*k), make([]float32, n)
	pool.MatMulT(dx, k, y, ldy, m, mat, false)
	for i := range k {
		for c := range column {
			column[c] = w[c*k+i]
		}
		for q := range m {
			want := tdp(0, y[q*ldy:][:n], column, kind)
			equalOrNaN(t, "MatMulT", dx[q*k+i:][:1], []float32{want})
		}
	}
	row := make([]float32, k)
	mat.Row(row, n-1)
	sameBits(t, "Row", row, w[(n-1)*k:])
}

// The conversions of left operands against their portable form, all tails and
// special values.
func TestConversionsOfLeftOperands(t *testing.T) {
	arithmeticOnly(t)
	eachDot(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 2))
		for n := 1; n < 100; n++ {
			x := make([]float32, n)
			for i := range x {
				x[i] = math.Float32frombits(r.Uint32())
				if r.IntN(4) == 0 {
					x[i] = float32(r.NormFloat64())
				}
			}
			for _, parts := range []int{1, 3} {
				want, got := make([]float32, (n+31)/32*32*parts), make([]float32, (n+31)/32*32*parts)
				splitRowGeneric(want, x, parts)
				splitRow(got, x, parts)
				equalOrNaN(t, "split", got, want)
				if hasDot() {
					pairRowGeneric(want[:len(want)/2], x, parts)
					pairRow(got[:len(want)/2], x, parts)
					equalOrNaN(t, "pairs", unpackPairs(got[:len(want)/2]), unpackPairs(want[:len(want)/2]))
				}
			}
		}
	})
}

// unpackPairs widens all words of a converted row.
func unpackPairs(x []float32) (y []float32) {
	for _, v := range x {
		u := math.Float32bits(v)
		y = append(y, FromBF16(uint16(u)), FromBF16(uint16(u>>16)))
	}
	return y
}

func equalOrNaN(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != got[i] && want[i] != want[i] {
			continue
		}
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %g (%x), want %g (%x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestThreePartsAreMoreExactThanAChain(t *testing.T) {
	const m, n, k = 8, 64, 1024
	r := rand.New(rand.NewPCG(1, 1))
	x, w, h := normal(r, m*k), normal(r, n*k), make([]uint16, n*k)
	for i := range w {
		h[i] = BF16(w[i])
		w[i] = FromBF16(h[i])
	}
	y := map[Numerics][]float32{}
	for _, kind := range []Numerics{F32, F32x3, BF16Products} {
		y[kind] = make([]float32, m*n)
		Default().MatMul(y[kind], n, x, k, m, PackNumerics(h, n, k, kind), false)
	}
	miss := map[Numerics]float64{}
	var size float64
	for i := range m {
		for c := range n {
			s := 0.0
			for j := range k {
				s += float64(x[i*k+j]) * float64(w[c*k+j])
			}
			size += s * s
			for kind := range y {
				d := float64(y[kind][i*n+c]) - s
				miss[kind] += d * d
			}
		}
	}
	for kind, limit := range map[Numerics]float64{F32: 1e-6, F32x3: 3e-7, BF16Products: 3e-3} {
		if rel := math.Sqrt(miss[kind] / size); rel > limit {
			t.Errorf("%v: relative error %.2g, limit %.2g", kind, rel, limit)
		}
	}
}

func TestParseNumerics(t *testing.T) {
	for _, k := range []Numerics{F32, F32x3, BF16Products} {
		if got, err := ParseNumerics(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if _, err := ParseNumerics("fp8"); err == nil {
		t.Error("fp8 accepted")
	}
}
