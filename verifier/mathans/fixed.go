package mathans

import (
	"math/big"
	"sync"
)

// Fixed-point series. A number is a big.Int scaled by 2^w; every step rounds
// toward minus infinity and is off by at most one unit.

func fixedMul(z, a, b *big.Int, w uint) *big.Int {
	z.Mul(a, b)
	return z.Rsh(z, w)
}

func fixedOne(w uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), w) }

// toFixed rounds a float to 2^-w.
func toFixed(x *big.Float, w uint) *big.Int {
	if x.Sign() == 0 {
		return new(big.Int)
	}
	f := new(big.Float).SetPrec(x.Prec()).SetMantExp(x, int(w))
	n, _ := f.Int(nil)
	return n
}

// toFloat gives a fixed-point number times 2^shift.
func toFloat(n *big.Int, w uint, shift int, prec uint) *big.Float {
	f := new(big.Float).SetPrec(prec).SetInt(n)
	return f.SetMantExp(f, shift-int(w))
}

// fixedExp is e^x for 0 <= x < 1.
func fixedExp(x *big.Int, w uint) *big.Int {
	const halvings = 12
	t := new(big.Int).Rsh(x, halvings)
	sum, term := fixedOne(w), fixedOne(w)
	for k := int64(1); term.Sign() != 0; k++ {
		fixedMul(term, term, t, w)
		term.Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	for range halvings {
		fixedMul(sum, sum, sum, w)
	}
	return sum
}

// fixedAtanh is atanh x for small |x|; fixedAtan the same with signs
// alternating.
func fixedAtanh(x *big.Int, w uint) *big.Int { return arcSeries(x, w, false) }
func fixedAtan(x *big.Int, w uint) *big.Int  { return arcSeries(x, w, true) }

func arcSeries(x *big.Int, w uint, alternate bool) *big.Int {
	sq := fixedMul(new(big.Int), x, x, w)
	if alternate {
		sq.Neg(sq)
	}
	sum, term, q := new(big.Int).Set(x), new(big.Int).Set(x), new(big.Int)
	for k := int64(3); ; k += 2 {
		fixedMul(term, term, sq, w)
		q.Quo(term, big.NewInt(k))
		if q.Sign() == 0 || term.BitLen() <= 2 {
			return sum
		}
		sum.Add(sum, q)
	}
}

// fixedSinCos gives sine and cosine for |x| < 1.
func fixedSinCos(x *big.Int, w uint) (sin, cos *big.Int) {
	sin, cos = new(big.Int).Set(x), fixedOne(w)
	term := new(big.Int).Set(x)
	for k := int64(2); term.BitLen() > 1; k++ {
		fixedMul(term, term, x, w)
		term.Quo(term, big.NewInt(k))
		switch k % 4 {
		case 0:
			cos.Add(cos, term)
		case 1:
			sin.Add(sin, term)
		case 2:
			cos.Sub(cos, term)
		case 3:
			sin.Sub(sin, term)
		}
	}
	return sin, cos
}

// constBits is the precision of the stored constants.
const constBits = 2600

var constants = sync.OnceValue(func() [2]*big.Int {
	const w = constBits + 32
	// pi = 16 atan(1/5) - 4 atan(1/239); ln 2 = 2 atanh(1/3)
	inverse := func(n int64) *big.Int { return new(big.Int).Quo(fixedOne(w), big.NewInt(n)) }
	pi := fixedAtan(inverse(5), w)
	pi.Lsh(pi, 4)
	pi.Sub(pi, new(big.Int).Lsh(fixedAtan(inverse(239), w), 2))
	ln2 := fixedAtanh(inverse(3), w)
	ln2.Lsh(ln2, 1)
	return [2]*big.Int{pi.Rsh(pi, 32), ln2.Rsh(ln2, 32)}
})

// fixedPi and fixedLn2 are the constants to w bits, w at most constBits.
func fixedPi(w uint) *big.Int  { return new(big.Int).Rsh(constants()[0], constBits-w) }
func fixedLn2(w uint) *big.Int { return new(big.Int).Rsh(constants()[1], constBits-w) }
