//go:build !purego

package kernels

import (
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./_asm

// pause tells the processor that this is a spin loop.
func pause()

// fetch brings n bytes at x nearer, in the background.
//
//go:noescape
func fetch(x unsafe.Pointer, n int)

func usable(f family) bool {
	switch f {
	case generic:
		return true
	case avx2:
		return cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2
	case avx512:
		return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2
	case amx:
		return AMX() == nil
	}
	return false
}

func tileNN(h, width int, t tile, a, b, c unsafe.Pointer) {
	switch active {
	case avx512:
		if width == 32 {
			tileNNAVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, t.step) // of whole tiles it takes no columns
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
	switch active {
	case avx512:
		if width == 32 {
			tileChainsAVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 32)
			return
		}
		tileChainsAVX512x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, width)
	case avx2:
		if width == 16 {
			tileChainsAVX2x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, 16)
			return
		}
		for i := 0; i < h; i += 2 {
			tileChainsAVX2x0(min(2, h-i), t.k, unsafe.Add(a, i*t.lda), t.lda, b, t.ldb, unsafe.Add(c, i*t.ldc), t.ldc, t.acc, t.ahead, width)
		}
	default:
		tileChainsGeneric(h, width, t, a, b, c)
	}
}

// tilePairs computes so many tiles of height h, one below the other.
func tilePairs(h, width, tiles int, t tile, a, b, c unsafe.Pointer) {
	if width == 32 {
		tilePairsAVX512x32(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, t.step, tiles)
		return
	}
	tilePairsAVX512x16(h, t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, width, tiles)
}

// hasDot tells whether VDPBF16PS can be used with the family in use.
func hasDot() bool { return active == avx512 && cpu.X86.HasAVX512BF16 }

// dotIsFaster compares VDPBF16PS with multiply-adds once: on some processors it is
// several times slower.
var dotIsFaster = sync.OnceValue(func() bool {
	const h, blocks = pairRows, 64
	var a [h * blocks * quad]float32
	var c [h * panel]float32
	b := alignedU16(blocks * quad * panel)
	t := tile{k: blocks, lda: 4 * blocks * quad, ldb: 1, ldc: 4 * panel}
	run := func(f func(h, width int, t tile, a, b, c unsafe.Pointer)) time.Duration {
		return shortest(200*time.Microsecond, func() {
			f(h, panel, t, unsafe.Pointer(&a), unsafe.Pointer(&b[0]), unsafe.Pointer(&c))
		})
	}
	pairs := func(h, width int, t tile, a, b, c unsafe.Pointer) { tilePairs(h, width, 1, t, a, b, c) }
	return run(pairs) < run(tileChains)
})

func dotPairs() bool { return !dotOff && hasDot() && dotIsFaster() }

//go:noescape
func pairBlocksAVX512(dst, x unsafe.Pointer, blocks, parts int)

//go:noescape
func splitBlocksAVX512(dst, x unsafe.Pointer, blocks, parts int)

//go:noescape
func splitBlocksAVX2(dst, x unsafe.Pointer, blocks, parts int)

func splitRow(dst, x []float32, parts int) {
	if active == generic {
		splitRowGeneric(dst, x, parts)
		return
	}
	var last [quad]float32
	if n := len(x) / quad; n > 0 {
		splitBlocks(at(dst), at(x), n, parts)
	}
	if n := len(x) / quad * quad; n < len(x) {
		copy(last[:], x[n:])
		splitBlocks(at(dst[n*parts:]), unsafe.Pointer(&last), 1, parts)
	}
}

func splitBlocks(dst, x unsafe.Pointer, blocks, parts int) {
	if active == avx2 {
		splitBlocksAVX2(dst, x, blocks, parts)
		return
	}
	splitBlocksAVX512(dst, x, blocks, parts)
}

func pairRow(dst, x []float32, parts int) {
	var last [quad]float32
	if n := len(x) / quad; n > 0 {
		pairBlocksAVX512(at(dst), at(x), n, parts)
	}
	if n := len(x) / quad * quad; n < len(x) {
		copy(last[:], x[n:])
		pairBlocksAVX512(at(dst[n*parts/2:]), unsafe.Pointer(&last), 1, parts)
	}
}
