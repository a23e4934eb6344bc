package mathans

import "math/big"

// ballEval computes expressions by ball arithmetic.
type ballEval struct {
	prec  uint
	bud   *budget
	env   map[string]cball
	real  bool // a value that is not real is outside the domain
	log10 bool // a logarithm without a base is decimal
	trig  bool // inside a trigonometric function: degrees are angles
}

func (e *ballEval) cost(n int) bool { return e.bud.spend(n * (24 + int(e.prec)/8)) }

func (e *ballEval) eval(n *node) (cball, error) {
	if !e.cost(1) {
		return cball{}, errBudget
	}
	v, err := e.evalNode(n)
	switch {
	case err != nil:
		return v, err
	case !v.re.sane() || !v.im.sane():
		return v, errHuge
	case e.real && !v.isReal():
		return v, errDomain
	}
	return v, nil
}

func (e *ballEval) evalNode(n *node) (cball, error) {
	switch n.op {
	case opNum:
		return realOf(fromRat(n.rat, e.prec)), nil
	case opVar:
		if v, ok := e.env[n.name]; ok {
			return v, nil
		}
		return cball{}, errUnknown
	case opConst:
		return e.constant(n.name)
	case opAdd, opMul:
		return e.nary(n)
	case opNeg:
		v, err := e.eval(n.args[0])
		if err != nil {
			return v, err
		}
		return v.neg(), nil
	case opDiv:
		a, err := e.eval(n.args[0])
		if err != nil {
			return a, err
		}
		b, err := e.eval(n.args[1])
		if err != nil {
			return b, err
		}
		return e.quo(a, b)
	case opPercent:
		v, err := e.eval(n.args[0])
		if err != nil {
			return v, err
		}
		return e.quo(v, realOf(fromInt(100, e.prec)))
	case opDegree:
		v, err := e.eval(n.args[0])
		if err != nil || !e.trig {
			return v, err
		}
		v = v.mul(realOf(piBall(e.prec)), e.prec)
		return e.quo(v, realOf(fromInt(180, e.prec)))
	case opPow:
		return e.pow(n)
	case opFunc:
		return e.function(n)
	case opSum:
		return e.sum(n)
	}
	return cball{}, errUnknown
}

func (e *ballEval) constant(name string) (cball, error) {
	switch name {
	case "pi":
		return realOf(piBall(e.prec)), nil
	case "e":
		if !e.cost(20) {
			return cball{}, errBudget
		}
		v, err := fromInt(1, e.prec).exp(e.prec)
		return realOf(v), err
	case "i":
		return cball{zeroBall, fromInt(1, e.prec)}, nil
	}
	return cball{}, errUnknown
}

func (e *ballEval) nary(n *node) (cball, error) {
	r, err := e.eval(n.args[0])
	for _, a := range n.args[1:] {
		if err != nil {
			return r, err
		}
		var v cball
		if v, err = e.eval(a); err != nil {
			return v, err
		}
		if n.op == opAdd {
			r = r.add(v, e.prec)
		} else {
			r = r.mul(v, e.prec)
		}
	}
	return r, err
}

func (e *ballEval) quo(a, b cball) (cball, error) {
	if b.isZero() {
		return a, errDomain
	}
	i, err := b.inv(e.prec)
	if err != nil {
		return a, err
	}
	return a.mul(i, e.prec), nil
}

