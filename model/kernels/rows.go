package kernels

import "math"

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Dot returns x·y over the length of x, in sixteen lanes.
func Dot(x, y []float32) float32 {
	return rowDot(x, y[:len(x)])
}

// sumBlock is the number of squares summed in float32 before float64 takes over.
const sumBlock = 4096

// SumSquares returns Σ x², in lanes over blocks of 4096 whose sums are added in
// float64: a gradient norm stays exact to float32 whatever the length.
func SumSquares(x []float32) float64 {
	var sum float64
	for len(x) > 0 {
		n := min(sumBlock, len(x))
		sum += float64(Dot(x[:n], x[:n]))
		x = x[n:]
	}
	return sum
}

// Norm2 returns the Euclidean norm of x.
func Norm2(x []float32) float64 { return math.Sqrt(SumSquares(x)) }

// Axpy adds a·x to y over the length of y.
func Axpy(y []float32, a float32, x []float32) { rowAxpy(y, a, x[:len(y)]) }

// Add adds x to y over the length of y.
func Add(y, x []float32) { rowAdd(y, x[:len(y)]) }

// Copy copies x to y over the length of y.
func (p *Pool) Copy(y, x []float32) {
	x = x[:len(y)]
	p.spread(len(y), 1<<16, func(_, i, j int) { copy(y[i:j], x[i:j]) })
}

// Clear sets n values of each row of x to zero.
func (p *Pool) Clear(x []float32, ldx, rows, n int) {
	checkRows("Clear: x", len(x), ldx, rows, n)
	p.spread(rows, rowGrain(n), func(_, i, j int) {
		for r := i; r < j; r++ {
			clear(x[r*ldx:][:n])
		}
	})
}

// Scale sets y = a·x over the length of y; a zero comes out positive. y may be x.
func Scale(y []float32, a float32, x []float32) { rowScale(y, a, x[:len(y)]) }

// Max returns the largest element of x, which isn't empty.
func Max(x []float32) float32 { return rowMax(x) }

// ExpRow sets y[i] = exp(x[i]·scale - m) over the length of y and returns their
// sum in lane order. y may be x.
func ExpRow(y, x []float32, scale, m float32) float32 {
	return rowExpSum(y, x[:len(y)], scale, m)
}

// AdamW holds the constants of one step of AdamW in float32 (see trainer/optim for
// the rule and where they come from).
type AdamW struct {
	Decay  float32 // 1 - rate·weight decay
	Rate   float32 // rate/(1-β₁ᵗ)
	Root   float32 // √(1-β₂ᵗ)
	B1, C1 float32 // β₁ and 1-β₁
	B2, C2 float32 // β₂ and 1-β₂
	Eps    float32
}

// AdamW updates the parameters and the moments m and v with the gradient. All have
// the same length. Every operation is rounded for itself, none is fused:
//
//	m = B1·m + C1·g; v = B2·v + (C2·g)·g
//	param = Decay·param - (Rate·m)/(√v/Root + Eps)
func (p *Pool) AdamW(param, grad, m, v []float32, a AdamW) {
	n := len(param)
	grad, m, v = grad[:n], m[:n], v[:n]
	p.spread(n, 1<<14, func(_, i, j int) { rowAdam(param[i:j], grad[i:j], m[i:j], v[i:j], &a) })
}

// spread runs f over [0, n) in ranges of at least grain; on the caller alone when
// there is only one.
func (p *Pool) spread(n, grain int, f func(worker, i, j int)) {
	parts := min(p.Workers(), n/max(grain, 1))
	if parts <= 1 {
		if n > 0 {
			f(0, 0, n)
		}
		return
	}
	step := (n/parts + 15) &^ 15
	if grain < 16 {
		step = (n + parts - 1) / parts
	}
	p.Run((n+step-1)/step, func(w, i int) { f(w, i*step, min((i+1)*step, n)) })
}
