package kernels

import (
	"syscall"
	"testing"
	"unsafe"
)

// BenchmarkPageRows is a product whose left operand has rows that are whole pages
// long: stored like that, a cache line apart, and in memory that was never written,
// where every page is the one frame of zeros. Only there do rows get in each other's
// way: their lines have one physical address, of which the first-level cache serves
// one alias at a time. Nothing that trains or decodes reads such memory; a benchmark
// that takes its operands from make does, or not, as the heap happens to be.
func BenchmarkPageRows(b *testing.B) {
	const m, n, k = 1616, 3072, 576
	p, w, dx := Default(), PackBF16(make([]uint16, n*k), n, k), ones(m*k)
	for _, c := range []struct {
		name  string
		ld    int
		write bool
	}{{"written", n, true}, {"apart", n + 16, true}, {"unwritten", n, false}, {"unwritten, apart", n + 16, false}} {
		b.Run(c.name, func(b *testing.B) {
			dy := unwritten(b, m*c.ld)
			for i := 0; c.write && i < len(dy); i++ {
				dy[i] = 1
			}
			shareOf(b, p, m, w, func() { p.MatMulT(dx, k, dy, c.ld, m, w, false) })
		})
	}
}

// unwritten is memory fresh from the system.
func unwritten(b *testing.B, n int) []float32 {
	mem, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Munmap(mem) })
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}
