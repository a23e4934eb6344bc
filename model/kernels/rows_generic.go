package kernels

// Row kernels: the inner loops over one row, in portable Go. Slices of one call
// have the length of the first; sums run in sixteen lanes (see the package comment).
// Products that must round before a sum are converted, because Go may fuse them
// on some architectures.

// dotGeneric is Σ x·y.
func dotGeneric(x, y []float32) float32 {
	var s [16]float32
	for i, v := range x {
		s[i&15] = fma(v, y[i], s[i&15])
	}
	return foldLanes(&s)
}

// dot3Generic is Σ (a·b)·c.
func dot3Generic(a, b, c []float32) float32 {
	var s [16]float32
	for i, v := range a {
		s[i&15] = fma(float32(v*b[i]), c[i], s[i&15])
	}
	return foldLanes(&s)
}

// axpyGeneric is y += a·x.
func axpyGeneric(y []float32, a float32, x []float32) {
	for i := range y {
		y[i] = fma(a, x[i], y[i])
	}
}

// scaleGeneric is y = a·x + 0, which turns a negative zero into a positive one.
func scaleGeneric(y []float32, a float32, x []float32) {
	for i := range y {
		y[i] = float32(a*x[i]) + 0
	}
}

// addGeneric is y += x.
func addGeneric(y, x []float32) {
	for i := range y {
		y[i] += x[i]
	}
}

// normGeneric is y = (x·inv)·w.
func normGeneric(y, x, w []float32, inv float32) {
	for i := range y {
		y[i] = float32(x[i]*inv) * w[i]
	}
}

// normBackGeneric is dx += inv·(dy·w - (x·inv)·c).
func normBackGeneric(dx, dy, x, w []float32, inv, c float32) {
	for i := range dx {
		u := fma(-float32(x[i]*inv), c, float32(dy[i]*w[i]))
		dx[i] = fma(inv, u, dx[i])
	}
}

// normGradGeneric is dw += dy·(x·inv).
func normGradGeneric(dw, dy, x []float32, inv float32) {
	for i := range dw {
		dw[i] = fma(dy[i], float32(x[i]*inv), dw[i])
	}
}

// rotateGeneric rotates the pairs (a, b) by the angle of (cos, sign·sin).
func rotateGeneric(a, b, cos, sin []float32, sign float32) {
	for i := range a {
		s := float32(sin[i] * sign)
		x, y := a[i], b[i]
		a[i] = fma(x, cos[i], -float32(y*s))
		b[i] = fma(y, cos[i], float32(x*s))
	}
}

// sigmoid is 1 / (1 + exp(-x)).
func sigmoid(x float32) float32 { return 1 / (1 + Exp(-x)) }

// gateGeneric is y = (g·sigmoid(g))·u.
func gateGeneric(y, g, u []float32) {
	for i := range y {
		y[i] = float32(g[i]*sigmoid(g[i])) * u[i]
	}
}

// gateBackGeneric is du = dy·silu(g), dg = dy·u·silu'(g), where
// silu'(g) = s·(1 + g·(1-s)).
func gateBackGeneric(dg, du, dy, g, u []float32) {
	for i := range dg {
		s := sigmoid(g[i])
		slope := s * fma(g[i], 1-s, 1)
		// Both before either is stored: outputs may be inputs.
		a, b := float32(dy[i]*u[i])*slope, dy[i]*float32(g[i]*s)
		dg[i], du[i] = a, b
	}
}

// maxGeneric is the largest element; x isn't empty.
func maxGeneric(x []float32) float32 {
	m := x[0]
	for _, v := range x[1:] {
		m = max(m, v)
	}
	return m
}

// expSumGeneric is y = exp(x·scale - m) and returns Σ y. y may be x.
func expSumGeneric(y, x []float32, scale, m float32) float32 {
	var s [16]float32
	for i := range y {
		e := Exp(float32(x[i]*scale) - m)
		y[i] = e
		s[i&15] += e
	}
	return foldLanes(&s)
}

// entropyGeneric returns Σ e and Σ e·d, with d = x·scale - m and e = exp(d).
func entropyGeneric(x []float32, scale, m float32) (float32, float32) {
	var s, t [16]float32
	for i, v := range x {
		d := float32(v*scale) - m
		e := Exp(d)
		s[i&15] += e
		t[i&15] = fma(e, d, t[i&15])
	}
	return foldLanes(&s), foldLanes(&t)
}

// headBackGeneric replaces logits by their gradients without the target's own
// term: x = (exp(d)·inv)·(b·d + a), with d = x·scale - m.
func headBackGeneric(x []float32, scale, m, inv, a, b float32) {
	for i, v := range x {
		d := float32(v*scale) - m
		x[i] = float32(Exp(d)*inv) * fma(d, b, a)
	}
}

// softmaxBackGeneric turns scores into probabilities, s = exp(s·scale - m)·inv,
// and their gradients into those of the unscaled scores: g = (s·(g - d))·scale.
func softmaxBackGeneric(s, g []float32, scale, m, inv, d float32) {
	for i, v := range s {
		p := Exp(float32(v*scale)-m) * inv
		s[i] = p
		g[i] = float32(p*(g[i]-d)) * scale
	}
}

// adamGeneric is one AdamW step. The conversions keep compilers from fusing.
func adamGeneric(p, g, m, v []float32, a *AdamW) {
	for i := range p {
		m[i] = float32(a.B1*m[i]) + float32(a.C1*g[i])
		v[i] = float32(a.B2*v[i]) + float32(float32(a.C2*g[i])*g[i])
		p[i] = float32(a.Decay*p[i]) - float32(a.Rate*m[i])/(sqrt(v[i])/a.Root+a.Eps)
	}
}
