//go:build !purego

package kernels

// The wrappers whose parameters aren't just slices and scalars in order.

func rowAxpy(y []float32, a float32, x []float32) {
	switch active {
	case avx512:
		rowAxpyAVX512(len(y), at(y), at(x), a)
	case avx2:
		rowAxpyAVX2(len(y), at(y), at(x), a)
	default:
		axpyGeneric(y, a, x)
	}
}

func rowScale(y []float32, a float32, x []float32) {
	switch active {
	case avx512:
		rowScaleAVX512(len(y), at(y), at(x), a)
	case avx2:
		rowScaleAVX2(len(y), at(y), at(x), a)
	default:
		scaleGeneric(y, a, x)
	}
}

func rowAdam(p, g, m, v []float32, a *AdamW) {
	switch active {
	case avx512:
		rowAdamAVX512(len(p), at(p), at(g), at(m), at(v), a.Decay, a.Rate, a.Root, a.B1, a.C1, a.B2, a.C2, a.Eps)
	case avx2:
		rowAdamAVX2(len(p), at(p), at(g), at(m), at(v), a.Decay, a.Rate, a.Root, a.B1, a.C1, a.B2, a.C2, a.Eps)
	default:
		adamGeneric(p, g, m, v, a)
	}
}
