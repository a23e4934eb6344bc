//go:build race

package kernels

import (
	"runtime"
	"unsafe"
)

// raceEnabled: the race detector doesn't see what assembly reads and writes, so
// products tell it.
const raceEnabled = true

// tellReads reports the operands of a whole product.
func (g *gemmRun) tellReads() {
	switch g.form {
	case formOuter:
		for r := range g.k {
			runtime.RaceReadRange(unsafe.Add(g.x, r*g.ldx), 4*g.m)
			runtime.RaceReadRange(unsafe.Add(g.b, r*g.ldb), 4*g.n)
		}
	case formRows, formWiden:
		for r := range g.m {
			runtime.RaceReadRange(unsafe.Add(g.x, r*g.ldx), 4*g.k)
		}
	}
	for i := range g.then {
		h := g.then[i].product(g)
		h.tellReads()
	}
}

// tellWrites reports the outputs of one block.
func (g *gemmRun) tellWrites(r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		runtime.RaceWriteRange(unsafe.Add(g.y, r*g.ldy+4*c0), 4*(c1-c0))
	}
}
