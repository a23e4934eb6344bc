package kernels

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkShare prints products as shares of the peak (and, at one row, of the
// read bandwidth) measured in turns with them: the figures of docs/performance.md.
func BenchmarkShare(b *testing.B) {
	p := Default()
	for _, kind := range []string{"f32", "w16", "bf16", "f32x3"} {
		for _, s := range [][2]int{{48, 48}, {128, 128}, {1024, 1024}, {3072, 1024}, {1024, 3072}, {32768, 1024}} {
			for _, m := range []int{1, 8, 12, 32, 64, 256} {
				n, k := s[0], s[1]
				b.Run(fmt.Sprintf("%s/%dx%d/m=%d", kind, n, k, m), func(b *testing.B) { share(b, p, kind, m, n, k, false) })
			}
		}
	}
}

// BenchmarkStepShare is BenchmarkShare at the heights and shapes of an RL step on
// a model of 135M parameters, forward and, as for the input's gradient, transposed.
func BenchmarkStepShare(b *testing.B) {
	for _, s := range [][2]int{{3072, 576}, {576, 1536}, {960, 576}} {
		for _, m := range []int{64, 1616} {
			for _, transposed := range []bool{false, true} {
				name := fmt.Sprintf("%dx%d/m=%d", s[0], s[1], m)
				if transposed {
					name += "/transposed"
				}
				b.Run(name, func(b *testing.B) { share(b, Default(), "w16", m, s[0], s[1], transposed) })
			}
		}
	}
}

// BenchmarkBF16Share is BenchmarkShare in kind bf16 at 512 rows and the shapes of a
// model of 0.6B parameters, a part of the head's rows, forward and transposed.
func BenchmarkBF16Share(b *testing.B) {
	for _, s := range [][2]int{{4096, 1024}, {1024, 2048}, {6144, 1024}, {1024, 3072}, {32768, 1024}} {
		for _, transposed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d/transposed=%v", s[0], s[1], transposed), func(b *testing.B) {
				share(b, Default(), "bf16", 512, s[0], s[1], transposed)
			})
		}
	}
}

// BenchmarkAdapterShare is an adapter's products with wide rows at 512 rows and rank
// 64, as shares of the peak: those with A and B and the gradients of both. The wide
// operands are taken in turns from more memory than the caches hold, as a step does;
// their rows are whole pages apart, or a cache line more.
func BenchmarkAdapterShare(b *testing.B) {
	const m, rank = 512, 64
	p := Default()
	for _, n := range []int{1024, 3072, 6144} {
		low, dw := ones(m*rank), ones(n*rank)
		aw, bw := PackF32(make([]float32, n*rank), rank, n), PackF32(make([]float32, n*rank), n, rank)
		for _, ld := range []int{n, n + 16} {
			wide, next := make([][]float32, max(2, 48<<20/(m*ld))), 0
			for i := range wide {
				wide[i] = ones(m * ld)
			}
			for name, f := range map[string]func(x []float32){
				"A":     func(x []float32) { p.MatMul(low, rank, x, ld, m, aw, false) },
				"B":     func(x []float32) { p.MatMulT(low, rank, x, ld, m, bw, false) },
				"gradA": func(x []float32) { p.GradW(dw, low, rank, x, ld, m, rank, n) },
				"gradB": func(x []float32) { p.GradW(dw, x, ld, low, rank, m, n, rank) },
			} {
				b.Run(fmt.Sprintf("%s/%d/%d", name, n, ld), func(b *testing.B) {
					shareOf(b, p, m, &Matrix{N: n, K: rank}, func() {
						f(wide[next%len(wide)])
						next++
					})
				})
			}
		}
	}
}

// share measures y = x Wᵀ for W [n, k], or x = y W.
func share(b *testing.B, p *Pool, kind string, m, n, k int, transposed bool) {
	w := PackF32(make([]float32, n*k), n, k)
	if kind != "f32" { // w16 is kind F32 with a bfloat16 weight
		num, _ := ParseNumerics(kind)
		w = PackNumerics(make([]uint16, n*k), n, k, num)
	}
	ldx, ldy := Stride(k), Stride(n)
	x, y := ones(m*ldx), ones(m*ldy)
	shareOf(b, p, m, w, func() {
		if transposed {
			p.MatMulT(x, ldx, y, ldy, m, w, false)
		} else {
			p.MatMul(y, ldy, x, ldx, m, w, false)
		}
	})
}

// shareOf measures f, a product of m rows with w.
func shareOf(b *testing.B, p *Pool, m int, w *Matrix, f func()) {
	workers := p.Workers()
	if 2*m*w.N*w.K < serialFlops {
		workers = 1
	}
	const rounds = 20000
	var best, top time.Duration
	flops := 2 * float64(m*w.N*w.K)
	repeat := max(1, int(2e7/flops))
	for range b.N * 5 {
		t := shortest(time.Millisecond, func() {
			for range repeat {
				f()
			}
		})
		if q := shortest(time.Millisecond, func() { p.Run(workers, func(_, _ int) { peak(rounds) }) }); top == 0 || q < top {
			top = q
		}
		if best == 0 || t < best {
			best = t
		}
	}
	rate := flops * float64(repeat) / float64(best.Nanoseconds())
	limit := float64(peak(0)*rounds*workers) / float64(top.Nanoseconds())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(100*rate/limit, "%peak")
	if m == 1 {
		b.ReportMetric(float64(w.Bytes()*repeat)/float64(best.Nanoseconds()), "GB/s")
	}
}

func BenchmarkRates(b *testing.B) {
	for range b.N {
		b.Logf("%+v", Measure(Default(), 300*time.Millisecond))
	}
}
