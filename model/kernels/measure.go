package kernels

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Rates are what this machine reaches right now with all workers of a pool.
type Rates struct {
	Kernels string  // the family in use
	Workers int     // how many worked
	GFLOPS  float64 // peak of float32 multiply-adds in the family's registers, 2 per multiply-add; 0 for generic
	ReadGBs float64 // sequential reads from memory
	// MatMul is the rate of a cached product of 128 rows by a 1024 x 1024 weight.
	MatMul float64
}

// Measure takes the best of repeated short runs for about the given time. Rates
// vary with the clock and the neighbours: compare only what one call returns.
func Measure(p *Pool, d time.Duration) Rates {
	r := Rates{Kernels: Active(), Workers: p.Workers()}
	d /= 3
	const rounds = 100_000
	if per := peak(0); per > 0 {
		best := shortest(d, func() { p.Run(p.Workers(), func(_, _ int) { peak(rounds) }) })
		r.GFLOPS = float64(per*rounds*p.Workers()) / float64(best.Nanoseconds())
	}
	r.ReadGBs = readRate(p, d)
	const m, n = 128, 1024
	w := PackF32(make([]float32, n*n), n, n)
	x, y := ones(m*n), make([]float32, m*n)
	best := shortest(d, func() { p.MatMul(y, n, x, n, m, w, false) })
	r.MatMul = 2 * m * n * n / float64(best.Nanoseconds())
	return r
}

// readRate reads a block larger than the caches.
func readRate(p *Pool, d time.Duration) float64 {
	const size = 256 << 20
	block := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		block[i] = 1 // a page of its own each
	}
	parts := p.Workers()
	each := size / parts &^ 4095
	best := shortest(d, func() {
		p.Run(parts, func(_, i int) { read(unsafe.Pointer(&block[i*each]), each) })
	})
	return float64(each*parts) / float64(best.Nanoseconds())
}

// Read reads the weights of x·Wᵀ once, cut among the workers as a product of one
// row cuts them: what bounds that product, taken where and when it runs.
func (p *Pool) Read(w *Matrix) {
	const step = 512 // read takes whole steps; a rest below one is left out
	at, size := unsafe.Pointer(unsafe.SliceData(w.w.h)), 2*len(w.w.h)
	if w.w.h == nil {
		at, size = unsafe.Pointer(unsafe.SliceData(w.w.f)), 4*len(w.w.f)
	}
	parts := itemsPerWorker * p.Workers()
	each := size / parts &^ (step - 1)
	if each > 0 {
		p.Run(parts, func(_, i int) { read(unsafe.Add(at, i*each), each) })
	}
}

// ones returns memory that has been written: untouched pages are all the same
// physical page of zeros, whose aliases the first-level cache handles badly.
func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// shortest is the least time of f over repeated runs within d, three at least.
func shortest(d time.Duration, f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	start := time.Now()
	for i := 0; i < 3 || time.Since(start) < d; i++ {
		t := time.Now()
		f()
		best = min(best, max(time.Since(t), 1))
	}
	return best
}

// sink keeps readGeneric's loads alive.
var sink atomic.Uint64

func readGeneric(x unsafe.Pointer, n int) {
	var s uint64
	for _, v := range unsafe.Slice((*uint64)(x), n/8) {
		s += v
	}
	sink.Store(s)
}
