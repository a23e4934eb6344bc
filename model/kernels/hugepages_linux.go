package kernels

import (
	"syscall"
	"unsafe"
)

// adviseHuge asks for huge pages under the whole pages of n bytes at p. It's only
// advice: without it everything works, slower.
func adviseHuge(p unsafe.Pointer, n int) {
	const page = 4096
	if n < hugePageFrom {
		return
	}
	from := -uintptr(p) & (page - 1)
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, from)), (n-int(from))&^(page-1)), 14) // MADV_HUGEPAGE
}
