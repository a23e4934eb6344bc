package mathans

// condition reads a chain of inequalities in one variable, or "x ∈ S", as a set
// of numbers.
func (c *comparer) condition(n *node) (realSet, bool) {
	if len(n.args) == 2 && n.rels[0] == "∈" {
		s, ok := c.realSet(n.args[1])
		if n.args[0].op == opVar {
			s.name = n.args[0].name
		}
		return s, ok
	}
	if s, ok := c.between(n); ok {
		return s, true
	}
	out := everything()
	for i, r := range n.rels {
		s, ok := c.pair(n.args[i], r, n.args[i+1])
		if !ok {
			return s, false
		}
		if out, ok = c.merge(out, s, and); !ok {
			return s, false
		}
	}
	return out, true
}

// between reads a < E < b for any expression E: E is in (a, b).
func (c *comparer) between(n *node) (realSet, bool) {
	n = ascending(n)
	if len(n.args) != 3 || n.args[1].op == opVar || n.args[1].op == opFunc && n.args[1].name == "abs" {
		return realSet{}, false
	}
	for _, r := range n.rels {
		if r != "<" && r != "≤" {
			return realSet{}, false
		}
	}
	lo, hi := n.args[0], n.args[2]
	if len(variables(lo, hi)) > 0 || n.args[1].op != opCall {
		return realSet{}, false
	}
	brackets := map[string]string{"<": "(", "≤": "["}[n.rels[0]] + map[string]string{"<": ")", "≤": "]"}[n.rels[1]]
	return c.interval(&node{op: opTuple, name: brackets, args: []*node{lo, hi}})
}

// pair reads one inequality.
func (c *comparer) pair(l *node, r string, right *node) (realSet, bool) {
	if isList(right) && r == "≠" && l.op == opVar {
		s, ok := c.pointSet(right.args)
		s = s.not()
		s.name = l.name
		return s, ok
	}
	if right.op == opInf || isNegInf(right) || l.op == opInf || isNegInf(l) {
		names := variables(l, right)
		if len(names) != 1 || r == "≠" || r == "=" {
			return realSet{}, false
		}
		s := everything() // x < infinity says nothing
		s.name = names[0]
		return s, true
	}
	l, right = strip(l), strip(right)
	if !l.scalar() || !right.scalar() {
		return realSet{}, false
	}
	names := variables(l, right)
	if len(names) != 1 || l.any(isCall) || right.any(isCall) {
		return realSet{}, false
	}
	if s, ok := c.absolute(l, r, right); ok {
		s.name = names[0]
		return s, true
	}
	if s, ok := c.absolute(right, flipped[r], l); ok {
		s.name = names[0]
		return s, true
	}
	s, ok := c.linear(build(opAdd, l, build(opNeg, right)), r, names[0])
	if s.name = names[0]; s.name == anonymous {
		s.name = ""
	}
	return s, ok
}

func isCall(n *node) bool { return n.op == opCall }

// flipped turns a relation round.
var flipped = map[string]string{"<": ">", ">": "<", "≤": "≥", "≥": "≤", "=": "=", "≠": "≠"}

// absolute reads |E| < b and the like.
func (c *comparer) absolute(l *node, r string, right *node) (realSet, bool) {
	if l.op != opFunc || l.name != "abs" || len(variables(right)) > 0 {
		return realSet{}, false
	}
	inner, neg := l.args[0], build(opNeg, right)
	s, ok := c.pair(inner, r, right)
	if !ok {
		return s, false
	}
	t, ok := c.pair(inner, flipped[r], neg)
	if !ok {
		return t, false
	}
	if r == "<" || r == "≤" || r == "≠" {
		return c.merge(s, t, and)
	}
	return c.merge(s, t, or)
}

// linear solves d(x) r 0 where d is linear in x.
func (c *comparer) linear(d *node, r, x string) (realSet, bool) {
	at := func(v int64) *node {
		return d.replace(func(m *node) *node {
			if m.op == opVar && m.name == x {
				return integer(v)
			}
			return nil
		})
	}
	d0 := at(0)
	slope := build(opAdd, at(1), build(opNeg, d0))
	line := build(opAdd, d0, build(opMul, slope, variable(x)))
	if c.expressions(d, line) != yes {
		return realSet{}, false
	}
	sign, ok := c.order(slope, integer(0))
	if !ok || sign == 0 {
		return realSet{}, false
	}
	root := build(opDiv, build(opNeg, d0), slope)
	if q, err := (&ratEval{bud: c.bud}).eval(root); err == nil {
		root = num(q)
	}
	switch r {
	case "=":
		return point(root), true
	case "≠":
		return point(root).not(), true
	case "<":
		return ray(root, sign < 0, false), true
	case "≤":
		return ray(root, sign < 0, true), true
	case ">":
		return ray(root, sign > 0, false), true
	case "≥":
		return ray(root, sign > 0, true), true
	}
	return realSet{}, false
}
