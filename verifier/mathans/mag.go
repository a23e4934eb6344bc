package mathans

import (
	"math/big"
	"math/bits"
)

// mag is an upper bound of a magnitude: m times 2 to the e, m below 2^32. The
// zero value is zero. Every operation rounds up, so a bound stays a bound.
type mag struct {
	m uint64
	e int
}

// up brings m below 2^32, rounding up.
func up(m uint64, e int) mag {
	if n := bits.Len64(m); n > 32 {
		s := n - 32
		m = (m + (1 << s) - 1) >> s
		e += s
		if m == 1<<32 {
			m >>= 1
			e++
		}
	}
	return mag{m, e}
}

func (a mag) add(b mag) mag {
	switch {
	case a.m == 0:
		return b
	case b.m == 0:
		return a
	}
	if a.e < b.e {
		a, b = b, a
	}
	d := a.e - b.e
	if n := 63 - bits.Len64(a.m); d <= n-1 {
		return up(a.m<<d+b.m, b.e)
	}
	s := 30 // bring a up by 30 bits and b down to the same exponent
	a.m, a.e = a.m<<s, a.e-s
	d -= s
	if d >= 64 {
		return up(a.m+1, a.e)
	}
	return up(a.m+b.m>>d+1, a.e)
}

func (a mag) mul(b mag) mag {
	if a.m == 0 || b.m == 0 {
		return mag{}
	}
	return up(a.m*b.m, a.e+b.e)
}

// magOf bounds |x|.
func magOf(x *big.Float) mag {
	if x.Sign() == 0 {
		return mag{}
	}
	e := x.MantExp(nil) // |x| < 2^e
	f := new(big.Float).SetPrec(30).SetMode(big.AwayFromZero).Set(x)
	f.Abs(f)
	f.SetMantExp(f, 30-e)
	u, _ := f.Uint64()
	return up(u+1, e-30)
}

// float gives the bound as a float, which holds it exactly.
func (a mag) float() *big.Float {
	f := new(big.Float).SetPrec(32).SetUint64(a.m)
	return f.SetMantExp(f, a.e)
}

// exp is an e with a <= 2^e.
func (a mag) exp() int {
	if a.m == 0 {
		return minExp
	}
	return a.e + bits.Len64(a.m)
}

const minExp = -1 << 30
