//go:build !purego

package kernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// tile runs an instruction of AMX.
func (e *emulator) tile(i x86instruction) error {
	if i.op == opLdtilecfg {
		return e.configure(e.address(i.place))
	}
	if !e.ready {
		return errors.New("tiles are not configured")
	}
	if i.op == opTilerelease {
		e.tiles, e.ready = [8]emulatedTile{}, false
		return nil
	}
	t := &e.tiles[i.reg]
	if t.rows == 0 {
		return fmt.Errorf("tile %d is not configured", i.reg)
	}
	switch i.op {
	case opTilezero:
		t.data = [16][tileRow]byte{}
	case opTileload, opTileloadT1, opTilestored:
		return e.transfer(t, i)
	case opTdpbf16ps:
		return e.dot(i.reg, i.place.reg, i.third)
	default:
		return errors.New("no instruction of AMX")
	}
	return nil
}

// configure loads 64 bytes of shapes, by the rules of palette 1.
func (e *emulator) configure(at uintptr) error {
	b, err := e.access(at, 64, false)
	if err != nil {
		return err
	}
	if b[0] != 1 || b[1] != 0 {
		return fmt.Errorf("palette %d, start row %d", b[0], b[1])
	}
	for _, reserved := range [][2]int{{2, 16}, {32, 48}, {56, 64}} {
		for _, v := range b[reserved[0]:reserved[1]] {
			if v != 0 {
				return fmt.Errorf("reserved bytes are % x", b)
			}
		}
	}
	for t := range e.tiles {
		rows, bytes := int(b[48+t]), int(binary.LittleEndian.Uint16(b[16+2*t:]))
		if rows > 16 || bytes > tileRow || (rows == 0) != (bytes == 0) {
			return fmt.Errorf("tile %d has %d rows of %d bytes", t, rows, bytes)
		}
		e.tiles[t] = emulatedTile{rows: rows, bytes: bytes}
	}
	e.ready = true
	return nil
}

// transfer loads or stores the rows of a tile.
func (e *emulator) transfer(t *emulatedTile, i x86instruction) error {
	if i.op != opTilestored {
		t.data = [16][tileRow]byte{}
	}
	at, stride := e.address(i.place), uintptr(e.regs[i.place.index])
	for r := range t.rows {
		b, err := e.access(at+uintptr(r)*stride, t.bytes, i.op == opTilestored)
		if err != nil {
			return fmt.Errorf("row %d: %w", r, err)
		}
		if i.op == opTilestored {
			copy(b, t.data[r][:t.bytes])
		} else {
			copy(t.data[r][:], b)
		}
	}
	return nil
}

// flaw is a way in which TDPBF16PS could be wrong, to see whether a test notices.
type flaw int

const (
	exact         flaw = iota
	oneChain           // all 32 products in one chain
	oddFirst           // pairs into one chain, the odd value first: VDPBF16PS
	chainFromSum       // the chains start from the sum
	keepDenormals      // no flush to zero
	doubleSums         // one rounding at the end
)

// dot is c += a·b.
func (e *emulator) dot(c, a, b int) error {
	sum, left, right := &e.tiles[c], &e.tiles[a], &e.tiles[b]
	switch {
	case a == b || a == c || b == c:
		return errors.New("one tile is two operands")
	case left.rows == 0 || right.rows == 0:
		return errors.New("an operand is not configured")
	case left.rows != sum.rows || right.bytes != sum.bytes || left.bytes != 4*right.rows || sum.bytes%4 != 0:
		return fmt.Errorf("%dx%d bytes += %dx%d by %dx%d", sum.rows, sum.bytes, left.rows, left.bytes, right.rows, right.bytes)
	}
	e.dots++
	values := func(t *emulatedTile) (v [16][32]float64) {
		for r := range t.rows {
			for i := range t.bytes / 2 {
				v[r][i] = daz(uint32(binary.LittleEndian.Uint16(t.data[r][2*i:])) << 16)
			}
		}
		return v
	}
	x, w := values(left), values(right)
	for r := range sum.rows {
		for j := range sum.bytes / 4 {
			cell := sum.data[r][4*j:]
			s := daz(binary.LittleEndian.Uint32(cell))
			binary.LittleEndian.PutUint32(cell, math.Float32bits(e.flaw.sum(s, &x[r], &w, j, right.rows)))
		}
	}
	return nil
}

// sum is one output of TDPBF16PS: two chains of fused multiply-adds from zero, one
// over the even and one over the odd values, added to each other and then to s.
func (f flaw) sum(s float64, x *[32]float64, w *[16][32]float64, j, pairs int) float32 {
	round := ftz
	switch f {
	case keepDenormals:
		round = func(d float64) float32 { return float32(d) }
	case oneChain, oddFirst, chainFromSum:
		return f.chains(s, x, w, j, pairs)
	case doubleSums:
		d := 0.0
		for p := range pairs {
			d += x[2*p]*w[p][2*j] + x[2*p+1]*w[p][2*j+1]
		}
		return ftz(s + d)
	}
	var even, odd float32
	for p := range pairs {
		even = round(x[2*p]*w[p][2*j] + float64(even))
		odd = round(x[2*p+1]*w[p][2*j+1] + float64(odd))
	}
	return round(s + float64(round(float64(even)+float64(odd))))
}

// chains are wrong orders of sums.
func (f flaw) chains(s float64, x *[32]float64, w *[16][32]float64, j, pairs int) float32 {
	t := float32(0)
	if f != oneChain {
		t = float32(s)
	}
	for p := range pairs {
		for half := range 2 {
			if f == oddFirst {
				half = 1 - half
			}
			t = ftz(x[2*p+half]*w[p][2*j+half] + float64(t))
		}
	}
	if f == oneChain {
		return ftz(s + float64(t))
	}
	return t
}

// daz is a float32 with denormals as zeros of their sign.
func daz(bits uint32) float64 {
	if bits&0x7f800000 == 0 {
		bits &= 0x80000000
	}
	return float64(math.Float32frombits(bits))
}

// ftz rounds a number to 24 bits, nearest even, whatever its exponent, and then
// takes what is below the normal numbers of float32 for a zero of its sign. A sum
// of two numbers of at most 24 bits in float64 comes out as if rounded once.
func ftz(d float64) float32 {
	if math.Abs(d) >= 0x1p-120 || d != d {
		return float32(d)
	}
	const up = 0x1p100
	r := float64(float32(d*up)) / up
	if math.Abs(r) < 0x1p-126 {
		r = math.Copysign(0, d)
	}
	return float32(r)
}
