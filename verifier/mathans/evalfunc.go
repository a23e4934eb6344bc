package mathans

import "math/big"

// trigonometric functions take degrees as angles.
var trigonometric = set("sin", "cos", "tan", "cot", "sec", "csc")

// function computes a named function.
func (e *ballEval) function(n *node) (cball, error) {
	switch n.name {
	case "factorial", "binom", "gcd", "lcm":
		return e.whole(n)
	}
	if trigonometric[n.name] {
		saved := e.trig
		e.trig = true
		defer func() { e.trig = saved }()
	}
	var few [4]cball
	v := few[:0]
	for _, a := range n.args {
		x, err := e.eval(a)
		if err != nil {
			return x, err
		}
		v = append(v, x)
	}
	switch {
	case len(v) == 0:
		return cball{}, errUnknown
	case n.name == "root":
		k, err := (&ratEval{bud: e.bud}).eval(n.args[1])
		if err != nil || !k.IsInt() || !k.Num().IsInt64() {
			return e.expLn(v[0], v[1])
		}
		return e.root(v[0], k.Num().Int64())
	case trigonometric[n.name]:
		return e.trigonometry(n.name, v[0])
	case n.name == "ln" || n.name == "log":
		return e.log(n.name, v)
	}
	return e.other(n.name, v)
}

func (e *ballEval) trigonometry(name string, x cball) (cball, error) {
	if !e.cost(20) {
		return x, errBudget
	}
	s, c, err := x.sincos(e.prec)
	if err != nil {
		return x, err
	}
	one := realOf(fromInt(1, e.prec))
	switch name {
	case "sin":
		return s, nil
	case "cos":
		return c, nil
	case "tan":
		return e.quo(s, c)
	case "cot":
		return e.quo(c, s)
	case "sec":
		return e.quo(one, c)
	}
	return e.quo(one, s)
}

func (e *ballEval) log(name string, v []cball) (cball, error) {
	if !e.cost(40) {
		return cball{}, errBudget
	}
	if s, ok := v[0].re.sign(); e.real && ok && s < 0 {
		return v[0], errDomain
	}
	l, err := v[0].ln(e.prec)
	if err != nil {
		return l, err
	}
	var base cball
	switch {
	case len(v) == 2:
		base = v[1]
	case name == "log" && e.log10:
		base = realOf(fromInt(10, e.prec))
	default:
		return l, nil
	}
	b, err := base.ln(e.prec)
	if err != nil {
		return b, err
	}
	return e.quo(l, b)
}

// other computes the functions of real numbers.
func (e *ballEval) other(name string, v []cball) (cball, error) {
	x := v[0]
	switch name {
	case "abs":
		r, err := x.abs(e.prec)
		return realOf(r), err
	case "conj":
		return cball{x.re, x.im.neg()}, nil
	case "Re":
		return realOf(x.re), nil
	case "Im":
		return realOf(x.im), nil
	case "arg":
		r, err := x.arg(e.prec)
		return realOf(r), err
	case "max", "min":
		return e.extreme(name, v)
	case "sinh", "cosh", "tanh", "coth":
		return e.hyperbolic(name, x)
	}
	if !x.isReal() {
		return x, errUnknown
	}
	switch name {
	case "floor", "ceil":
		return e.rounding(name, x.re)
	case "sgn":
		s, ok := x.re.sign()
		if !ok {
			return x, errUnsure
		}
		return realOf(fromInt(int64(s), e.prec)), nil
	}
	if !e.cost(80) {
		return x, errBudget
	}
	r, err := e.inverse(name, x.re)
	return realOf(r), err
}

