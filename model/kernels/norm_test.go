package kernels

import (
	"math/rand/v2"
	"testing"
)

// The norm of all heads at once is that of one head after the other.
func TestRMSNormOfHeads(t *testing.T) {
	const n, ldx, ldy = 24, 5*24 + 3, 4*24 + 1
	pool := NewPool(2)
	defer pool.Close()
	each(t, func(t *testing.T) {
		for _, rows := range []int{1, 7, 300} {
			const heads = 4
			r := rand.New(rand.NewPCG(uint64(rows), 2))
			x, w := normal(r, rows*ldx), normal(r, n)
			y, inv := make([]float32, rows*ldy), make([]float32, heads*rows)
			one, oneInv := make([]float32, rows*ldy), make([]float32, heads*rows)
			pool.RMSNormHeads(y, ldy, x, ldx, rows, heads, n, w, 1e-6, inv)
			for h := range heads {
				pool.RMSNorm(one[h*n:], ldy, x[h*n:], ldx, rows, n, w, 1e-6, oneInv[h*rows:])
			}
			sameBits(t, "y", y, one)
			sameBits(t, "inv", inv, oneInv)
		}
	})
}
