package kernels

import "unsafe"

// tileNNGeneric computes an h x width tile C (+)= A·B with A row-major and row i
// of B at b + i*ldb.
func tileNNGeneric(h, width int, t tile, a, b, c unsafe.Pointer) {
	var s [panel]float32
	for i := range h {
		x := unsafe.Slice((*float32)(unsafe.Add(a, i*t.lda)), t.k)
		y := unsafe.Slice((*float32)(unsafe.Add(c, i*t.ldc)), width)
		start(s[:width], y, t.acc == 1)
		for k, v := range x {
			w := unsafe.Slice((*float32)(unsafe.Add(b, k*t.ldb)), width)
			for j, wj := range w {
				s[j] = fma(v, wj, s[j])
			}
		}
		copy(y, s[:width])
	}
}

// tileTNGeneric is tileNNGeneric with A transposed: element (i, k) is at
// a + k*lda + 4i.
func tileTNGeneric(h, width int, t tile, a, b, c unsafe.Pointer) {
	var s [panel]float32
	for i := range h {
		y := unsafe.Slice((*float32)(unsafe.Add(c, i*t.ldc)), width)
		start(s[:width], y, t.acc == 1)
		for k := range t.k {
			v := *(*float32)(unsafe.Add(a, k*t.lda+4*i))
			w := unsafe.Slice((*float32)(unsafe.Add(b, k*t.ldb)), width)
			for j, wj := range w {
				s[j] = fma(v, wj, s[j])
			}
		}
		copy(y, s[:width])
	}
}

// tileW16Generic is tileNNGeneric with B a panel of bfloat16 pairs: pair k/2 of
// column j is at b + k/2*ldb + 4j.
func tileW16Generic(h, width int, t tile, a, b, c unsafe.Pointer) {
	var s [panel]float32
	for i := range h {
		x := unsafe.Slice((*float32)(unsafe.Add(a, i*t.lda)), t.k)
		y := unsafe.Slice((*float32)(unsafe.Add(c, i*t.ldc)), width)
		start(s[:width], y, t.acc == 1)
		for k, v := range x {
			w := unsafe.Slice((*uint16)(unsafe.Add(b, k/2*t.ldb)), 2*width)
			for j := range width {
				s[j] = fma(v, FromBF16(w[2*j+k&1]), s[j])
			}
		}
		copy(y, s[:width])
	}
}

func start(s, y []float32, acc bool) {
	if acc {
		copy(s, y)
	} else {
		clear(s)
	}
}
