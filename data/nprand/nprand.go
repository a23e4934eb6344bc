// Package nprand draws the random numbers of NumPy's default_rng(seed), so that
// splits made by Python tools can be made again: SeedSequence, PCG64 and the
// two ways in which NumPy bounds integers.
//
// Sources: O'Neill, "PCG: A family of simple fast space-efficient statistically
// good algorithms for random number generation" (2014), variant XSL-RR 128/64;
// Lemire, "Fast random integer generation in an interval" (2019); NumPy's
// documentation of SeedSequence and of bit generators.
package nprand

import (
	"fmt"
	"math"
	"math/bits"
)

// Generator is numpy.random.default_rng(seed). It is not for several
// goroutines at once.
type Generator struct {
	hi, lo       uint64 // state
	incHi, incLo uint64
	half         uint32 // the kept half of a 64-bit output
	hasHalf      bool
}

// The multiplier of the 128-bit congruential generator.
const (
	multHi = 0x2360ed051fc65da4
	multLo = 0x4385df649fccf645
)

// New is default_rng(seed).
func New(seed uint64) *Generator {
	words := []uint32{uint32(seed)}
	if hi := uint32(seed >> 32); hi != 0 {
		words = append(words, hi)
	}
	return fromWords(words)
}

func fromWords(entropy []uint32) *Generator {
	w := newSeedSequence(entropy).state(8)
	q := func(i int) uint64 { return uint64(w[2*i]) | uint64(w[2*i+1])<<32 }
	g := &Generator{incHi: q(2)<<1 | q(3)>>63, incLo: q(3)<<1 | 1}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, q(1), 0)
	g.hi, _ = bits.Add64(g.hi, q(0), carry)
	g.step()
	return g
}

func (g *Generator) step() {
	hi, lo := bits.Mul64(g.lo, multLo)
	hi += g.hi*multLo + g.lo*multHi
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

// Uint64 is the next raw output.
func (g *Generator) Uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

// Uint32 takes the low half of an output and keeps the high half for the next
// 32-bit draw. 64-bit draws in between leave the kept half alone.
func (g *Generator) Uint32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	v := g.Uint64()
	g.half, g.hasHalf = uint32(v>>32), true
	return uint32(v)
}

// Float64 is random(): 53 bits in [0, 1).
func (g *Generator) Float64() float64 { return float64(g.Uint64()>>11) / (1 << 53) }

// Integer is integers(0, n) for int64: Lemire's multiply and reject.
func (g *Generator) Integer(n uint64) uint64 {
	switch {
	case n <= 1:
		return 0
	case n-1 < math.MaxUint32:
		return g.lemire32(uint32(n))
	case n-1 == math.MaxUint32:
		return uint64(g.Uint32())
	}
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

func (g *Generator) lemire32(n uint32) uint64 {
	m := uint64(g.Uint32()) * uint64(n)
	if uint32(m) < n {
		for threshold := -n % n; uint32(m) < threshold; {
			m = uint64(g.Uint32()) * uint64(n)
		}
	}
	return m >> 32
}

// interval is a number in [0, last] by mask and rejection, which is how
// shuffles draw.
func (g *Generator) interval(last uint64) uint64 {
	if last == 0 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(last) - 1
	for {
		v := uint64(0)
		if last <= math.MaxUint32 {
			v = uint64(g.Uint32()) & mask
		} else {
			v = g.Uint64() & mask
		}
		if v <= last {
			return v
		}
	}
}

// Permutation is permutation(n): the numbers below n in random order.
func (g *Generator) Permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := g.interval(uint64(i))
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// Split is train_test_split(test_size, seed) of Hugging Face datasets on n
// rows: the rows of both parts, in their order.
func Split(n int, testSize float64, seed uint64) (train, test []int, err error) {
	if !(testSize > 0 && testSize < 1) {
		return nil, nil, fmt.Errorf("split: a test share of %v is not between 0 and 1", testSize)
	}
	// The ceiling is of the rounded product: 0.07 * 100 gives 8.
	nTest := int(math.Ceil(testSize * float64(n)))
	p := New(seed).Permutation(n)
	return p[nTest:], p[:nTest], nil
}

// Shuffled is the order of shuffle(seed) of Hugging Face datasets.
func Shuffled(n int, seed uint64) []int { return New(seed).Permutation(n) }
