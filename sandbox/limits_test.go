package sandbox

import (
	"math"
	"testing"
	"time"
)

// Limits of any size are limits: those beyond all bounds become the largest
// there are, and the wall-clock backstop stays behind them.
func TestLimitsOfAnySize(t *testing.T) {
	w := &Worker{pool: &Pool{rate: 1e9}}
	for _, c := range []struct {
		in, want Limits
	}{
		{Limits{}, Limits{DefaultTimeS, DefaultMemoryMB, DefaultOutputKB}},
		{Limits{-1, -1, -1}, Limits{DefaultTimeS, DefaultMemoryMB, DefaultOutputKB}},
		{Limits{math.NaN(), 1, 1}, Limits{DefaultTimeS, 1, 1}},
		{Limits{1e300, math.MaxInt, math.MaxInt}, Limits{maxTimeS, maxMemoryMB, maxOutputKB}},
		{Limits{math.Inf(1), 1, 1}, Limits{maxTimeS, 1, 1}},
	} {
		p := &Python{Limits: c.in}
		job := w.job(p)
		if p.Limits != c.want {
			t.Errorf("%+v became %+v, want %+v", c.in, p.Limits, c.want)
		}
		if job.Fuel != uint64(c.want.TimeS*1e9) || job.Memory != uint64(c.want.MemoryMB)<<20 || job.Output != c.want.OutputKB<<10 {
			t.Errorf("%+v: fuel %d, memory %d, output %d", c.in, job.Fuel, job.Memory, job.Output)
		}
	}
	for _, seconds := range []float64{0, 3, 60 * maxTimeS, math.MaxUint64 / slowest, math.Inf(1)} {
		if wall := backstop(seconds); wall < 5*time.Second || wall.Seconds() < min(seconds, 1e9) {
			t.Errorf("the backstop of %g seconds is %v", seconds, wall)
		}
	}
}
