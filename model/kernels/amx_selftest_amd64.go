//go:build !purego

package kernels

import (
	"fmt"
	"math"
	"unsafe"
)

// testTiles compares products by every AMX kernel with the portable order of sums.
// Kernels that give one other bit are never used.
func testTiles() error {
	const m, n, k = panel + 17, 2*panel + 11, 2*quad + 19
	x, w, sums := make([]float32, m*k), make([]uint16, n*k), make([]float32, m*n)
	testValues(x, k)
	testValues(sums, n)
	wide := make([]float32, n*k)
	testValues(wide, k)
	for i, v := range wide {
		w[i] = BF16(v)
	}
	rows := func(j, k0, k1 int, _ []uint16) (cols [][]uint16) {
		for c := j * panel; c < min((j+1)*panel, n); c++ {
			cols = append(cols, w[c*k+k0:c*k+k1])
		}
		return cols
	}
	blocks, tiles := packHalves(n, k, orderBlocks, rows), packHalves(n, k, orderTiles, rows)
	want, got := make([]float32, m*n), make([]float32, m*n)
	for _, parts := range []int{1, 3} {
		for _, acc := range []bool{false, true} {
			copy(want, sums)
			portableProduct(want, x, &blocks, m, parts, acc)
			for _, height := range []int{m, panel + 5, 5} {
				copy(got, sums)
				g := gemmRun{acc: acc, m: height, n: n, k: k, tile: tileRun{pass: 1}, packed: true,
					y: at(got), ldy: 4 * n, b: unsafe.Pointer(unsafe.SliceData(tiles.h))}
				(*Pool)(nil).splitTiles(g, x, k, parts)
				for i := range height * n {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						return fmt.Errorf("self-test failed: row %d of %d, column %d of a product in %d parts is %x, want %x",
							i/n, height, i%n, parts, math.Float32bits(got[i]), math.Float32bits(want[i]))
					}
				}
			}
		}
	}
	return nil
}

// testValues fills rows of n values from a counter. Rows differ in scale, so that
// some products are near the end of the range and their sums are flushed to zero.
func testValues(x []float32, n int) {
	scales := [...]float32{1, 0x1p-63, 3, 0x1p-62, 0x1p-64, 0x1p40}
	seed := uint32(len(x))
	for i := range x {
		seed = seed*1664525 + 1013904223
		x[i] = float32(int32(seed)>>8) / (1 << 23) * scales[i/n%len(scales)]
	}
}

// portableProduct is a product in TDPBF16PS order by the generic kernel.
func portableProduct(y, x []float32, w *operand, m, parts int, acc bool) {
	blocks := w.steps() / 16
	t := tile{k: blocks, lda: 4 * blocks * parts * quad, ldb: parts, ldc: 4 * w.n}
	if acc {
		t.acc = 1
	}
	left := make([]float32, m*blocks*parts*quad)
	for r := range m {
		splitRowGeneric(left[r*blocks*parts*quad:][:blocks*parts*quad], x[r*w.k:][:w.k], parts)
	}
	for j := range panels(w.n) {
		b := unsafe.Pointer(&w.h[j*w.steps()*panel*2])
		tileChainsGeneric(m, min(panel, w.n-j*panel), t, at(left), b, unsafe.Pointer(&y[j*panel]))
	}
}
