//go:build unix

package safetensors

import (
	"math"
	"os"
	"syscall"
)

// mapFile maps the whole file for reading, or gives nil, and the caller reads
// instead.
func mapFile(f *os.File, size int64) []byte {
	if size <= 0 || size > math.MaxInt {
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func unmapFile(b []byte) {
	if b != nil {
		// Nothing can be done about a failure, and nothing depends on it.
		_ = syscall.Munmap(b)
	}
}
