//go:build unix

package python

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// reserve takes address space for the largest memory a guest can have, or less
// where the system does not give that much.
func reserve() ([]byte, error) {
	flags := unix.MAP_PRIVATE | unix.MAP_ANON
	if runtime.GOOS == "linux" {
		flags |= unix.MAP_NORESERVE
	}
	var b []byte
	var err error
	for size := 65535 * page; size >= 1<<29; size /= 2 {
		b, err = unix.Mmap(-1, 0, size/page*page, unix.PROT_READ|unix.PROT_WRITE, flags)
		if err == nil {
			return b, nil
		}
	}
	return nil, err
}

// discard makes b read as zeros and gives its pages back.
func discard(b []byte) {
	// Only Linux promises zeros after MADV_DONTNEED.
	if runtime.GOOS != "linux" || unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b)
	}
}
