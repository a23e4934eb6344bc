//go:build purego || (!amd64 && !arm64)

package kernels

import "unsafe"

func usable(f family) bool { return f == generic }

func pause() {}

func fetch(unsafe.Pointer, int) {}

func tileNN(h, width int, t tile, a, b, c unsafe.Pointer) { tileNNGeneric(h, width, t, a, b, c) }

func tileTN(h, width int, t tile, a, b, c unsafe.Pointer) { tileTNGeneric(h, width, t, a, b, c) }

func tileW16(h, width int, t tile, a, b, c unsafe.Pointer) { tileW16Generic(h, width, t, a, b, c) }

func peak(int) int { return 0 }

func read(x unsafe.Pointer, n int) { readGeneric(x, n) }

func tileChains(h, width int, t tile, a, b, c unsafe.Pointer) {
	tileChainsGeneric(h, width, t, a, b, c)
}

func tilePairs(h, width, tiles int, t tile, a, b, c unsafe.Pointer) { panic("kernels: no VDPBF16PS") }

func hasDot() bool { return false }

func dotPairs() bool { return false }

func splitRow(dst, x []float32, parts int) { splitRowGeneric(dst, x, parts) }

func pairRow(dst, x []float32, parts int) { pairRowGeneric(dst, x, parts) }