// pow is a power: by squaring for a small whole exponent, by the root of a
// negative number for an odd root, else by the exponential function.
func (e *ballEval) pow(n *node) (cball, error) {
	a, err := e.eval(n.args[0])
	if err != nil {
		return a, err
	}
	x, xerr := (&ratEval{bud: e.bud}).eval(n.args[1])
	if xerr == nil && x.IsInt() && x.Num().IsInt64() {
		if k := x.Num().Int64(); k > -1<<20 && k < 1<<20 {
			return e.powInt(a, k)
		}
	}
	if xerr == nil && x.Denom().IsInt64() && !x.IsInt() {
		return e.powRat(a, x)
	}
	b, err := e.eval(n.args[1])
	if err != nil {
		return b, err
	}
	if a.isZero() {
		if s, ok := b.re.sign(); ok && s > 0 && b.isReal() {
			return a, nil
		}
		return a, errDomain
	}
	if b.isReal() && b.re.isExact() && b.re.m.IsInt() {
		if k, acc := b.re.m.Int64(); acc == big.Exact && k > -1<<20 && k < 1<<20 {
			return e.powInt(a, k)
		}
	}
	if s, ok := a.re.sign(); e.real && ok && s < 0 {
		return a, errDomain
	}
	if n.args[0].op == opConst && n.args[0].name == "e" {
		if !e.cost(20) {
			return a, errBudget
		}
		return b.exp(e.prec)
	}
	return e.expLn(a, b)
}

func (e *ballEval) expLn(a, b cball) (cball, error) {
	if !e.cost(50) {
		return a, errBudget
	}
	l, err := a.ln(e.prec)
	if err != nil {
		return a, err
	}
	return l.mul(b, e.prec).exp(e.prec)
}

func (e *ballEval) powInt(a cball, k int64) (cball, error) {
	if k == 0 && a.isZero() {
		return a, errDomain
	}
	abs := uint64(max(k, -k))
	if !e.cost(2) {
		return a, errBudget
	}
	r := a.powInt(abs, e.prec)
	if k < 0 {
		return e.quo(realOf(fromInt(1, e.prec)), r)
	}
	return r, nil
}

// powRat is a to a fraction. An odd root of a negative number is the negative
// one.
func (e *ballEval) powRat(a cball, x *big.Rat) (cball, error) {
	root, err := e.root(a, x.Denom().Int64())
	if err != nil {
		return a, err
	}
	if !x.Num().IsInt64() {
		return a, errHuge
	}
	k := x.Num().Int64()
	if k > 1<<20 || k < -1<<20 {
		return a, errHuge
	}
	return e.powInt(root, k)
}

// root is the n-th root.
func (e *ballEval) root(a cball, n int64) (cball, error) {
	if n < 1 || n > 1<<20 {
		return a, errDomain
	}
	if n == 1 || a.isZero() {
		return a, nil
	}
	if !e.cost(10) {
		return a, errBudget
	}
	s, ok := a.re.sign()
	switch {
	case e.real && ok && s < 0 && n%2 == 0:
		return a, errDomain
	case n == 2:
		return a.sqrt(e.prec)
	case a.isReal() && !ok: // near zero: the root of the bound
		r := a.re.r.add(magOf(a.re.m))
		bound := mag{1, r.exp()/int(n) + 1}
		return cball{ball{new(big.Float).SetPrec(e.prec), bound}, zeroBall}, nil
	case a.isReal() && s < 0 && n%2 == 1:
		r, err := e.root(a.neg(), n)
		if err != nil {
			return r, err
		}
		return r.neg(), nil
	}
	inverse := fromRat(big.NewRat(1, n), e.prec)
	return e.expLn(a, realOf(inverse))
}

// sum adds or multiplies over an index.
func (e *ballEval) sum(n *node) (cball, error) {
	from, to, err := e.exactly().bounds(n)
	if err != nil {
		return cball{}, err
	}
	inner := *e
	inner.env = map[string]cball{}
	for k, v := range e.env {
		inner.env[k] = v
	}
	r := realOf(fromInt(0, e.prec))
	if n.name == "prod" {
		r = realOf(fromInt(1, e.prec))
	}
	for i := from; i <= to; i++ {
		if !e.cost(1) {
			return r, errBudget
		}
		inner.env[n.args[0].name] = realOf(fromInt(i, e.prec))
		v, err := inner.eval(n.args[3])
		if err != nil {
			return v, err
		}
		if n.name == "prod" {
			r = r.mul(v, e.prec)
		} else {
			r = r.add(v, e.prec)
		}
	}
	return r, nil
}