// inverse computes the inverse trigonometric and hyperbolic functions.
func (e *ballEval) inverse(name string, x ball) (ball, error) {
	p := e.prec
	one := fromInt(1, p)
	half := piBall(p)
	half.m.SetMantExp(half.m, -1)
	var err error
	switch name {
	case "arccot", "arcsec", "arccsc":
		if name == "arccot" && x.isZero() {
			return half, nil
		}
		if x, err = x.inv(p); err != nil {
			return x, err
		}
	}
	switch name {
	case "arctan", "arccot":
		return x.atan(p)
	case "arcsin", "arccsc":
		return x.asin(p)
	case "arccos", "arcsec":
		if x, err = x.asin(p); err != nil {
			return x, err
		}
		return half.sub(x, p), nil
	case "arcsinh", "arccosh":
		sq := x.mul(x, p)
		if name == "arcsinh" {
			sq = sq.add(one, p)
		} else {
			sq = sq.sub(one, p)
		}
		root, err := sq.sqrt(p)
		if err != nil {
			return x, err
		}
		return x.add(root, p).ln(p)
	case "arctanh":
		q, err := one.add(x, p).quo(one.sub(x, p), p)
		if err != nil {
			return q, err
		}
		l, err := q.ln(p)
		if err != nil {
			return l, err
		}
		l.m.SetMantExp(l.m, -1)
		return l, nil
	}
	return x, errUnknown
}

func (e *ballEval) hyperbolic(name string, x cball) (cball, error) {
	if !e.cost(25) {
		return x, errBudget
	}
	a, err := x.exp(e.prec)
	if err != nil {
		return x, err
	}
	b, err := a.inv(e.prec)
	if err != nil {
		return x, err
	}
	half := realOf(exact(new(big.Float).SetPrec(e.prec).SetMantExp(big.NewFloat(1), -1)))
	s := a.add(b.neg(), e.prec).mul(half, e.prec)
	c := a.add(b, e.prec).mul(half, e.prec)
	switch name {
	case "sinh":
		return s, nil
	case "cosh":
		return c, nil
	case "tanh":
		return e.quo(s, c)
	}
	return e.quo(c, s)
}

func (e *ballEval) extreme(name string, v []cball) (cball, error) {
	r := v[0]
	for _, x := range v[1:] {
		if !x.isReal() || !r.isReal() {
			return x, errUnknown
		}
		less, sure := r.re.below(x.re, e.prec)
		if !sure && !(r.re.isExact() && x.re.isExact()) {
			return x, errUnsure
		}
		if less == (name == "max") {
			r = x
		}
	}
	return r, nil
}

// rounding is the floor or ceiling, where the ball holds no whole number.
func (e *ballEval) rounding(name string, x ball) (cball, error) {
	if x.m.MantExp(nil) > 4096 {
		return realOf(x), errHuge
	}
	if name == "ceil" {
		x = x.neg()
	}
	floor := func(f *big.Float) *big.Int {
		n, acc := f.Int(nil)
		if f.Sign() < 0 && acc != big.Exact {
			n.Sub(n, big.NewInt(1))
		}
		return n
	}
	r := x.r.float()
	lo := floor(new(big.Float).SetPrec(e.prec+64).Sub(x.m, r))
	hi := floor(new(big.Float).SetPrec(e.prec+64).Add(x.m, r))
	if lo.Cmp(hi) != 0 {
		return realOf(x), errUnsure
	}
	b := ball{m: new(big.Float).SetPrec(max(e.prec, 4200)).SetInt(lo)}
	if name == "ceil" {
		b = b.neg()
	}
	return realOf(b), nil
}

// whole computes functions of whole numbers from exact arguments.
func (e *ballEval) whole(n *node) (cball, error) {
	q, err := e.exactly().eval(n)
	if err != nil {
		return cball{}, err
	}
	return realOf(fromRat(q, e.prec)), nil
}

// exactly is an exact evaluator with those variables that have exact values.
func (e *ballEval) exactly() *ratEval {
	exact := &ratEval{bud: e.bud, env: map[string]*big.Rat{}}
	for name, v := range e.env {
		if v.isReal() && v.re.isExact() && v.re.m.MantExp(nil) < 256 {
			q, _ := v.re.m.Rat(nil)
			exact.env[name] = q
		}
	}
	return exact
}
