package model

import (
	"math"
	"sync"
)

// ropeTable holds the cosines and sines of the rotary angles, row by position,
// HeadDim/2 values each. It grows with the longest sequence seen.
type ropeTable struct {
	mu       sync.Mutex
	rows     int
	cos, sin []float32
}

// angles gives tables for positions below n.
func (m *Model) angles(n int) (cos, sin []float32) {
	t := &m.rope
	t.mu.Lock()
	defer t.mu.Unlock()
	if n <= t.rows {
		return t.cos, t.sin
	}
	rows := max(n, 2*t.rows, 64)
	half := m.Config.HeadDim / 2
	freq := m.Config.frequencies()
	t.cos, t.sin = make([]float32, rows*half), make([]float32, rows*half)
	for p := range rows {
		for i, f := range freq {
			s, c := math.Sincos(float64(p) * f)
			t.cos[p*half+i], t.sin[p*half+i] = float32(c), float32(s)
		}
	}
	t.rows = rows
	return t.cos, t.sin
}

// frequencies gives the angle per position of each pair of a head.
func (c *Config) frequencies() []float64 {
	out := make([]float64, c.HeadDim/2)
	for i := range out {
		out[i] = math.Pow(c.RopeTheta, -2*float64(i)/float64(c.HeadDim))
	}
	s := c.Llama3
	if s == nil {
		return out
	}
	for i, f := range out {
		wave := 2 * math.Pi / f
		low, high := float64(s.OriginalPositions)/s.LowFreq, float64(s.OriginalPositions)/s.HighFreq
		switch {
		case wave > low:
			out[i] = f / s.Factor
		case wave >= high:
			// Between the bands the two are blended.
			t := (float64(s.OriginalPositions)/wave - s.LowFreq) / (s.HighFreq - s.LowFreq)
			out[i] = (1-t)*f/s.Factor + t*f
		}
	}
	return out
}
