package mathans

// equal compares two values of any kind.
func (c *comparer) equal(g, a *node) verdict {
	if c.depth++; c.depth > 2*maxDepth || !c.bud.spend(50) {
		return unknown
	}
	defer func() { c.depth-- }()
	g, a = unwrap(g), unwrap(a)
	switch {
	case boxedUnit(g) || boxedUnit(a):
		return c.withUnits(g, a)
	case g.op == opText || a.op == opText:
		return c.text(g, a)
	case g.op == opRel || a.op == opRel:
		return c.relations(g, a)
	case isList(g) || isList(a):
		return c.lists(g, a)
	case g.op == opTuple && a.op == opTuple:
		return c.tuples(g, a)
	case hasMatrix(g) || hasMatrix(a):
		return c.matrices(g, a)
	case setLike(g) || setLike(a):
		return c.realSets(g, a)
	case g.op == opTuple || a.op == opTuple:
		c.rule = "kind"
		return no
	case g.op == opRatio || a.op == opRatio:
		return c.ratios(g, a)
	}
	return c.quantities(g, a)
}

// boxedUnit reports whether a unit stands after something that is no
// expression: a time of day, a tuple.
func boxedUnit(n *node) bool { return n.op == opUnit && !n.args[0].scalar() && n.args[0].op != opBase }

// withUnits compares where a unit stands after something that is no expression.
func (c *comparer) withUnits(g, a *node) verdict {
	if g.op == opUnit && a.op == opUnit && g.name != a.name {
		c.rule = "units differ"
		return no
	}
	if g.op == opUnit {
		g = g.args[0]
	}
	if a.op == opUnit {
		a = a.args[0]
	}
	return c.equal(g, a)
}

// unwrap opens a list or set of one.
func unwrap(n *node) *node {
	for (n.op == opList || n.op == opSet) && len(n.args) == 1 {
		n = n.args[0]
	}
	if n.op == opRel && len(n.args) == 2 && n.rels[0] == "∈" && setValued(n.args[1]) {
		n = n.args[1] // x ∈ S says S
	}
	return n
}

// setValued reports whether a node is a set that can stand for itself.
func setValued(n *node) bool {
	return n.op == opTuple || n.op == opSet || setLike(n)
}

func isList(n *node) bool { return n.op == opList || n.op == opSet }

// setLike reports whether a node is a set of numbers other than a list or one
// interval.
func setLike(n *node) bool {
	switch n.op {
	case opUnion, opInter, opMinus, opNumbers, opEmpty, opBuild:
		return true
	}
	return false
}

func hasMatrix(n *node) bool {
	return n.any(func(m *node) bool { return m.op == opMatrix })
}

// text compares words.
func (c *comparer) text(g, a *node) verdict {
	c.rule = "text"
	x, okx := words(g)
	y, oky := words(a)
	return verdictOf(okx && oky && x == y)
}

// words gives what a node says as a text: a word, a letter, a choice.
func words(n *node) (string, bool) {
	switch n.op {
	case opText:
		return fold(n.name), true
	case opVar, opConst:
		return fold(n.name), true
	case opMul: // letters that were read as a product
		s := ""
		for _, a := range n.args {
			w, ok := words(a)
			if !ok {
				return "", false
			}
			s += w
		}
		return s, true
	}
	return "", false
}

// tuples compares points, vectors and intervals. With two members the brackets
// tell intervals apart, so they must agree.
func (c *comparer) tuples(g, a *node) verdict {
	c.rule = "tuple"
	if len(g.args) != len(a.args) {
		return no
	}
	if len(g.args) == 2 && g.name != a.name && g.name != "" && a.name != "" {
		c.rule = "interval ends"
		return no
	}
	return c.members(g.args, a.args)
}

// members compares one by one.
func (c *comparer) members(g, a []*node) verdict {
	if len(g) != len(a) {
		return no
	}
	v := yes
	for i := range g {
		switch c.equal(value(g[i]), value(a[i])) {
		case no:
			return no
		case unknown:
			v = unknown
		}
	}
	return v
}

// value strips the name off an assignment.
func value(n *node) *node {
	if _, val, ok := assignment(n); ok {
		return val
	}
	return n
}

// matrices compares matrices, and a column or row with a tuple.
func (c *comparer) matrices(g, a *node) verdict {
	g, a = c.matrixValue(g), c.matrixValue(a)
	c.rule = "matrix"
	switch {
	case g.op == opMatrix && a.op == opMatrix:
		if g.cols != a.cols || len(g.args) != len(a.args) {
			return no
		}
		return c.members(g.args, a.args)
	case g.op == opMatrix && a.op == opTuple && vector(g), g.op == opTuple && a.op == opMatrix && vector(a):
		return c.members(g.args, a.args)
	case g.op == opMatrix && len(g.args) == 1:
		return c.equal(g.args[0], a)
	case a.op == opMatrix && len(a.args) == 1:
		return c.equal(g, a.args[0])
	}
	if g.op != opMatrix && a.op != opMatrix {
		return c.text(g, a)
	}
	return no
}

func vector(m *node) bool { return m.cols == 1 || m.cols == len(m.args) }

// ratios compares a : b : c up to a common factor; where a part is zero, as in a
// time of day, part by part.
func (c *comparer) ratios(g, a *node) verdict {
	c.rule = "ratio"
	if g.op == opRatio && a.op == opRatio {
		if len(g.args) != len(a.args) {
			return no
		}
		if c.members(g.args, a.args) == yes {
			return yes
		}
		if hasZeroPart(g) || hasZeroPart(a) {
			return no
		}
		v := yes
		for i := 1; i < len(g.args); i++ {
			left := build(opMul, g.args[0], a.args[i])
			if w := c.expressions(left, build(opMul, a.args[0], g.args[i])); w != yes {
				v = w
			}
		}
		c.rule = "ratio"
		return v
	}
	if g.op == opRatio {
		g, a = a, g
	}
	if len(a.args) != 2 || hasZeroPart(a) {
		return no
	}
	return c.quantities(g, build(opDiv, a.args[0], a.args[1]))
}

func hasZeroPart(n *node) bool {
	for _, a := range n.args {
		if a.op == opNum && a.rat.Sign() == 0 {
			return true
		}
	}
	return false
}
