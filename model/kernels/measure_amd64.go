//go:build !purego

package kernels

import "unsafe"

//go:noescape
func peakAVX512(n int)

//go:noescape
func peakAVX2(n int)

//go:noescape
func readAVX2(x unsafe.Pointer, n int)

// peak runs n rounds of multiply-adds in registers and returns the operations of one.
func peak(n int) int {
	switch active {
	case avx512:
		if n > 0 {
			peakAVX512(n)
		}
		return 16 * 16 * 2
	case avx2:
		if n > 0 {
			peakAVX2(n)
		}
		return 12 * 8 * 2
	}
	return 0
}

// read touches n bytes at x.
func read(x unsafe.Pointer, n int) {
	if usable(avx2) {
		readAVX2(x, n)
		return
	}
	readGeneric(x, n)
}
