package kernels

import (
	"syscall"
	"unsafe"
)

// hugePageFrom is the size in bytes from which packed weights ask for huge pages:
// streaming them from memory costs a page-table walk every 4 KiB otherwise.
const hugePageFrom = 4 << 20

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
