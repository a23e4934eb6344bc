package mathans

import "math/big"

// wanted is at how many points two functions must agree.
const wanted = 8

// functions compares expressions with free variables at random points: rational
// ones, positive and negative; whole ones where an expression asks for them. At
// a point outside the domain of one it must be outside the domain of both.
func (c *comparer) functions(x, y *node, names []string) verdict {
	c.rule = "random points"
	s := &sampler{c: c, x: x, y: y, names: names, r: newRandom(x, y)}
	isReal := !hasImaginary(x) && !hasImaginary(y)
	if !needsWhole(x) && !needsWhole(y) {
		if v := s.run(false, isReal); v != unknown {
			return v
		}
	}
	if v := s.run(true, isReal); v != unknown || !isReal {
		return v
	}
	return s.run(false, false)
}

func hasImaginary(n *node) bool {
	return n.any(func(m *node) bool { return m.op == opConst && m.name == "i" })
}

// needsWhole reports whether an expression makes sense for whole numbers only.
func needsWhole(n *node) bool {
	return n.any(func(m *node) bool {
		switch {
		case m.op == opSum:
			return len(variables(m.args[1], m.args[2])) > 0
		case m.op != opFunc:
			return false
		case m.name == "factorial", m.name == "gcd", m.name == "lcm":
			return len(variables(m)) > 0
		case m.name == "binom":
			return len(variables(m.args[1])) > 0
		}
		return false
	})
}

type sampler struct {
	c     *comparer
	x, y  *node
	names []string
	r     *random
}

// run samples until enough points agree.
func (s *sampler) run(whole, isReal bool) verdict {
	agreed := 0
	for try := 0; try < 5*wanted && agreed < wanted; try++ {
		env := s.point(try, whole)
		a, b, err := s.at(env, isReal)
		switch err {
		case nil:
			if v := s.close(a, b); v == no {
				return no
			}
			agreed++
		case errMismatch:
			if !whole {
				return no
			}
		case errDomain, errUnsure, errHuge:
		default:
			return unknown
		}
		if try == 2*wanted && agreed == 0 {
			return unknown
		}
	}
	if agreed < wanted/2 {
		return unknown
	}
	return yes
}

// point draws a value for every variable. The first points are positive, later
// ones have signs; sizes vary from small fractions to tens. All have few binary
// digits, so that a ball holds them exactly.
func (s *sampler) point(try int, whole bool) map[string]cball {
	env := make(map[string]cball, len(s.names))
	for _, name := range s.names {
		u := s.r.next()
		m := new(big.Float).SetPrec(64)
		if whole {
			m.SetInt64(int64(u%23) + int64(try)/4 + 1)
		} else {
			m.SetInt64(int64(u>>44) | 1) // 20 bits, odd
			m.SetMantExp(m, -[...]int{20, 18, 21, 15}[try%4])
			if try%2 == 1 && u&1 == 1 {
				m.Neg(m)
			}
		}
		env[name] = realOf(exact(m))
	}
	return env
}

// errMismatch says that one side is defined at a point and the other is not.
var errMismatch = errDomainOfOne{}

type errDomainOfOne struct{}

func (errDomainOfOne) Error() string { return "defined on one side only" }

// at evaluates both sides, first coarsely, then finely.
func (s *sampler) at(env map[string]cball, isReal bool) (a, b cball, err error) {
	for _, prec := range [...]uint{128, 512} {
		e := &ballEval{prec: prec, bud: s.c.bud, env: env, real: isReal}
		var aerr, berr error
		a, aerr = e.eval(s.x)
		b, berr = e.eval(s.y)
		switch {
		case aerr == errBudget || berr == errBudget:
			return a, b, errBudget
		case aerr == errUnknown || berr == errUnknown:
			return a, b, errUnknown
		case aerr == errUnsure || berr == errUnsure:
			err = errUnsure
			continue
		case aerr == errHuge || berr == errHuge:
			return a, b, errHuge
		case aerr == nil && berr == nil:
			return a, b, nil
		case aerr != nil && berr != nil:
			return a, b, errDomain
		}
		return a, b, errMismatch
	}
	return a, b, err
}

// close compares two values at a point: they differ, or agree to a hundred bits.
func (s *sampler) close(a, b cball) verdict {
	d := a.add(b.neg(), 512)
	if !d.re.hasZero() || !d.im.hasZero() {
		return no
	}
	return yes
}
