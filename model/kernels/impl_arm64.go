//go:build !purego

package kernels

import "unsafe"

//go:generate go run ./_asm

// usable: every arm64 processor has NEON.
func usable(f family) bool { return f == generic || f == neon }

func pause() {}

func fetch(unsafe.Pointer, int) {}

func tileNN(h, width int, t tile, a, b, c unsafe.Pointer) {
	if active != neon || width%4 != 0 {
		tileNNGeneric(h, width, t, a, b, c)
		return
	}
	tileNNNEON(h, width/4, t, a, b, c)
}

func tileTN(h, width int, t tile, a, b, c unsafe.Pointer) {
	if active != neon || width%4 != 0 {
		tileTNGeneric(h, width, t, a, b, c)
		return
	}
	tileTNNEON(h, width/4, t, a, b, c)
}

func tileW16(h, width int, t tile, a, b, c unsafe.Pointer) {
	if active != neon || width%4 != 0 {
		tileW16Generic(h, width, t, a, b, c)
		return
	}
	tileW16NEON(h, width/4, t, a, b, c)
}

// The kinds in TDPBF16PS order have no assembly here: BFDOT and BFMMLA round
// differently, and FMLA flushes tiny numbers before rounding.

func tileChains(h, width int, t tile, a, b, c unsafe.Pointer) {
	tileChainsGeneric(h, width, t, a, b, c)
}

func tilePairs(h, width, tiles int, t tile, a, b, c unsafe.Pointer) { panic("kernels: no VDPBF16PS") }

func hasDot() bool { return false }

func dotPairs() bool { return false }

func splitRow(dst, x []float32, parts int) { splitRowGeneric(dst, x, parts) }

func pairRow(dst, x []float32, parts int) { pairRowGeneric(dst, x, parts) }

func peak(int) int { return 0 }

func read(x unsafe.Pointer, n int) { readGeneric(x, n) }
