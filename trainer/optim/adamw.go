// Package optim has the optimizer: AdamW with decoupled weight decay
// (Loshchilov and Hutter 2019), clipping by global norm, and learning-rate
// schedules. The values are those of torch.optim.AdamW,
// clip_grad_norm_ and verl 0.6.1's schedules; golden tests hold them to it.
//
// Everything is deterministic: sums run over tensors and elements in order.
package optim

import (
	"fmt"
	"math"

	"troupe/model/kernels"
)

// Float is the type of parameters: float32 in training, float64 in tests.
type Float interface{ float32 | float64 }

// AdamW holds the constants of the rule
//
//	p ← p(1-lr·decay); m ← β₁m+(1-β₁)g; v ← β₂v+(1-β₂)g²
//	p ← p - lr/(1-β₁ᵗ) · m/(√v/√(1-β₂ᵗ)+eps)
type AdamW struct {
	Beta1, Beta2, Epsilon, WeightDecay float64
}

// Paper is the study's setting.
func Paper() AdamW { return AdamW{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, WeightDecay: 0.01} }

// Validate reports constants that make no optimizer.
func (a AdamW) Validate() error {
	switch {
	case !(a.Beta1 >= 0 && a.Beta1 < 1), !(a.Beta2 >= 0 && a.Beta2 < 1):
		return fmt.Errorf("adamw: betas %v, %v are not in [0, 1)", a.Beta1, a.Beta2)
	case !(a.Epsilon > 0):
		return fmt.Errorf("adamw: epsilon %v is not positive", a.Epsilon)
	case !(a.WeightDecay >= 0):
		return fmt.Errorf("adamw: weight decay %v is negative", a.WeightDecay)
	}
	return nil
}

// State is what the optimizer remembers of one parameter set: moments in the
// parameters' order and the number of steps taken. It is saved with every
// checkpoint.
type State[T Float] struct {
	M, V [][]T
	Step int
}

// NewState makes moments of zero for params.
func NewState[T Float](params [][]T) *State[T] {
	s := &State[T]{M: make([][]T, len(params)), V: make([][]T, len(params))}
	for i, p := range params {
		s.M[i] = make([]T, len(p))
		s.V[i] = make([]T, len(p))
	}
	return s
}

// Apply takes one step at rate lr. Gradients must be finite: check with Norm
// first, and take no step at all otherwise (an element that is not finite would
// stay so in the moments for ever).
func (a AdamW) Apply(params, grads [][]float32, s *State[float32], lr float64) {
	s.Step++
	c := a.constants(s.Step, lr)
	step := kernels.AdamW{
		Decay: float32(c.decay), Rate: float32(c.rate), Root: float32(c.root),
		B1: float32(a.Beta1), C1: float32(1 - a.Beta1), B2: float32(a.Beta2), C2: float32(1 - a.Beta2),
		Eps: float32(a.Epsilon),
	}
	var alone *kernels.Pool // the workers are taken by the cuts
	eachCut(params, func(i, from, to int) {
		alone.AdamW(params[i][from:to], grads[i][from:to], s.M[i][from:to], s.V[i][from:to], step)
	})
}

// eachCut runs do on pieces of the tensors, small enough for a cache, with all
// workers. Who does which makes no difference to elements that know nothing of
// each other.
func eachCut[T Float](tensors [][]T, do func(tensor, from, to int)) {
	const size = 1 << 16
	type cut struct{ tensor, from, to int }
	var cuts []cut
	for i, x := range tensors {
		for from := 0; from < len(x); from += size {
			cuts = append(cuts, cut{i, from, min(from+size, len(x))})
		}
	}
	kernels.Default().Run(len(cuts), func(_, k int) { do(cuts[k].tensor, cuts[k].from, cuts[k].to) })
}

// Apply64 is Apply in float64: the readable reference that tests compare with.
func (a AdamW) Apply64(params, grads [][]float64, s *State[float64], lr float64) {
	s.Step++
	c := a.constants(s.Step, lr)
	for i, p := range params {
		g, m, v := grads[i], s.M[i], s.V[i]
		for j := range p {
			m[j] = a.Beta1*m[j] + (1-a.Beta1)*g[j]
			v[j] = a.Beta2*v[j] + (1-a.Beta2)*g[j]*g[j]
			p[j] = c.decay*p[j] - c.rate*m[j]/(math.Sqrt(v[j])/c.root+a.Epsilon)
		}
	}
}

// constants are those of one step.
type constants struct{ decay, rate, root float64 }

func (a AdamW) constants(step int, lr float64) constants {
	return constants{
		decay: 1 - float64(lr*a.WeightDecay), // never fused: the same bits on every machine
		rate:  lr / (1 - math.Pow(a.Beta1, float64(step))),
		root:  math.Sqrt(1 - math.Pow(a.Beta2, float64(step))),
	}
}

// Norm is the 2-norm over all tensors, summed in float64 in order.
func Norm[T Float](grads [][]T) float64 {
	sum := 0.0
	for _, g := range grads {
		for _, v := range g {
			sum += float64(float64(v) * float64(v))
		}
	}
	return math.Sqrt(sum)
}

// Clip scales grads in place so that their norm is at most limit, by
// min(1, limit/(norm+1e-6)) as torch does, and returns the factor. limit 0
// switches it off.
func Clip[T Float](grads [][]T, norm, limit float64) float64 {
	if limit <= 0 {
		return 1
	}
	factor := min(1, limit/(norm+1e-6))
	if factor == 1 {
		return 1
	}
	eachCut(grads, func(i, from, to int) {
		for j, v := range grads[i][from:to] {
			grads[i][from+j] = T(float64(v) * factor)
		}
	})
	return factor
}

// Finite reports whether a norm or loss may be used.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
