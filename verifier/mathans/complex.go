package mathans

import "math/big"

// cball is a complex number: a ball for each part. im is the zero ball, exact,
// for a real number.
type cball struct{ re, im ball }

func realOf(b ball) cball { return cball{re: b, im: zeroBall} }

var zeroBall = ball{m: new(big.Float).SetPrec(64)}

func (a cball) isReal() bool { return a.im.isZero() }
func (a cball) isZero() bool { return a.re.isZero() && a.im.isZero() }

func (a cball) neg() cball { return cball{a.re.neg(), a.im.neg()} }

func (a cball) add(b cball, prec uint) cball {
	if a.isReal() && b.isReal() {
		return realOf(a.re.add(b.re, prec))
	}
	return cball{a.re.add(b.re, prec), a.im.add(b.im, prec)}
}

func (a cball) mul(b cball, prec uint) cball {
	if a.isReal() && b.isReal() {
		return realOf(a.re.mul(b.re, prec))
	}
	return cball{
		a.re.mul(b.re, prec).sub(a.im.mul(b.im, prec), prec),
		a.re.mul(b.im, prec).add(a.im.mul(b.re, prec), prec),
	}
}

// norm is |a|².
func (a cball) norm(prec uint) ball {
	return a.re.mul(a.re, prec).add(a.im.mul(a.im, prec), prec)
}

func (a cball) abs(prec uint) (ball, error) {
	if a.isReal() {
		b := ball{new(big.Float).Abs(a.re.m), a.re.r}
		return b, nil
	}
	return a.norm(prec).sqrt(prec)
}

func (a cball) inv(prec uint) (cball, error) {
	if a.isReal() {
		r, err := a.re.inv(prec)
		return realOf(r), err
	}
	n, err := a.norm(prec).inv(prec)
	if err != nil {
		return a, err
	}
	return cball{a.re.mul(n, prec), a.im.neg().mul(n, prec)}, nil
}

func (a cball) exp(prec uint) (cball, error) {
	r, err := a.re.exp(prec)
	if err != nil || a.isReal() {
		return realOf(r), err
	}
	s, c, err := a.im.sincos(prec)
	if err != nil {
		return a, err
	}
	return cball{r.mul(c, prec), r.mul(s, prec)}, nil
}

// arg is the angle from -pi to pi.
func (a cball) arg(prec uint) (ball, error) {
	if a.isReal() {
		switch s, ok := a.re.sign(); {
		case !ok:
			return a.re, errUnsure
		case s == 0:
			return a.re, errDomain
		case s < 0:
			return piBall(prec), nil
		}
		return zeroBall, nil
	}
	x, xok := a.re.sign()
	y, yok := a.im.sign()
	switch {
	case xok && x > 0:
		t, err := a.im.quo(a.re, prec)
		if err != nil {
			return t, err
		}
		return t.atan(prec)
	case !yok:
		return a.re, errUnsure
	}
	t, err := a.re.quo(a.im, prec) // angle = ±pi/2 - atan(x/y)
	if err != nil {
		return t, err
	}
	if t, err = t.atan(prec); err != nil {
		return t, err
	}
	half := piBall(prec)
	half.m.SetMantExp(half.m, -1)
	if y < 0 {
		half = half.neg()
	}
	return half.sub(t, prec), nil
}

func (a cball) ln(prec uint) (cball, error) {
	r, err := a.abs(prec)
	if err != nil {
		return a, err
	}
	l, err := r.ln(prec)
	if err != nil {
		return a, err
	}
	t, err := a.arg(prec)
	return cball{l, t}, err
}

// sqrt is the principal root.
func (a cball) sqrt(prec uint) (cball, error) {
	if a.isReal() {
		s, ok := a.re.sign()
		switch {
		case !ok:
			r, err := a.re.sqrt(prec)
			return cball{r, r}, err
		case s < 0:
			r, err := a.re.neg().sqrt(prec)
			return cball{zeroBall, r}, err
		}
		r, err := a.re.sqrt(prec)
		return realOf(r), err
	}
	l, err := a.ln(prec)
	if err != nil {
		return a, err
	}
	half := exact(new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), -1))
	return l.mul(realOf(half), prec).exp(prec)
}

// sincos of a complex number through the exponential function.
func (a cball) sincos(prec uint) (sin, cos cball, err error) {
	if a.isReal() {
		s, c, err := a.re.sincos(prec)
		return realOf(s), realOf(c), err
	}
	up, err := cball{a.im.neg(), a.re}.exp(prec) // e^{iz}
	if err != nil {
		return a, a, err
	}
	down, err := up.inv(prec)
	if err != nil {
		return a, a, err
	}
	half := realOf(exact(new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), -1)))
	cos = up.add(down, prec).mul(half, prec)
	d := up.add(down.neg(), prec).mul(half, prec) // i sin z
	return cball{d.im, d.re.neg()}, cos, nil
}

// powInt is a to the n.
func (a cball) powInt(n uint64, prec uint) cball {
	if a.isReal() {
		return realOf(a.re.powInt(n, prec))
	}
	r := realOf(fromInt(1, prec))
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = r.mul(a, prec)
		}
		if n > 1 {
			a = a.mul(a, prec)
		}
	}
	return r
}
