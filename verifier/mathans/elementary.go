package mathans

import "math/big"

// guard is how many bits the series carry beyond the precision asked for.
const guard = 48

func piBall(prec uint) ball {
	w := prec + guard
	return rounded(toFloat(fixedPi(w), w, 0, prec), prec-1, mag{})
}

// exp is e to the a.
func (a ball) exp(prec uint) (ball, error) {
	if a.isZero() {
		return fromInt(1, prec), nil
	}
	e := a.m.MantExp(nil)
	switch {
	case e > 27 || a.r.exp() > 0:
		if a.r.exp() > 0 {
			return a, errUnsure
		}
		return a, errHuge
	case e < -int(prec)-8: // 1 + x, off by less than |x| + r
		return ball{new(big.Float).SetPrec(prec).SetInt64(1), magOf(a.m).mul(mag{2, 0}).add(a.r.mul(mag{2, 0}))}, nil
	}
	w := prec + guard
	wide := w + uint(max(e, 0)) + 4
	x := toFixed(a.m, wide)
	k, x := new(big.Int).DivMod(x, fixedLn2(wide), new(big.Int))
	x.Rsh(x, wide-w)
	y := fixedExp(x, w)
	shift := int(k.Int64())
	m := toFloat(y, w, shift, prec)
	// e^(x+d) is off by at most e^x 2|d|.
	return rounded(m, prec-2, magOf(m).mul(a.r).mul(mag{2, 0})), nil
}

// ln is the natural logarithm of a positive number.
func (a ball) ln(prec uint) (ball, error) {
	if a.isZero() || a.m.Sign() < 0 && !a.hasZero() {
		return a, errDomain
	}
	if a.hasZero() {
		return a, errUnsure
	}
	w := prec + guard
	frac := new(big.Float).SetPrec(w)
	e := a.m.MantExp(frac)
	frac.SetPrec(w)
	const roots = 8
	for range roots {
		frac.Sqrt(frac)
	}
	one := big.NewFloat(1).SetPrec(w)
	z := new(big.Float).SetPrec(w).Sub(frac, one)
	z.Quo(z, new(big.Float).SetPrec(w).Add(frac, one))
	y := fixedAtanh(toFixed(z, w), w)
	y.Lsh(y, roots+1)
	if e != 0 {
		y.Add(y, new(big.Int).Rsh(new(big.Int).Mul(fixedLn2(w+32), big.NewInt(int64(e))), 32))
	}
	m := toFloat(y, w, 0, prec)
	r := mag{1, 16 - int(w)} // the roots' and the series' errors, times 2^9
	if a.r.m != 0 {
		i, err := ball{a.m, a.r}.inv(64)
		if err != nil {
			return a, err
		}
		r = r.add(magOf(i.m).add(i.r).mul(a.r))
	}
	return rounded(m, prec, r), nil
}

// sincos gives sine and cosine.
func (a ball) sincos(prec uint) (sin, cos ball, err error) {
	if a.isZero() {
		return a, fromInt(1, prec), nil
	}
	e := max(a.m.MantExp(nil), 0)
	if e > 1024 {
		return a, a, errHuge
	}
	w := prec + guard
	wide := w + uint(e) + 4
	x := toFixed(a.m, wide)
	half := new(big.Int).Rsh(fixedPi(wide), 1)
	k, x := new(big.Int).DivMod(x, half, new(big.Int))
	quadrant := int(new(big.Int).And(k, big.NewInt(3)).Int64())
	x.Rsh(x, wide-w)
	s, c := halfAngle(x, w)
	switch quadrant {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s, c = s.Neg(s), c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	r := a.r.add(mag{1, 16 - int(w)})
	return rounded(toFloat(s, w, 0, prec), prec, r), rounded(toFloat(c, w, 0, prec), prec, r), nil
}

// halfAngle gives sine and cosine of 0 <= x < 2 from those of x/4.
func halfAngle(x *big.Int, w uint) (s, c *big.Int) {
	s, c = fixedSinCos(new(big.Int).Rsh(x, 2), w)
	for range 2 {
		t := new(big.Int)
		fixedMul(t, s, c, w)
		t.Lsh(t, 1)
		fixedMul(c, c, c, w)
		fixedMul(s, s, s, w)
		c, s = new(big.Int).Sub(c, s), t
	}
	return s, c
}

// atan is the inverse tangent.
func (a ball) atan(prec uint) (ball, error) {
	if a.isZero() {
		return a, nil
	}
	w := prec + guard
	x := exact(new(big.Float).SetPrec(w).Set(a.m))
	one := fromInt(1, w)
	big1 := x.m.MantExp(nil) > 0 // |x| >= 1
	if big1 {
		x, _ = x.inv(w)
	}
	if x.m.MantExp(nil) < -int(prec) { // atan x is x, off by x^3
		if !big1 {
			return rounded(new(big.Float).SetPrec(prec).Set(a.m), prec-1, a.r), nil
		}
	}
	const halvings = 4
	for range halvings { // atan x = 2 atan(x / (1 + sqrt(1 + x^2)))
		root, _ := one.add(x.mul(x, w), w).sqrt(w)
		x, _ = x.quo(one.add(root, w), w)
	}
	y := fixedAtan(toFixed(x.m, w), w)
	y.Lsh(y, halvings)
	if big1 {
		half := new(big.Int).Rsh(fixedPi(w), 1)
		if a.m.Sign() < 0 {
			half.Neg(half)
		}
		y = half.Sub(half, y)
	}
	m := toFloat(y, w, 0, prec)
	return rounded(m, prec, a.r.add(mag{1, 16 - int(w)})), nil
}

// asin is the inverse sine of a number from -1 to 1.
func (a ball) asin(prec uint) (ball, error) {
	one := fromInt(1, prec)
	rest := one.sub(a.mul(a, prec), prec)
	if s, ok := rest.sign(); !ok {
		return a, errUnsure
	} else if s < 0 {
		return a, errDomain
	} else if s == 0 {
		half := piBall(prec)
		half.m.SetMantExp(half.m, -1)
		half.r.e--
		if a.m.Sign() < 0 {
			return half.neg(), nil
		}
		return half, nil
	}
	root, err := rest.sqrt(prec)
	if err != nil {
		return a, err
	}
	t, err := a.quo(root, prec)
	if err != nil {
		return a, err
	}
	return t.atan(prec)
}
