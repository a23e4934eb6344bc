package model

import (
	"math"

	"troupe/model/kernels"
)

// Grads holds one gradient per parameter, end to end in the order of Params.
type Grads struct {
	flat   []float32
	params []Param // shapes and names; Data are parts of flat
}

// NewGrads makes zero gradients for the parameters.
func NewGrads(params []Param) *Grads {
	total := 0
	for _, p := range params {
		total += len(p.Data)
	}
	g := &Grads{flat: make([]float32, total)}
	at := 0
	for _, p := range params {
		n := len(p.Data)
		g.params = append(g.params, Param{Name: p.Name, Shape: p.Shape, Data: g.flat[at : at+n : at+n]})
		at += n
	}
	return g
}

// Zero sets every gradient to 0.
func (g *Grads) Zero() { clear(g.flat) }

// Tensors gives the gradients, one slice a parameter.
func (g *Grads) Tensors() [][]float32 {
	out := make([][]float32, len(g.params))
	for i, p := range g.params {
		out[i] = p.Data
	}
	return out
}

// Params gives the gradients with their parameters' names and shapes.
func (g *Grads) Params() []Param { return g.params }

// Norm is the 2-norm over everything: of the tensors' 2-norms, as PyTorch
// takes it.
func (g *Grads) Norm() float64 {
	s := 0.0
	for _, p := range g.params {
		s += kernels.SumSquares(p.Data)
	}
	return math.Sqrt(s)
}

// AddTo adds the gradients to dst, which has the same parameters.
func (g *Grads) AddTo(dst *Grads) { kernels.Add(dst.flat, g.flat) }

// Scale multiplies every gradient.
func (g *Grads) Scale(a float32) { kernels.Scale(g.flat, a, g.flat) }
