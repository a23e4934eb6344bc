package mathans

// assignment recognises "x = 5": a name on one side of an equation and anything
// on the other. In a chain of equations the last value counts, and what follows
// an approximation sign does not.
func assignment(n *node) (name, val *node, ok bool) {
	if n.op != opRel {
		return nil, nil, false
	}
	last := len(n.args) - 1
	for i, r := range n.rels {
		if r == "≈" && i > 0 {
			last = i
			break
		}
		if r != "=" && r != "≈" && r != "≡" {
			return nil, nil, false
		}
	}
	switch {
	case isName(n.args[0]):
		return n.args[0], n.args[last], true
	case last == 1 && isName(n.args[1]):
		return n.args[1], n.args[0], true
	case last > 1: // 1 + 1 = 2 = x says nothing more than its end
		return n.args[0], n.args[last], true
	case isSumOfNames(n.args[0]) && len(variables(n.args[1])) == 0:
		return n.args[0], n.args[1], true
	}
	return nil, nil, false
}

// isName reports whether a node can name a value: a letter, f(x), a segment AB,
// a word, a tuple or ratio of those.
func isName(n *node) bool {
	switch n.op {
	case opVar, opCall, opText:
		return true
	case opConst:
		return n.name == "e" || n.name == "i"
	case opFunc:
		return n.name != "root" && n.name != "factorial" && n.name != "binom" && len(variables(n)) > 0
	case opMul:
		return isSegment(n)
	case opTuple, opRatio, opDiv:
		for _, a := range n.args {
			if !isName(a) || n.op == opDiv && !isSegment(a) {
				return false
			}
		}
		return true
	case opDegree, opUnit:
		return isName(n.args[0])
	}
	return false
}

// isSegment reports whether a node is a product of capital letters, as the name
// of a segment or an angle is.
func isSegment(n *node) bool {
	if n.op != opMul {
		return false
	}
	for i, a := range n.args {
		if a.op != opVar || a.name[0] < 'A' || a.name[0] > 'Z' {
			if i == 0 && a.op == opVar && a.name == "m" { // the measure of an angle
				continue
			}
			return false
		}
	}
	return true
}

// isSumOfNames reports whether a node is m+n or a+b+c.
func isSumOfNames(n *node) bool {
	if n.op != opAdd && n.op != opMul {
		return false
	}
	for _, a := range n.args {
		if a.op != opVar && !(a.op == opConst && a.name != "pi") {
			return false
		}
	}
	return true
}

// relations compares where at least one side is a relation.
func (c *comparer) relations(g, a *node) verdict {
	gname, gval, gok := assignment(g)
	aname, aval, aok := assignment(a)
	switch {
	case g.op != opRel && aok:
		return c.equal(g, aval)
	case a.op != opRel && gok:
		return c.equal(gval, a)
	case g.op != opRel && isArithmetic(a):
		return c.arithmetic(g, a)
	case a.op != opRel && isArithmetic(g):
		return c.arithmetic(a, g)
	case g.op != opRel || a.op != opRel:
		return c.relationAndSet(g, a)
	case gok && aok:
		if v := c.assignments(gname, gval, aname, aval); v == yes || !isEquation(g) || !isEquation(a) {
			return v
		}
	}
	if isEquation(g) && isEquation(a) {
		return c.equations(g, a)
	}
	return c.inequalities(g, a)
}

// isArithmetic reports whether a node is an equation of constants, as in
// "1/2 = 0.5".
func isArithmetic(n *node) bool {
	for _, r := range n.rels {
		if r != "=" && r != "≈" {
			return false
		}
	}
	return len(variables(n)) == 0
}

// arithmetic compares a value with an equation of constants: each of them must
// be that value, up to an approximation sign.
func (c *comparer) arithmetic(v, eq *node) verdict {
	for i, x := range eq.args {
		if i > 0 && eq.rels[i-1] == "≈" {
			break
		}
		if w := c.equal(v, x); w != yes {
			return w
		}
	}
	return yes
}

// isEquation reports whether a node is one equation between expressions.
func isEquation(n *node) bool {
	return len(n.args) == 2 && n.rels[0] == "=" && n.args[0].scalar() && n.args[1].scalar()
}

