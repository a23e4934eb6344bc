package mathans

import "math/big"

// ball is a real number known to lie within r of m.
type ball struct {
	m *big.Float
	r mag
}

// maxExponent bounds the binary exponent of every number the engine handles.
const maxExponent = 1 << 28

func exact(m *big.Float) ball { return ball{m: m} }

// rounded is a ball about m, a result rounded to prec bits, with radius r
// besides.
func rounded(m *big.Float, prec uint, r mag) ball {
	if m.Sign() == 0 {
		return ball{m, r}
	}
	return ball{m, r.add(mag{1, m.MantExp(nil) - int(prec)})}
}

func fromRat(q *big.Rat, prec uint) ball {
	m := new(big.Float).SetPrec(prec).SetRat(q)
	if m.Acc() == big.Exact {
		return exact(m)
	}
	return rounded(m, prec, mag{})
}

func fromInt(n int64, prec uint) ball {
	return exact(new(big.Float).SetPrec(prec).SetInt64(n))
}

// sane reports whether the ball's exponents are within bounds.
func (a ball) sane() bool {
	if a.m.IsInf() || a.r.exp() > maxExponent {
		return false
	}
	return a.m.Sign() == 0 || a.m.MantExp(nil) < maxExponent && a.m.MantExp(nil) > -maxExponent
}

func (a ball) isZero() bool  { return a.r.m == 0 && a.m.Sign() == 0 }
func (a ball) isExact() bool { return a.r.m == 0 }

// hasZero reports whether zero is in the ball.
func (a ball) hasZero() bool {
	if a.m.Sign() == 0 {
		return true
	}
	if a.r.m == 0 {
		return false
	}
	return new(big.Float).Abs(a.m).Cmp(a.r.float()) <= 0
}

// sign is the sign of the number, and false where the ball does not tell.
func (a ball) sign() (int, bool) {
	if a.isZero() {
		return 0, true
	}
	if a.hasZero() {
		return 0, false
	}
	return a.m.Sign(), true
}

func (a ball) neg() ball {
	return ball{new(big.Float).Neg(a.m), a.r}
}

func (a ball) add(b ball, prec uint) ball {
	m := new(big.Float).SetPrec(prec).Add(a.m, b.m)
	r := a.r.add(b.r)
	if m.Acc() == big.Exact {
		return ball{m, r}
	}
	return rounded(m, prec, r)
}

func (a ball) sub(b ball, prec uint) ball { return a.add(b.neg(), prec) }

func (a ball) mul(b ball, prec uint) ball {
	m := new(big.Float).SetPrec(prec).Mul(a.m, b.m)
	var r mag
	if a.r.m != 0 || b.r.m != 0 {
		r = magOf(a.m).mul(b.r).add(magOf(b.m).mul(a.r)).add(a.r.mul(b.r))
	}
	if m.Acc() == big.Exact {
		return ball{m, r}
	}
	return rounded(m, prec, r)
}

// inv is 1/a.
func (a ball) inv(prec uint) (ball, error) {
	if a.isZero() {
		return a, errDomain
	}
	if a.hasZero() {
		return a, errUnsure
	}
	m := new(big.Float).SetPrec(prec).Quo(new(big.Float).SetPrec(prec).SetInt64(1), a.m)
	var r mag
	if a.r.m != 0 { // |1/x - 1/m| <= r / (|m| (|m|-r))
		low := new(big.Float).SetPrec(64).SetMode(big.ToZero).Abs(a.m)
		den := new(big.Float).SetPrec(64).SetMode(big.ToZero).Sub(low, a.r.float())
		if den.Sign() <= 0 {
			return a, errUnsure
		}
		den.Mul(den, low)
		q := new(big.Float).SetPrec(64).SetMode(big.AwayFromZero).Quo(a.r.float(), den)
		r = magOf(q)
	}
	return rounded(m, prec, r), nil
}

func (a ball) quo(b ball, prec uint) (ball, error) {
	i, err := b.inv(prec + 8)
	if err != nil {
		return b, err
	}
	return a.mul(i, prec), nil
}

// sqrt is the root of a number that is not negative. A ball that reaches below
// zero gives one that holds the roots of what is above.
func (a ball) sqrt(prec uint) (ball, error) {
	if a.isZero() {
		return a, nil
	}
	if a.hasZero() {
		hi := new(big.Float).SetPrec(64).SetMode(big.AwayFromZero).Add(new(big.Float).Abs(a.m), a.r.float())
		root := new(big.Float).SetPrec(64).Sqrt(hi)
		return ball{new(big.Float).SetPrec(prec), magOf(root).add(mag{1, root.MantExp(nil) - 30})}, nil
	}
	if a.m.Sign() < 0 {
		return a, errDomain
	}
	m := new(big.Float).SetPrec(prec + 4).Sqrt(a.m)
	m.SetPrec(prec)
	var r mag
	if a.r.m != 0 { // |sqrt x - sqrt m| <= r / sqrt m
		q := new(big.Float).SetPrec(64).SetMode(big.AwayFromZero).Quo(a.r.float(), m)
		r = magOf(q)
	} else if sq := new(big.Float).SetPrec(2*prec+8).Mul(m, m); sq.Cmp(a.m) == 0 {
		return exact(m), nil
	}
	return rounded(m, prec-2, r), nil
}

// powInt is a to the n, n not negative, by repeated squaring.
func (a ball) powInt(n uint64, prec uint) ball {
	r := fromInt(1, prec)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = r.mul(a, prec)
		}
		if n > 1 {
			a = a.mul(a, prec)
		}
		if !r.sane() || !a.sane() {
			return r
		}
	}
	return r
}

// below reports whether a < b, and false for sure where the balls overlap.
func (a ball) below(b ball, prec uint) (less, sure bool) {
	s, ok := a.sub(b, prec).sign()
	return s < 0, ok
}
