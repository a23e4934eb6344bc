package kernels

import (
	"fmt"
	"sync"
	"unsafe"
)

// panel is the number of output columns packed side by side.
const panel = 32

// Matrix is a weight W of shape [N, K], packed for products with W (x·Wᵀ) and,
// made on first demand, for products with its transpose (dy·W). Panel j holds
// the columns 32j … 32j+31 of the output, zeros beyond N:
//
//	float32:  [ceil(N/32)][K][32]
//	bfloat16: [ceil(N/32)][ceil(K/2)][32][2], pairs of neighbouring k,
//	          or another order for the kinds other than F32
type Matrix struct {
	N, K int
	bf16 bool
	kind Numerics
	w    operand // for x·Wᵀ
	once sync.Once
	wt   operand // for dy·W; of no use before once
	made bool
}

// operand is one packed orientation, n outputs by k summed indices.
type operand struct {
	n, k  int
	f     []float32
	h     []uint16
	order order // of h
	other *reordered
}

// PackF32 packs a float32 weight of shape [n, k].
func PackF32(w []float32, n, k int) *Matrix {
	checkLen("weight", len(w), n*k)
	m := &Matrix{N: n, K: k, w: operand{n: n, k: k, f: alignedF32(panels(n) * k * panel)}}
	m.Repack(w)
	return m
}

// PackBF16 packs a bfloat16 weight of shape [n, k].
func PackBF16(w []uint16, n, k int) *Matrix {
	return PackNumerics(w, n, k, F32)
}

// Repack takes new values of the same shape into the same memory.
// The matrix must hold float32 and not be in use.
func (m *Matrix) Repack(w []float32) {
	if m.bf16 {
		panic("kernels: Repack of a bfloat16 matrix")
	}
	checkLen("weight", len(w), m.N*m.K)
	packRows(m.w.f, w, m.N, m.K)
	if m.made {
		packColumns(m.wt.f, w, m.N, m.K)
	}
}

// BF16 tells whether the weights are stored as bfloat16.
func (m *Matrix) BF16() bool { return m.bf16 }

// Bytes is the memory the packed orientations take now.
func (m *Matrix) Bytes() int {
	return 4*(len(m.w.f)+len(m.wt.f)) + 2*(len(m.w.h)+len(m.wt.h))
}

// Row copies row n of W (K values) to dst: an embedding look-up in a tied head.
func (m *Matrix) Row(dst []float32, n int) {
	checkLen("row", len(dst), m.K)
	for i := range m.K {
		dst[i] = m.at(n, i)
	}
}

func (m *Matrix) at(n, k int) float32 {
	if m.bf16 {
		return FromBF16(m.w.h[m.w.index(n, k)])
	}
	return m.w.f[(n/panel*m.K+k)*panel+n%panel]
}

// transposed returns the operand for dy·W.
func (m *Matrix) transposed() *operand {
	m.once.Do(func() {
		if m.bf16 {
			m.wt = packHalves(m.K, m.N, m.kind.order(), m.columns)
		} else {
			m.wt = operand{n: m.K, k: m.N, f: alignedF32(panels(m.K) * m.N * panel)}
			inParallel(panels(m.K), func(j int) { m.transposePanel(j) })
		}
		m.made = true
	})
	return &m.wt
}

// transposePanel fills panel j of the second orientation of a float32 weight.
func (m *Matrix) transposePanel(j int) {
	width := min(panel, m.K-j*panel)
	for n := range m.N {
		d := m.wt.f[(j*m.N+n)*panel:][:width]
		from := m.w.f[(n/panel*m.K+j*panel)*panel+n%panel:]
		for c := range d {
			d[c] = from[c*panel]
		}
	}
}

// hugePageFrom is the size in bytes from which packed weights ask for huge pages:
// streaming them from memory costs a page-table walk every 4 KiB otherwise.
const (
	hugePage     = 2 << 20
	hugePageFrom = 2 * hugePage
)

func panels(n int) int { return (n + panel - 1) / panel }

// packRows packs w [n, k] for x·Wᵀ: columns of the output are rows of w.
func packRows(dst, w []float32, n, k int) {
	inParallel(panels(n), func(j int) {
		p := dst[j*k*panel:][:k*panel]
		for i0 := 0; i0 < k; i0 += packChunk {
			for c := range min(panel, n-j*panel) {
				row := w[(j*panel+c)*k+i0:][:min(packChunk, k-i0)]
				to := p[i0*panel+c:]
				for i, v := range row {
					to[i*panel] = v
				}
			}
		}
	})
}

// packColumns packs w [n, k] for dy·W: columns of the output are columns of w.
func packColumns(dst, w []float32, n, k int) {
	for j := range panels(k) {
		width := min(panel, k-j*panel)
		for i := range n {
			copy(dst[(j*n+i)*panel:][:width], w[i*k+j*panel:][:width])
		}
	}
}

// Stride is the distance in floats between rows of n: a cache line more where rows
// would be whole pages apart and so fall into the same few sets of the caches.
func Stride(n int) int {
	const page, line = 1024, 16
	if n > 0 && n%page == 0 {
		return n + line
	}
	return n
}

// alignedF32 returns n zeros that start on a cache line.
func alignedF32(n int) []float32 {
	b := make([]float32, n+15)
	adviseHuge(unsafe.Pointer(unsafe.SliceData(b)), 4*len(b))
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))>>2) & 15
	return b[off : off+n : off+n]
}

// alignedU16 is alignedF32 for halves. Where they are many they start on a huge
// page: what lies before the first whole one and after the last has small pages.
func alignedU16(n int) []uint16 {
	align := 32 // a cache line
	if 2*n >= hugePageFrom {
		align = hugePage / 2
	}
	b := make([]uint16, n+align-1)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))>>1) & (align - 1)
	b = b[off : off+n : off+n]
	adviseHuge(unsafe.Pointer(unsafe.SliceData(b)), 2*n)
	return b
}

func checkLen(what string, got, want int) {
	if got < want {
		panic(fmt.Sprintf("kernels: %s holds %d values, %d needed", what, got, want))
	}
}

// checkRows verifies that rows of n values with stride ld lie in a slice.
func checkRows(what string, length, ld, rows, n int) {
	if rows > 0 && n > 0 && (ld < n || length < (rows-1)*ld+n) {
		panic(fmt.Sprintf("kernels: %s: %d rows of %d with stride %d don't fit %d values", what, rows, n, ld, length))
	}
}
