package doctor

import (
	"time"

	"troupe/model/kernels"
)

// Speed is what the machine does now, under whatever else runs on it.
type Speed struct {
	Rows256 float64 `json:"gflops_256_rows"` // float32 products
	Rows8   float64 `json:"gflops_8_rows"`
	Read    float64 `json:"gb_per_s"` // weights read by a product of one row
}

const (
	cacheSize = 768       // outputs and inputs of a weight that stays in cache
	readSize  = 128 << 20 // bytes of weights that do not
	measuring = 400 * time.Millisecond
)

// measure takes somewhat more than a second.
func measure(p *kernels.Pool) *Speed {
	n := cacheSize
	w := kernels.PackF32(ramp(n*n), n, n)
	x, y := ramp(256*n), make([]float32, 256*n)
	gflops := func(rows int) float64 {
		s := perCall(measuring, func() { p.MatMul(y, n, x, n, rows, w, false) })
		return 2 * float64(rows) * float64(n*n) / s / 1e9
	}
	out := &Speed{Rows256: gflops(256), Rows8: gflops(8)}
	const k = 2048
	wide := kernels.PackBF16(make([]uint16, readSize/2), readSize/2/k, k)
	row, res := ramp(k), make([]float32, readSize/2/k)
	s := perCall(measuring, func() { p.MatMul(res, len(res), row, k, 1, wide, false) })
	out.Read = float64(readSize) / s / 1e9
	return out
}

// perCall is the fastest of the calls of f that fit into about d, in seconds.
func perCall(d time.Duration, f func()) float64 {
	f()
	best := time.Duration(0)
	for begin := time.Now(); best == 0 || time.Since(begin) < d; {
		at := time.Now()
		f()
		if t := time.Since(at); best == 0 || t < best {
			best = max(t, 1)
		}
	}
	return best.Seconds()
}

// ramp is n values of ordinary size.
func ramp(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(i%17)/16 - 0.5
	}
	return s
}
