package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAddendsAreProductsOfTheirOwn compares products that addends follow, cut over
// workers and not, with the same products one after the other, bit for bit.
func TestAddendsAreProductsOfTheirOwn(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var none *Pool
	rng := rand.New(rand.NewPCG(7, 7))
	fill := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	each(t, func(t *testing.T) {
		for _, kind := range []Numerics{F32, F32x3, BF16Products} {
			for _, s := range []struct{ m, n, k, rank, col int }{
				{1, 96, 64, 8, 32}, {7, 80, 33, 4, 48}, {40, 160, 96, 16, 64}, {190, 160, 1100, 8, 64}, {190, 250, 64, 8, 100},
			} {
				if raceEnabled && s.k > blockK {
					continue // too slow there; the others share as much
				}
				t.Run(fmt.Sprintf("%v/%dx%dx%d", kind, s.m, s.n, s.k), func(t *testing.T) {
					w := make([]uint16, s.n*s.k)
					for i := range w {
						w[i] = BF16(float32(rng.NormFloat64()))
					}
					base := PackNumerics(w, s.n, s.k, kind)
					whole := PackF32(fill(s.rank*s.n), s.rank, s.n) // transposed: [R, rank]·[rank, n]
					right := PackF32(fill((s.n-s.col)*s.rank), s.n-s.col, s.rank)
					x, u, y := fill(s.m*s.k), fill(s.m*s.rank), fill(s.m*s.n)
					top := s.m / 3 // the second one leaves the upper rows out
					then := []Addend{
						{Rows: s.m, X: u, LdX: s.rank, W: whole, Transposed: true},
						{Row: top, Rows: s.m - top, Col: s.col, X: u[top*s.rank:], LdX: s.rank, W: right},
					}
					want := append([]float32(nil), y...)
					none.MatMul(want, s.n, x, s.k, s.m, base, true)
					none.MatMulT(want, s.n, u, s.rank, s.m, whole, true)
					none.MatMul(want[top*s.n+s.col:], s.n, u[top*s.rank:], s.rank, s.m-top, right, true)
					for _, pool := range []*Pool{none, p} {
						got := append([]float32(nil), y...)
						pool.MatMul(got, s.n, x, s.k, s.m, base, true, then...)
						for i := range want {
							if got[i] != want[i] {
								t.Fatalf("%d workers: output %d is %v, one by one %v", pool.Workers(), i, got[i], want[i])
							}
						}
					}
				})
			}
		}
	})
}