// assignments compares values given to names. The names must agree, apart from
// the argument of a function and from words.
func (c *comparer) assignments(gname, gval, aname, aval *node) verdict {
	if gname.same(aname) {
		return c.equal(gval, aval)
	}
	switch {
	case gname.op == opText || aname.op == opText:
		return c.equal(gval, aval)
	case gname.op == opCall && aname.op == opCall && gname.name == aname.name && len(gname.args) == len(aname.args):
		for i, old := range aname.args { // f(y) = y is f(x) = x
			renamed := gname.args[i]
			if old.op != opVar || renamed.op != opVar {
				return no
			}
			aval = aval.replace(func(m *node) *node {
				if m.op == opVar && m.name == old.name {
					return variable(renamed.name)
				}
				return nil
			})
		}
		return c.equal(gval, aval)
	case gname.op == opCall && aname.op == opVar, gname.op == opVar && aname.op == opCall:
		return c.equal(gval, aval) // f(x) = … and y = …
	}
	c.rule = "names differ"
	return no
}

// equations compares equations up to a factor other than zero.
func (c *comparer) equations(g, a *node) verdict {
	if len(variables(g)) == 0 || len(variables(a)) == 0 {
		if len(variables(g)) != len(variables(a)) {
			return no
		}
		return c.members(g.args, a.args)
	}
	v := c.proportional(difference(g), difference(a))
	c.rule = "equation"
	return v
}

// difference is the left side minus the right side.
func difference(n *node) *node {
	return build(opAdd, strip(n.args[0]), build(opNeg, strip(n.args[1])))
}

func strip(n *node) *node { return measure(n).e }

// proportional decides whether d is a constant times e: d(x) e(y) = e(x) d(y)
// for independent points x and y, and neither is zero everywhere.
func (c *comparer) proportional(d, e *node) verdict {
	zero := integer(0)
	dz, ez := c.expressions(d, zero), c.expressions(e, zero)
	if dz == yes || ez == yes {
		return verdictOf(dz == ez)
	}
	return c.expressions(build(opMul, d, primed(e)), build(opMul, e, primed(d)))
}

// primed renames every variable.
func primed(n *node) *node {
	return n.replace(func(m *node) *node {
		switch m.op {
		case opVar:
			return variable(m.name + "*")
		case opCall:
			return variable(m.key() + "*")
		}
		return nil
	})
}

// relationAndSet compares a relation with a set of numbers.
func (c *comparer) relationAndSet(g, a *node) verdict {
	if g.op == opRel && g.rels[0] == "∈" && len(g.args) == 2 {
		return c.equal(g.args[1], a)
	}
	if a.op == opRel && a.rels[0] == "∈" && len(a.args) == 2 {
		return c.equal(g, a.args[1])
	}
	return c.realSets(g, a)
}

// inequalities compares chains of inequalities: as sets of numbers where there
// is one variable, else side by side or, with two sides, up to a positive
// factor.
func (c *comparer) inequalities(g, a *node) verdict {
	if x, ok := c.realSet(g); ok {
		if y, ok := c.realSet(a); ok {
			if x.name != y.name && x.name != "" && y.name != "" {
				c.rule = "names differ"
				return no
			}
			return c.sameSet(x, y)
		}
	}
	c.rule = "inequality"
	g, a = ascending(g), ascending(a)
	if len(g.args) != len(a.args) {
		return no
	}
	for i := range g.rels {
		if g.rels[i] != a.rels[i] {
			return no
		}
	}
	if v := c.members(g.args, a.args); v == yes || len(g.args) != 2 || !g.args[0].scalar() || !a.args[0].scalar() || !g.args[1].scalar() || !a.args[1].scalar() {
		return v
	}
	d, e := difference(g), difference(a)
	if g.rels[0] == "≠" {
		return c.proportional(d, e)
	}
	if v := c.proportional(d, e); v != yes {
		return v
	}
	return c.sameSign(d, e)
}

// ascending turns a chain of > into one of <.
func ascending(n *node) *node {
	for _, r := range n.rels {
		if r != ">" && r != "≥" {
			return n
		}
	}
	m := &node{op: opRel}
	for i := len(n.args) - 1; i >= 0; i-- {
		m.args = append(m.args, n.args[i])
		if i > 0 {
			m.rels = append(m.rels, map[string]string{">": "<", "≥": "≤"}[n.rels[i-1]])
		}
	}
	return m
}

// sameSign decides whether two proportional expressions have the same sign.
func (c *comparer) sameSign(d, e *node) verdict {
	d, e = opaque(d), opaque(e)
	s := &sampler{c: c, x: d, y: e, names: variables(d, e), r: newRandom(d, e)}
	for try := range 4 * wanted {
		a, b, err := s.at(s.point(try, false), true)
		if err != nil {
			continue
		}
		x, okx := a.re.sign()
		y, oky := b.re.sign()
		if okx && oky && x != 0 && y != 0 {
			return verdictOf(x == y)
		}
	}
	return unknown
}
