package kernels

import "unsafe"

// Addend is a product of low rank that is added to a part of another one's output
// while that is in the cache: output rows [Row, Row+Rows), columns from Col on, get
// X[Rows, K]·Wᵀ added, or X[Rows, N]·W if Transposed is set. W is of kind F32. The bits
// are those of a MatMul or MatMulT of its own that adds.
type Addend struct {
	Row, Rows, Col int
	X              []float32
	LdX            int
	W              *Matrix
	Transposed     bool
}

// admit checks addends against the output of length n and tells whether they can be
// added block by block: each must begin at a panel of the output.
func (g *gemmRun) admit(n int, then []Addend) bool {
	together := true
	for i := range then {
		a := &then[i]
		w := a.operand()
		checkRows("addend: input", len(a.X), a.LdX, a.Rows, w.k)
		checkRows("addend: output", n-a.Row*g.ldy/4-a.Col, g.ldy/4, a.Rows, w.n)
		if a.W.kind != F32 {
			panic("kernels: addend of kind " + a.W.kind.String())
		}
		together = together && a.Col%panel == 0
	}
	return together
}

func (a *Addend) operand() *operand {
	if a.Transposed {
		return a.W.transposed()
	}
	return &a.W.w
}

// product is the addend as a product of its own on the output of g.
func (a *Addend) product(g *gemmRun) gemmRun {
	return packedRun(unsafe.Add(g.y, a.Row*g.ldy+4*a.Col), g.ldy, a.X, a.LdX, a.Rows, a.operand(), F32, true)
}

// addends adds to the block of rows [r0, r1) and columns [c0, c1).
func (g *gemmRun) addends(r0, r1, c0, c1 int) {
	for i := range g.then {
		a := &g.then[i]
		h := a.product(g)
		top, left := max(r0, a.Row), max(c0, a.Col)
		bottom, right := min(r1, a.Row+h.m), min(c1, a.Col+h.n)
		if top < bottom && left < right {
			h.block(top-a.Row, bottom-a.Row, left-a.Col, right-a.Col)
		}
	}
}
