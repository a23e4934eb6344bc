package kernels

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// packChunk is the number of k packed for all columns of a panel before the next
// ones, so that what is written stays in the first-level cache.
const packChunk = 64

// inParallel calls f for 0 … n-1 on as many goroutines as run at a time. Packing
// happens at load, where no pool is at hand and starting goroutines costs nothing.
func inParallel(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				f(i)
			}
		})
	}
	wg.Wait()
}

// packSpan is the number of k packed at a time; a multiple of a block.
const packSpan = 2048

// spanStride keeps the columns of a buffer out of one set of the cache.
const spanStride = packSpan + 32

// packHalves packs n columns of k bfloat16 values in an order. rows gives the
// values k0 … k1-1 of the columns of panel j; it may use the buffer.
func packHalves(n, k int, in order, rows func(j, k0, k1 int, buffer []uint16) [][]uint16) operand {
	o := operand{n: n, k: k, order: in, other: new(reordered)}
	steps := o.steps()
	pack := packPairs
	if in == orderBlocks {
		pack = packBlocks
	}
	o.h = alignedU16(panels(n) * steps * panel * 2)
	dwords := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(o.h))), len(o.h)/2)
	buffers := sync.Pool{New: func() any { b := make([]uint16, panel*spanStride); return &b }}
	inParallel(panels(n), func(j int) {
		b := buffers.Get().(*[]uint16)
		for k0 := 0; k0 < k; k0 += packSpan {
			pack(dwords[(j*steps+k0/2)*panel:], rows(j, k0, min(k0+packSpan, k), *b))
		}
		buffers.Put(b)
	})
	return o
}

// packPairs writes neighbouring k of each column as one dword, [k/2][32].
func packPairs(dst []uint32, columns [][]uint16) {
	for i0 := 0; i0 < len(columns[0]); i0 += packChunk {
		for c, col := range columns {
			col = col[i0:min(i0+packChunk, len(col))]
			to := dst[i0/2*panel+c:]
			for i := 0; i+1 < len(col); i += 2 {
				to[i/2*panel] = uint32(col[i]) | uint32(col[i+1])<<16
			}
			if i := len(col) - 1; i&1 == 0 {
				to[i/2*panel] = uint32(col[i])
			}
		}
	}
}

// packBlocks packs for the TDPBF16PS order: blocks of 32 k, sixteen dwords a
// column, [k/32][16][32]. Dword d < 8 has k = 4d in its high half and 4d+2 in its
// low one, dword 8+d has 4d+1 and 4d+3: the order in which VDPBF16PS adds.
func packBlocks(dst []uint32, columns [][]uint16) {
	for i := 0; i < len(columns[0]); i += quad {
		for c, col := range columns {
			var b [quad]uint16
			copy(b[:], col[i:])
			to := dst[i/2*panel+c:]
			for d := range 8 {
				to[d*panel] = uint32(b[4*d])<<16 | uint32(b[4*d+2])
				to[(d+8)*panel] = uint32(b[4*d+1])<<16 | uint32(b[4*d+3])
			}
		}
	}
}

// columns gives rows n0 … n1-1 of the columns 32j … of a bfloat16 weight.
func (m *Matrix) columns(j, n0, n1 int, buffer []uint16) [][]uint16 {
	var cols [][]uint16
	for c := range min(panel, m.K-j*panel) {
		cols = append(cols, buffer[c*spanStride:][:n1-n0])
	}
	places := m.places(j, len(cols))
	for n := n0; n < n1; n++ {
		from := m.w.h[m.w.index(n, j*panel)&^1:]
		for c, col := range cols {
			col[n-n0] = from[places[c]]
		}
	}
	return cols
}

// places gives, for columns 32j … of one row, their distance from the first dword,
// the same in every row.
func (m *Matrix) places(j, width int) (p [panel]int) {
	first := m.w.index(0, j*panel) &^ 1
	for c := range width {
		p[c] = m.w.index(0, j*panel+c) - first
	}
	return p
}
