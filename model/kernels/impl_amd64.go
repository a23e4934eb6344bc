//go:build !purego

package kernels

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./_asm

// pause tells the processor that this is a spin loop.
func pause()

func usable(f family) bool {
	switch f {
	case generic:
		return true
	case avx2:
		return cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2
	case avx512:
		return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2
	}
	return false
}

func tileNN(h, width int, t tile, a, b, c unsafe.Pointer) {
	switch active {
	case avx512:
		if width == 32 {
			tileNNAVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 32)
			return
		}
		tileNNAVX512x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, width)
	case avx2:
		if width == 16 {
			tileNNAVX2x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 16)
			return
		}
		for i := 0; i < h; i += 4 {
			tileNNAVX2x0(min(4, h-i), t.k, unsafe.Add(a, i*t.lda), t.lda, b, t.ldb, unsafe.Add(c, i*t.ldc), t.ldc, t.acc, t.ahead, width)
		}
	default:
		tileNNGeneric(h, width, t, a, b, c)
	}
}

func tileTN(h, width int, t tile, a, b, c unsafe.Pointer) {
	switch active {
	case avx512:
		if width == 32 {
			tileTNAVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 32)
			return
		}
		tileTNAVX512x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, width)
	case avx2:
		if width == 16 {
			tileTNAVX2x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 16)
			return
		}
		for i := 0; i < h; i += 4 {
			tileTNAVX2x0(min(4, h-i), t.k, unsafe.Add(a, 4*i), t.lda, b, t.ldb, unsafe.Add(c, i*t.ldc), t.ldc, t.acc, t.ahead, width)
		}
	default:
		tileTNGeneric(h, width, t, a, b, c)
	}
}

func tileW16(h, width int, t tile, a, b, c unsafe.Pointer) {
	switch active {
	case avx512:
		if width == 32 {
			tileW16AVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 32)
			return
		}
		tileW16AVX512x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, width)
	case avx2:
		if width == 16 {
			tileW16AVX2x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 16)
			return
		}
		for i := 0; i < h; i += 4 {
			tileW16AVX2x0(min(4, h-i), t.k, unsafe.Add(a, i*t.lda), t.lda, b, t.ldb, unsafe.Add(c, i*t.ldc), t.ldc, t.acc, t.ahead, width)
		}
	default:
		tileW16Generic(h, width, t, a, b, c)
	}
}

func tileChains(h, width int, t tile, a, b, c unsafe.Pointer) {
	tileChainsGeneric(h, width, t, a, b, c)
}

func tilePairs(h, width int, t tile, a, b, c unsafe.Pointer) { panic("kernels: no VDPBF16PS") }

func hasDot() bool { return false }

func dotPairs() bool { return false }

func splitRow(dst, x []float32, parts int) { splitRowGeneric(dst, x, parts) }

func pairRow(dst, x []float32, parts int) { pairRowGeneric(dst, x, parts) }
