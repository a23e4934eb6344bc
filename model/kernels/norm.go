package kernels

// grainFloats is the number of values below which a row operation isn't split.
const grainFloats = 1 << 14

func rowGrain(n int) int { return max(1, grainFloats/max(n, 1)) }

// RMSNorm computes y = x·inv·w for rows of n values, inv = 1/sqrt(mean(x²) + eps),
// and keeps inv[row] for the backward; inv may be nil. y may be x.
func (p *Pool) RMSNorm(y []float32, ldy int, x []float32, ldx, rows, n int, w []float32, eps float32, inv []float32) {
	checkRows("RMSNorm: y", len(y), ldy, rows, n)
	checkRows("RMSNorm: x", len(x), ldx, rows, n)
	p.spread(rows, rowGrain(n), func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			xr := x[r*ldx:][:n]
			i := 1 / sqrt(Dot(xr, xr)/float32(n)+eps)
			if inv != nil {
				inv[r] = i
			}
			rowNorm(y[r*ldy:][:n], xr, w[:n], i)
		}
	})
}

// RMSNormHeads is RMSNorm of each of the heads of n values that lie next to each
// other in a row, all with one weight; inv is [heads][rows].
func (p *Pool) RMSNormHeads(y []float32, ldy int, x []float32, ldx, rows, heads, n int, w []float32, eps float32, inv []float32) {
	checkRows("RMSNormHeads: y", len(y), ldy, rows, heads*n)
	checkRows("RMSNormHeads: x", len(x), ldx, rows, heads*n)
	p.spread(rows*heads, rowGrain(n), func(_, i, j int) {
		for i := i; i < j; i++ {
			r, h := i/heads, i%heads
			xh := x[r*ldx+h*n:][:n]
			s := 1 / sqrt(Dot(xh, xh)/float32(n)+eps)
			inv[h*rows+r] = s
			rowNorm(y[r*ldy+h*n:][:n], xh, w[:n], s)
		}
	})
}

// RMSNormBackward adds to dx the gradient through RMSNorm of dy, given x and the
// inv it kept, and to dw (unless nil) the weight's gradient, rows in order. dx and
// dy must not overlap.
func (p *Pool) RMSNormBackward(dx []float32, lddx int, dw []float32, dy []float32, lddy int, x []float32, ldx, rows, n int, w, inv []float32) {
	checkRows("RMSNormBackward: dx", len(dx), lddx, rows, n)
	checkRows("RMSNormBackward: dy", len(dy), lddy, rows, n)
	checkRows("RMSNormBackward: x", len(x), ldx, rows, n)
	p.spread(rows, rowGrain(n), func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			dyr, xr := dy[r*lddy:][:n], x[r*ldx:][:n]
			c := float32(rowDot3(dyr, w[:n], xr)*inv[r]) / float32(n)
			rowNormBack(dx[r*lddx:][:n], dyr, xr, w[:n], inv[r], c)
		}
	})
	if dw == nil {
		return
	}
	p.spread(n, max(16, grainFloats/max(rows, 1)), func(_, i, j int) {
		for r := range rows {
			rowNormGrad(dw[i:j], dy[r*lddy+i:][:j-i], x[r*ldx+i:][:j-i], inv[r])
		}
	})
}

// RoPE rotates, in place, the first and second half of each head: row r of x holds
// heads of headDim values, pos[r] is its position, and row pos of cos and sin
// (headDim/2 values each) the angles.
func (p *Pool) RoPE(x []float32, ldx, rows, heads, headDim int, pos []int32, cos, sin []float32) {
	p.rotate(x, ldx, rows, heads, headDim, pos, cos, sin, 1)
}

// RoPEBackward is the inverse rotation, in place on a gradient.
func (p *Pool) RoPEBackward(dx []float32, lddx, rows, heads, headDim int, pos []int32, cos, sin []float32) {
	p.rotate(dx, lddx, rows, heads, headDim, pos, cos, sin, -1)
}

func (p *Pool) rotate(x []float32, ldx, rows, heads, headDim int, pos []int32, cos, sin []float32, sign float32) {
	checkRows("RoPE", len(x), ldx, rows, heads*headDim)
	half := headDim / 2
	p.spread(rows, rowGrain(heads*headDim), func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			at := int(pos[r]) * half
			c, s := cos[at:][:half], sin[at:][:half]
			for h := range heads {
				v := x[r*ldx+h*headDim:][:2*half]
				rowRotate(v[:half], v[half:], c, s, sign)
			}
		}
	})
}

// SiLUGate computes y = g·sigmoid(g)·u for rows of n values. y may be g or u.
func (p *Pool) SiLUGate(y []float32, ldy int, g []float32, ldg int, u []float32, ldu, rows, n int) {
	checkRows("SiLUGate: y", len(y), ldy, rows, n)
	checkRows("SiLUGate: g", len(g), ldg, rows, n)
	checkRows("SiLUGate: u", len(u), ldu, rows, n)
	if ldy == n && ldg == n && ldu == n { // one long row
		rows, n = 1, rows*n
		p.spread(n, grainFloats/4, func(_, i, j int) { rowGate(y[i:j], g[i:j], u[i:j]) })
		return
	}
	p.spread(rows, rowGrain(4*n), func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			rowGate(y[r*ldy:][:n], g[r*ldg:][:n], u[r*ldu:][:n])
		}
	})
}

// SiLUGateBackward sets dg and du from dy and the forward's g and u. dg may be g,
// du may be u or dy.
func (p *Pool) SiLUGateBackward(dg []float32, lddg int, du []float32, lddu int, dy []float32, lddy int, g []float32, ldg int, u []float32, ldu, rows, n int) {
	checkRows("SiLUGateBackward: dg", len(dg), lddg, rows, n)
	checkRows("SiLUGateBackward: du", len(du), lddu, rows, n)
	checkRows("SiLUGateBackward: dy", len(dy), lddy, rows, n)
	checkRows("SiLUGateBackward: g", len(g), ldg, rows, n)
	checkRows("SiLUGateBackward: u", len(u), ldu, rows, n)
	p.spread(rows, rowGrain(4*n), func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			rowGateBack(dg[r*lddg:][:n], du[r*lddu:][:n], dy[r*lddy:][:n], g[r*ldg:][:n], u[r*ldu:][:n])
		}
	})
}
