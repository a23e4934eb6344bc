package mathans

import "math/big"

// logarithms compares numbers too large for ball arithmetic by the logarithms
// of their magnitudes. That can prove them different; equal logarithms prove
// nothing.
func (c *comparer) logarithms(x, y *node) verdict {
	c.rule = "logarithms"
	e := &logEval{ball: &ballEval{prec: 256, bud: c.bud, real: true}}
	a, aerr := e.eval(x)
	b, berr := e.eval(y)
	switch {
	case aerr == errHuge && berr == nil || aerr == nil && berr == errHuge:
		return no // one is beyond every bound, the other is not
	case aerr != nil || berr != nil:
		return failed(aerr, berr)
	case a.sign != b.sign:
		return no
	}
	if d := a.ln.sub(b.ln, 256); !d.hasZero() {
		return no
	}
	return unknown
}

// logBall is a number other than zero by its sign and the logarithm of its
// magnitude.
type logBall struct {
	sign int
	ln   ball
}

type logEval struct{ ball *ballEval }

func (e *logEval) eval(n *node) (logBall, error) {
	if !e.ball.cost(4) {
		return logBall{}, errBudget
	}
	if v, err := e.ball.eval(n); err == nil {
		s, ok := v.re.sign()
		if !ok || s == 0 {
			return logBall{}, errUnsure
		}
		l, err := ball{new(big.Float).Abs(v.re.m), v.re.r}.ln(e.ball.prec)
		return logBall{s, l}, err
	} else if err != errHuge {
		return logBall{}, err
	}
	return e.huge(n)
}

// huge takes a number apart that is too large itself.
func (e *logEval) huge(n *node) (logBall, error) {
	prec := e.ball.prec
	switch n.op {
	case opNeg:
		v, err := e.eval(n.args[0])
		v.sign = -v.sign
		return v, err
	case opMul, opDiv:
		r, err := e.eval(n.args[0])
		for _, a := range n.args[1:] {
			if err != nil {
				return r, err
			}
			var v logBall
			if v, err = e.eval(a); err != nil {
				return v, err
			}
			if n.op == opDiv {
				v.ln = v.ln.neg()
			}
			r = logBall{r.sign * v.sign, r.ln.add(v.ln, prec)}
		}
		return r, err
	case opPow:
		return e.pow(n)
	case opAdd:
		return e.sum(n)
	}
	return logBall{}, errUnknown
}

func (e *logEval) pow(n *node) (logBall, error) {
	base, err := e.eval(n.args[0])
	if err != nil {
		return base, err
	}
	x, err := e.ball.eval(n.args[1])
	if err != nil {
		return base, err
	}
	if base.sign < 0 {
		return base, errUnknown
	}
	l := base.ln.mul(x.re, e.ball.prec)
	if !l.sane() {
		return base, errHuge
	}
	return logBall{1, l}, nil
}

// sum keeps the largest term: the others change the logarithm by no more than
// their share, which must be tiny.
func (e *logEval) sum(n *node) (logBall, error) {
	var top logBall
	var all []logBall
	for i, a := range n.args {
		v, err := e.eval(a)
		if err != nil {
			return v, err
		}
		all = append(all, v)
		if less, sure := top.ln2().below(v.ln2(), e.ball.prec); i == 0 || sure && less {
			top = v
		}
	}
	near := 0
	for _, v := range all {
		d := top.ln2().sub(v.ln2(), e.ball.prec)
		if d.m.Cmp(big.NewFloat(100)) < 0 {
			near++
		}
	}
	if near != 1 || len(all) > 1000 {
		return top, errUnsure
	}
	top.ln.r = top.ln.r.add(mag{1, -100})
	return top, nil
}

func (v logBall) ln2() ball {
	if v.ln.m == nil {
		return zeroBall
	}
	return v.ln
}
