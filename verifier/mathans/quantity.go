package mathans

import (
	"math/big"
	"strings"
)

// quantity is an expression with what stood around it.
type quantity struct {
	e       *node
	unit    string
	percent bool
	degree  bool
	based   *node // the number with its base
}

// measure takes units, percent and degree signs off an expression.
func measure(n *node) quantity {
	q := quantity{e: n}
	for range 8 {
		n = q.e
		inner, neg := n, false
		if n.op == opNeg {
			inner, neg = n.args[0], true
		}
		switch inner.op {
		case opUnit:
			q.unit = inner.name
		case opPercent:
			q.percent = true
		case opDegree:
			q.degree = true
		case opBase:
			q.based = inner
		default:
			return q
		}
		q.e = inner.args[0]
		if neg {
			q.e = build(opNeg, q.e)
		}
	}
	return q
}

// quantities compares values with units, percent signs, degrees and bases.
func (c *comparer) quantities(gn, an *node) verdict {
	g, a := measure(gn), measure(an)
	if g.based != nil || a.based != nil {
		return c.based(g, a)
	}
	if g.unit == "" && a.unit == "" {
		a = letterUnit(g, a)
	}
	g, a = sharedLetter(g, a), sharedLetter(a, g)
	if g.unit != "" && a.unit != "" && g.unit != a.unit {
		c.rule = "units differ"
		return no
	}
	if g.percent && a.unit == "percent" || a.percent && g.unit != "" && g.unit != "percent" {
		c.rule = "units differ"
		return no
	}
	v := c.scalars(g.e, a.e)
	if v == yes {
		return yes
	}
	if g.percent != a.percent { // 25% is 0.25, and the bare number by convention
		x, y := g.e, a.e
		if g.percent {
			x = build(opPercent, x)
		} else {
			y = build(opPercent, y)
		}
		v = c.scalars(x, y)
		c.rule = "percent"
		return v
	}
	if g.degree != a.degree && v == no && (hasPi(g.e) || hasPi(a.e)) {
		x, y := radians(g), radians(a)
		v = c.scalars(x, y)
		c.rule = "degrees"
	}
	return v
}

func radians(q quantity) *node {
	if !q.degree {
		return q.e
	}
	return build(opDiv, build(opMul, q.e, named["pi"]), integer(180))
}

// letterUnit takes a single letter after an answer's number for its unit, where
// the gold answer has no letters at all: 5 m for 5.
func letterUnit(g, a quantity) quantity {
	if len(variables(g.e)) > 0 {
		return a
	}
	return splitLetter(a, func(name string) bool { return strings.Contains("msghLNJW", name) })
}

// sharedLetter reads a letter as the unit that the other side has.
func sharedLetter(a, other quantity) quantity {
	if a.unit != "" || other.unit == "" {
		return a
	}
	return splitLetter(a, func(name string) bool { return unitTable[strings.ToLower(name)] == other.unit })
}

func splitLetter(q quantity, isUnit func(string) bool) quantity {
	n := q.e
	if n.op != opMul || len(n.args) < 2 {
		return q
	}
	last := n.args[len(n.args)-1]
	if last.op != opVar || len(last.name) != 1 || !isUnit(last.name) {
		return q
	}
	rest := build(opMul, n.args[:len(n.args)-1]...)
	if len(rest.args) == 1 {
		rest = rest.args[0]
	}
	if len(variables(rest)) > 0 {
		return q
	}
	q.e, q.unit = rest, unitTable[strings.ToLower(last.name)]
	return q
}

// based compares numbers of which at least one names its base. Bases that are
// both given must agree; a missing one is taken to be the other.
func (c *comparer) based(g, a quantity) verdict {
	c.rule = "base"
	digits := func(q quantity) (string, bool) {
		if q.based != nil {
			return strings.ToLower(strings.TrimLeft(q.based.name, "0")), true
		}
		if q.e.op == opNum && q.e.rat.IsInt() {
			return q.e.rat.Num().String(), true
		}
		return "", false
	}
	x, okx := digits(g)
	y, oky := digits(a)
	if g.based != nil && a.based != nil && g.based.rat.Cmp(a.based.rat) != 0 {
		return no
	}
	if (g.e.op == opNeg) != (a.e.op == opNeg) && g.based != nil && a.based != nil {
		return no
	}
	return verdictOf(okx && oky && x == y)
}

// scalars compares expressions, within a tolerance where one was asked for, and
// with decimal logarithms where the natural ones differ.
func (c *comparer) scalars(g, a *node) verdict {
	if g.op == opInf || a.op == opInf || isNegInf(g) || isNegInf(a) {
		c.rule = "infinity"
		return verdictOf(g.op == a.op && (g.op == opInf || isNegInf(g) && isNegInf(a)))
	}
	v := c.expressions(g, a)
	if v == no && c.opt.Tolerance > 0 && c.within(g, a) {
		c.rule = "tolerance"
		return yes
	}
	if v != yes && (plainLog(g) || plainLog(a)) {
		if c.expressions(decimalLog(g), decimalLog(a)) == yes {
			c.rule = "decimal logarithm"
			return yes
		}
	}
	return v
}

func isNegInf(n *node) bool { return n.op == opNeg && n.args[0].op == opInf }

func plainLog(n *node) bool {
	return n.any(func(m *node) bool { return m.op == opFunc && m.name == "log" && len(m.args) == 1 })
}

func decimalLog(n *node) *node {
	return n.replace(func(m *node) *node {
		if m.op == opFunc && m.name == "log" && len(m.args) == 1 {
			return call("log", decimalLog(m.args[0]), integer(10))
		}
		return nil
	})
}

// within reports whether two real constants differ by at most the tolerance,
// relative to the gold.
func (c *comparer) within(g, a *node) bool {
	e := &ballEval{prec: 96, bud: c.bud, real: true}
	x, err := e.eval(g)
	if err != nil {
		return false
	}
	y, err := e.eval(a)
	if err != nil {
		return false
	}
	d := new(big.Float).Sub(x.re.m, y.re.m)
	limit := new(big.Float).Mul(new(big.Float).Abs(x.re.m), big.NewFloat(c.opt.Tolerance))
	return d.Abs(d).Cmp(limit) <= 0
}
