package kernels

import (
	"testing"
	"unsafe"
)

// TestLargeWeightsStartOnAHugePage: a huge page that begins inside the weights of
// another matrix serves neither of them.
func TestLargeWeightsStartOnAHugePage(t *testing.T) {
	for n, align := range map[int]uintptr{1: 64, 33: 64, hugePageFrom/2 - 1: 64, hugePageFrom / 2: hugePage, hugePageFrom + 5: hugePage} {
		x := alignedU16(n)
		if len(x) != n || cap(x) != n {
			t.Errorf("%d halves: length %d, capacity %d", n, len(x), cap(x))
		}
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(x))); at%align != 0 {
			t.Errorf("%d halves start at %#x, want a multiple of %d", n, at, align)
		}
	}
}
