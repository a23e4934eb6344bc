package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// rowCase runs one row kernel of the family in use on slices of n values and
// returns everything it wrote.
type rowCase struct {
	name string
	run  func(a [5][]float32, s, t *[16]float32)
}

var rowCases = []rowCase{
	{"dot", func(a [5][]float32, s, t *[16]float32) { s[0] = rowDot(a[0], a[1]) }},
	{"dot3", func(a [5][]float32, s, t *[16]float32) { s[0] = rowDot3(a[0], a[1], a[2]) }},
	{"axpy", func(a [5][]float32, s, t *[16]float32) { rowAxpy(a[0], 1.7, a[1]) }},
	{"scale", func(a [5][]float32, s, t *[16]float32) { rowScale(a[0], -0.3, a[1]) }},
	{"add", func(a [5][]float32, s, t *[16]float32) { rowAdd(a[0], a[1]) }},
	{"norm", func(a [5][]float32, s, t *[16]float32) { rowNorm(a[0], a[1], a[2], 0.77) }},
	{"normBack", func(a [5][]float32, s, t *[16]float32) { rowNormBack(a[0], a[1], a[2], a[3], 0.77, 0.13) }},
	{"normGrad", func(a [5][]float32, s, t *[16]float32) { rowNormGrad(a[0], a[1], a[2], 0.77) }},
	{"rotate", func(a [5][]float32, s, t *[16]float32) { rowRotate(a[0], a[1], a[2], a[3], 1) }},
	{"rotate back", func(a [5][]float32, s, t *[16]float32) { rowRotate(a[0], a[1], a[2], a[3], -1) }},
	{"gate", func(a [5][]float32, s, t *[16]float32) { rowGate(a[0], a[1], a[2]) }},
	{"gateBack", func(a [5][]float32, s, t *[16]float32) { rowGateBack(a[0], a[1], a[2], a[3], a[4]) }},
	{"gateBack in place", func(a [5][]float32, s, t *[16]float32) { rowGateBack(a[0], a[1], a[1], a[0], a[2]) }},
	{"gateBack over g and u", func(a [5][]float32, s, t *[16]float32) { rowGateBack(a[0], a[1], a[2], a[0], a[1]) }},
	{"expSum", func(a [5][]float32, s, t *[16]float32) { s[0] = rowExpSum(a[0], a[1], 1.3, 2) }},
	{"expSum in place", func(a [5][]float32, s, t *[16]float32) { s[0] = rowExpSum(a[0], a[0], 9, -3) }},
	{"entropy", func(a [5][]float32, s, t *[16]float32) { s[0], t[0] = rowEntropy(a[0], 1.3, 2) }},
	{"headBack", func(a [5][]float32, s, t *[16]float32) { rowHeadBack(a[0], 1.3, 2, 0.4, -0.7, 0.2) }},
	{"softmaxBack", func(a [5][]float32, s, t *[16]float32) { rowSoftmaxBack(a[0], a[1], 0.2, 1, 0.01, 0.3) }},
	{"max", func(a [5][]float32, s, t *[16]float32) {
		if len(a[0]) > 0 {
			s[0] = rowMax(a[0])
		}
	}},
	{"adam", func(a [5][]float32, s, t *[16]float32) {
		for i, v := range a[3] {
			a[3][i] = max(v, -v)
		}
		rowAdam(a[0], a[1], a[2], a[3], &AdamW{Decay: 0.999, Rate: 1e-2, Root: 0.3, B1: 0.9, C1: 0.1, B2: 0.99, C2: 0.01, Eps: 1e-8})
	}},
}

func TestRowsHaveTheBitsOfGenericGo(t *testing.T) {
	arithmeticOnly(t)
	for _, c := range rowCases {
		for n := range 70 {
			want := runRow(c, n, "generic", t)
			for _, name := range Implementations()[1:] {
				got := runRow(c, n, name, t)
				sameBits(t, fmt.Sprintf("%s %s n=%d", name, c.name, n), got, want)
			}
		}
	}
}

// runRow puts the operands between guard values that must survive, at odd
// alignments, and returns guards, operands and lanes.
func runRow(c rowCase, n int, family string, t *testing.T) []float32 {
	restore, err := Use(family)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	r := rand.New(rand.NewPCG(uint64(n), 3))
	buf := make([]float32, 5*(n+20)+20)
	for i := range buf {
		buf[i] = float32(math.Exp(r.NormFloat64()*2) * float64(1-2*r.IntN(2)))
		if r.IntN(12) == 0 {
			buf[i] = []float32{0, float32(math.Copysign(0, -1)), 88, -88, 100, -100, 1e-20, 3e20}[r.IntN(8)]
		}
	}
	var a [5][]float32
	for i := range a {
		at := i*(n+20) + 10 + i
		a[i] = buf[at : at+n : at+n]
	}
	var s, u [16]float32
	c.run(a, &s, &u)
	for i, v := range buf {
		if v != v {
			buf[i] = float32(math.NaN()) // payloads may differ
		}
	}
	return append(append(append([]float32(nil), buf...), s[:]...), u[:]...)
}

func TestRowsKeepNaN(t *testing.T) {
	each(t, func(t *testing.T) {
		nan := float32(math.NaN())
		x := []float32{1, nan, float32(math.Inf(1)), float32(math.Inf(-1)), -500, 500, 0}
		y := make([]float32, len(x))
		rowExpSum(y, x, 1, 0)
		if y[1] == y[1] || y[2] != x[2] || y[3] != 0 || y[4] != 0 || y[5] != x[2] || y[6] != 1 {
			t.Errorf("exp of %v = %v", x, y)
		}
	})
}
