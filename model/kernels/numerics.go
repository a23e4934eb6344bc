package kernels

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Numerics is how products with a frozen bfloat16 weight are computed. A kind has
// one defined order of sums and so one set of bits on every machine.
type Numerics int

// The kinds. F32 widens the weight and runs one chain of multiply-adds. The other
// two follow the TDPBF16PS instruction: per 32 summed values and part of the left
// operand, the even and the odd ones are two chains from zero, e and o, and the
// output gets c = c + (e + o); numbers too small for a normal float32 count as
// zero. BF16Products rounds the left operand to bfloat16; F32x3 splits it exactly
// into three bfloat16 parts, the smallest first.
const (
	F32 Numerics = iota
	F32x3
	BF16Products
)

var numericsNames = []string{"f32", "f32x3", "bf16"}

func (n Numerics) String() string { return numericsNames[n] }

// ParseNumerics reads the name of a kind: f32, f32x3 or bf16.
func ParseNumerics(name string) (Numerics, error) {
	for i, s := range numericsNames {
		if s == name {
			return Numerics(i), nil
		}
	}
	return F32, fmt.Errorf("numerics %q: want f32, f32x3 or bf16", name)
}

// parts is the number of bfloat16 values that stand for one of the left operand.
func (n Numerics) parts() int {
	if n == F32x3 {
		return 3
	}
	return 1
}

// quad is the number of summed values in a block of the TDPBF16PS order.
const quad = 32

// PackNumerics packs a bfloat16 weight of shape [n, k] for products of a kind.
func PackNumerics(w []uint16, n, k int, kind Numerics) *Matrix {
	checkLen("weight", len(w), n*k)
	m := &Matrix{N: n, K: k, bf16: true, kind: kind}
	m.w = packHalves(n, k, kind.order(), func(j, k0, k1 int, _ []uint16) [][]uint16 {
		var rows [][]uint16
		for c := j * panel; c < min((j+1)*panel, n); c++ {
			rows = append(rows, w[c*k+k0:c*k+k1])
		}
		return rows
	})
	return m
}

// Numerics returns the matrix's kind.
func (m *Matrix) Numerics() Numerics { return m.kind }

// leftPool keeps buffers for converted left operands.
var leftPool = sync.Pool{New: func() any { return new([]float32) }}

// split computes a product in a TDPBF16PS kind: it converts the rows of x, then
// runs the tiles.
func (p *Pool) split(g gemmRun, x []float32, ldx int, kind Numerics) {
	blocks, parts := (g.k+quad-1)/quad, kind.parts()
	if tilesActive() {
		p.splitTiles(g, x, ldx, parts)
		return
	}
	width := blocks * parts * quad
	convert := splitRow
	g.form = formChains
	if dotPairs() {
		width /= 2
		convert = pairRow
		g.form = formPairs
	}
	buf := leftPool.Get().(*[]float32)
	defer leftPool.Put(buf)
	if cap(*buf) < g.m*width {
		*buf = alignedF32(g.m * width * 5 / 4)
	}
	left := (*buf)[:g.m*width]
	k, m := g.k, g.m
	p.spread(m, rowGrain(4*k), func(_, i, j int) {
		for r := i; r < j; r++ {
			convert(left[r*width:][:width], x[r*ldx:][:k], parts)
		}
	})
	g.x, g.ldx, g.k, g.parts = unsafe.Pointer(&left[0]), 4*width, blocks*quad, parts
	p.run(g)
}

// splitRowGeneric converts a row for the chains of multiply-adds: for each block
// and part 32 floats, the even k first.
func splitRowGeneric(dst, x []float32, parts int) {
	clear(dst)
	for i, v := range x {
		at := i/quad*parts*quad + i%quad/2 + 16*(i&1)
		for q, h := range splitValue(v, parts) {
			dst[at+q*quad] = h
		}
	}
}

// splitValue returns the parts of v, smallest first.
func splitValue(v float32, parts int) []float32 {
	hi := roundBF16(v)
	if parts == 1 {
		return []float32{hi}
	}
	r := v - hi
	mid := roundBF16(r)
	return []float32{roundBF16(r - mid), mid, hi}
}

// roundBF16 is VCVTNEPS2BF16: nearest even, denormal inputs are zeros.
func roundBF16(v float32) float32 { return FromBF16(BF16(flush(v))) }

// flush turns a denormal into a zero of its sign.
func flush(v float32) float32 {
	if u := math.Float32bits(v); u&(0xff<<23) == 0 {
		return math.Float32frombits(u & (1 << 31))
	}
	return v
}

// pairRowGeneric converts a row for VDPBF16PS: for each block and part 16 dwords
// in the order of packBlocks, stored as the bits of floats.
func pairRowGeneric(dst, x []float32, parts int) {
	words := unsafe.Slice((*uint16)(unsafe.Pointer(&dst[0])), 2*len(dst))
	clear(dst)
	for i, v := range x {
		d := i%quad/4 + 8*(i&1)
		at := (i/quad*parts*16+d)*2 + 1 - i>>1&1
		for q, h := range splitValue(v, parts) {
			words[at+q*quad] = BF16(h)
		}
	}
}

// round64 rounds a float64 that is exact enough to float32, with results that are
// tiny after rounding becoming zeros of their sign.
func round64(d float64) float32 {
	const tiny, edge = 0x1p-126, 0x1p-126 - 0x1p-151
	if a := math.Abs(d); a < tiny {
		if a >= edge {
			return float32(math.Copysign(tiny, d))
		}
		return float32(math.Copysign(0, d))
	}
	return float32(d)
}

// tileChainsGeneric is the model of the TDPBF16PS kinds: k counts blocks, ldb parts.
func tileChainsGeneric(h, width int, t tile, a, b, c unsafe.Pointer) {
	for i := range h {
		y := unsafe.Slice((*float32)(unsafe.Add(c, i*t.ldc)), width)
		for j := range y {
			s := float32(0)
			if t.acc == 1 {
				s = flush(y[j])
			}
			for blk := range t.k {
				w := unsafe.Slice((*uint16)(unsafe.Add(b, blk*quad*panel*2+4*j)), quad*panel-2*(panel-1))
				for q := range t.ldb {
					x := unsafe.Slice((*float32)(unsafe.Add(a, i*t.lda+(blk*t.ldb+q)*4*quad)), quad)
					s = round64(float64(s) + float64(round64(float64(chain(x[:16], w))+float64(chain(x[16:], w[8*2*panel:])))))
				}
			}
			y[j] = s
		}
	}
}

// chain is one of a block's two chains: eight dwords of a column, high half first.
// Products of bfloat16 are exact and a sum with a float32 in float64 loses nothing
// that matters to the rounding.
func chain(x []float32, w []uint16) float32 {
	var s float32
	for d := range 8 {
		for half := range 2 {
			s = round64(float64(x[2*d+half])*float64(flush(FromBF16(w[2*panel*d+1-half]))) + float64(s))
		}
	}
	return s
}

// dotOff switches VDPBF16PS off, in tests.
var dotOff bool
