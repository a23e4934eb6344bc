package grpo

import "math"

// K3 is the low-variance estimate of KL(π, ref) from one token, and its slope
// by log π: exp(Δ)-Δ-1 with Δ = log ref - log π (Schulman 2020). As in verl, Δ
// is clamped to ±20 and the value to 10; where a clamp bites the slope is 0.
func K3(logProb, ref float64) (value, slope float64) {
	raw := ref - logProb
	d := max(-20, min(20, raw))
	value = math.Exp(d) - d - 1
	if value > 10 {
		return 10, 0
	}
	if d != raw {
		return value, 0
	}
	return value, 1 - math.Exp(d)
}

// Anchor adds β times the aggregate of K3 against a reference policy to a row's
// loss and gradient: the study's first intervention, per role. It returns the
// aggregate without β, that is the sum of weight·K3.
func Anchor(r Row, ref []float64, beta, weight float64, grad []float64) float64 {
	sum := 0.0
	for t := range r.LogProb {
		if !r.on(t) {
			continue
		}
		v, s := K3(r.LogProb[t], ref[t])
		sum += weight * v
		grad[t] += beta * weight * s
	}
	return sum
}

// Coherence damps the part of a gradient that repeats the recent direction: the
// study's second intervention. With g the gradient over all tensors and ḡ its
// moving average,
//
//	cos = <g,ḡ>/(‖g‖‖ḡ‖+eps), g ← g·(1 - λ·clamp(cos, 0, 1)), ḡ ← τḡ + (1-τ)g
//
// with τ = 1 - 1/window and ḡ starting as the first gradient. One value serves
// one policy; it is part of its optimizer state.
type Coherence[T float32 | float64] struct {
	Lambda float64
	Window float64
	EMA    [][]T // nil before the first step
}

// CoherenceStep is what one step did; all are logged.
type CoherenceStep struct {
	Cos, Scale, EMANorm float64
	Skipped             bool // the gradient was not finite
}

// Apply damps g in place and moves the average. A gradient that is not finite
// is left alone: it would poison the average for ever.
func (c *Coherence[T]) Apply(g [][]T) CoherenceStep {
	if c.Lambda == 0 {
		return CoherenceStep{Scale: 1}
	}
	gg := dot(g, g)
	if math.IsNaN(gg) || math.IsInf(gg, 0) {
		return CoherenceStep{Scale: 1, Skipped: true}
	}
	if c.EMA == nil {
		c.EMA = make([][]T, len(g))
		for i := range g {
			c.EMA[i] = append([]T(nil), g[i]...)
		}
	}
	norm := math.Sqrt(dot(c.EMA, c.EMA))
	cos := dot(g, c.EMA) / (math.Sqrt(gg)*norm + 1e-8)
	scale := 1 - c.Lambda*max(0, min(1, cos))
	tau := 1 - 1/c.Window
	for i := range g {
		for j, v := range g[i] {
			v = T(float64(v) * scale)
			g[i][j] = v
			c.EMA[i][j] = T(tau*float64(c.EMA[i][j]) + (1-tau)*float64(v))
		}
	}
	return CoherenceStep{Cos: cos, Scale: scale, EMANorm: norm}
}

func dot[T float32 | float64](a, b [][]T) float64 {
	sum := 0.0
	for i := range a {
		for j, v := range a[i] {
			sum += float64(v) * float64(b[i][j])
		}
	}
	return sum
}
