package kernels

import (
	"fmt"
	"testing"
)

// benchShapes are N x K of tiny studies, of a 0.6 B model, and its head.
var benchShapes = []struct{ n, k int }{{48, 48}, {192, 48}, {128, 128}, {1024, 1024}, {3072, 1024}, {1024, 3072}}

func BenchmarkMatMul(b *testing.B) {
	for _, kind := range []string{"f32", "bf16"} {
		for _, s := range benchShapes {
			for _, m := range []int{1, 8, 32, 256} {
				b.Run(fmt.Sprintf("%s/%dx%d/m=%d", kind, s.n, s.k, m), func(b *testing.B) { benchMatMul(b, kind, m, s.n, s.k) })
			}
		}
	}
}

func benchMatMul(b *testing.B, kind string, m, n, k int) {
	w := PackF32(make([]float32, n*k), n, k)
	if kind == "bf16" {
		w = PackBF16(make([]uint16, n*k), n, k)
	}
	x, y := make([]float32, m*k), make([]float32, m*n)
	p := Default()
	b.ReportAllocs()
	for b.Loop() {
		p.MatMul(y, n, x, k, m, w, false)
	}
	b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

func BenchmarkGradW(b *testing.B) {
	for _, s := range benchShapes[:4] {
		const m = 256
		b.Run(fmt.Sprintf("%dx%d/m=%d", s.n, s.k, m), func(b *testing.B) {
			dw, dy, x := make([]float32, s.n*s.k), make([]float32, m*s.n), make([]float32, m*s.k)
			for b.Loop() {
				Default().GradW(dw, dy, s.n, x, s.k, m, s.n, s.k)
			}
			b.ReportMetric(2*float64(m*s.n*s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
