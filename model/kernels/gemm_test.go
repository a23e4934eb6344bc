package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// each runs f once per usable family.
func each(t *testing.T, f func(t *testing.T)) {
	for _, name := range Implementations() {
		t.Run(name, func(t *testing.T) {
			restore, err := Use(name)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

// arithmeticOnly skips a long test that has no concurrency of its own when races
// are looked for.
func arithmeticOnly(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic without concurrency")
	}
}

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %x (%v), want %x (%v)", what, i, math.Float32bits(got[i]), got[i], math.Float32bits(want[i]), want[i])
		}
	}
}

// chainMatMul is the definition of MatMul.
func chainMatMul(y []float32, ldy int, x []float32, ldx, m int, w []float32, n, k int, acc bool) {
	for r := range m {
		for c := range n {
			s := float32(0)
			if acc {
				s = y[r*ldy+c]
			}
			for i := range k {
				s = fma(x[r*ldx+i], w[c*k+i], s)
			}
			y[r*ldy+c] = s
		}
	}
}

var gemmShapes = []struct{ m, n, k int }{
	{1, 1, 1}, {1, 16, 3}, {2, 17, 8}, {3, 31, 7}, {4, 32, 16}, {5, 33, 17}, {6, 48, 48}, {7, 44, 48}, {8, 64, 64},
	{13, 63, 5}, {14, 65, 2}, {15, 40, 31}, {16, 48, 24}, {29, 100, 33}, {43, 7, 130}, {3, 40, 1100}, {200, 33, 9}, {2, 20, 4100}, {2, 4100, 20},
}

func TestProductsAreTheDefinedChains(t *testing.T) {
	pool := NewPool(3)
	defer pool.Close()
	each(t, func(t *testing.T) {
		for _, s := range gemmShapes {
			for _, acc := range []bool{false, true} {
				t.Run(fmt.Sprintf("%dx%dx%d acc=%v", s.m, s.n, s.k, acc), func(t *testing.T) {
					testProducts(t, pool, s.m, s.n, s.k, acc)
				})
			}
		}
	})
}

func testProducts(t *testing.T, pool *Pool, m, n, k int, acc bool) {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n*1000+k)))
	ldx, ldy := k+3, n+5
	x, y0, w := normal(r, m*ldx+8), normal(r, m*ldy+8), normal(r, n*k)
	want := append([]float32(nil), y0...)
	chainMatMul(want, ldy, x, ldx, m, w, n, k, acc)
	got := append([]float32(nil), y0...)
	wm := PackF32(w, n, k)
	pool.MatMul(got, ldy, x, ldx, m, wm, acc)
	sameBits(t, "MatMul", got, want)

	h := make([]uint16, n*k)
	wide := make([]float32, n*k)
	for i := range w {
		h[i] = BF16(w[i])
		wide[i] = FromBF16(h[i])
	}
	hm := PackBF16(h, n, k)
	copy(want, y0)
	chainMatMul(want, ldy, x, ldx, m, wide, n, k, acc)
	copy(got, y0)
	pool.MatMul(got, ldy, x, ldx, m, hm, acc)
	sameBits(t, "MatMul bf16", got, want)

	wt := make([]float32, n*k) // as [k, n]
	for i := range w {
		wt[i%k*n+i/k] = wide[i]
	}
	dx0 := normal(r, m*ldx+8)
	wantX := append([]float32(nil), dx0...)
	chainMatMul(wantX, ldx, y0, ldy, m, wt, k, n, acc)
	gotX := append([]float32(nil), dx0...)
	pool.MatMulT(gotX, ldx, y0, ldy, m, hm, acc)
	sameBits(t, "MatMulT bf16", gotX, wantX)
	wm.Repack(wide)
	copy(gotX, dx0)
	pool.MatMulT(gotX, ldx, y0, ldy, m, wm, acc)
	sameBits(t, "MatMulT", gotX, wantX)
	wm.Repack(wide)
	copy(gotX, dx0)
	pool.MatMulT(gotX, ldx, y0, ldy, m, wm, acc)
	sameBits(t, "MatMulT repacked", gotX, wantX)
	for c := range n {
		row := make([]float32, k)
		hm.Row(row, c)
		sameBits(t, "Row", row, wide[c*k:][:k])
	}

	dw := normal(r, n*k)
	wantW := append([]float32(nil), dw...)
	for c := range n {
		for i := range k {
			for q := range m {
				wantW[c*k+i] = fma(y0[q*ldy+c], x[q*ldx+i], wantW[c*k+i])
			}
		}
	}
	pool.GradW(dw, y0, ldy, x, ldx, m, n, k)
	sameBits(t, "GradW", dw, wantW)
}

// A row's result must not depend on the batch, nor on the number of workers.
func TestRowsDoNotDependOnTheBatch(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	each(t, func(t *testing.T) {
		const n, k, rows = 200, 96, 61
		r := rand.New(rand.NewPCG(5, 6))
		x, w := normal(r, rows*k), PackF32(normal(r, n*k), n, k)
		want := make([]float32, rows*n)
		for i := range rows {
			(*Pool)(nil).MatMul(want[i*n:], n, x[i*k:], k, 1, w, false)
		}
		for m := 1; m <= rows; m++ {
			got := make([]float32, m*n)
			pool.MatMul(got, n, x, k, m, w, false)
			sameBits(t, fmt.Sprintf("%d rows", m), got, want[:m*n])
		}
		big := normal(r, 700*k)
		one, two := make([]float32, 700*n), make([]float32, 700*n)
		(*Pool)(nil).MatMul(one, n, big, k, 700, w, false)
		pool.MatMul(two, n, big, k, 700, w, false)
		sameBits(t, "two workers", two, one)
	})
}

func TestShapesThatDoNotFitPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"short output": func() {
			Default().MatMul(make([]float32, 5), 3, make([]float32, 8), 4, 2, PackF32(make([]float32, 12), 3, 4), false)
		},
		"short weight": func() { PackF32(make([]float32, 5), 2, 3) },
		"small stride": func() { Default().GradW(make([]float32, 6), make([]float32, 6), 1, make([]float32, 9), 3, 3, 2, 3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
