package mathans

// realSet is a set of real numbers cut at finitely many points: at[i] says
// whether pts[i] is in it, gap[i] whether what lies before pts[i] is, and the
// last gap what lies beyond all points. name is the variable it came from.
type realSet struct {
	pts  []*node
	at   []bool
	gap  []bool
	name string
}

// everything is the whole line.
func everything() realSet { return realSet{gap: []bool{true}} }
func nothing() realSet    { return realSet{gap: []bool{false}} }

// ray is what lies above p (or below it), with or without p.
func ray(p *node, above, closed bool) realSet {
	return realSet{pts: []*node{p}, at: []bool{closed}, gap: []bool{!above, above}}
}

func point(p *node) realSet {
	return realSet{pts: []*node{p}, at: []bool{true}, gap: []bool{false, false}}
}

func (s realSet) not() realSet {
	t := realSet{pts: s.pts, name: s.name}
	for _, b := range s.at {
		t.at = append(t.at, !b)
	}
	for _, b := range s.gap {
		t.gap = append(t.gap, !b)
	}
	return t
}

// maxPoints bounds the points of a set.
const maxPoints = 128

// merge combines two sets by a rule for each point.
func (c *comparer) merge(s, t realSet, f func(a, b bool) bool) (realSet, bool) {
	out := realSet{name: s.name}
	if out.name == "" {
		out.name = t.name
	}
	if len(s.pts)+len(t.pts) > maxPoints {
		return out, false
	}
	i, j := 0, 0
	for i < len(s.pts) || j < len(t.pts) {
		out.gap = append(out.gap, f(s.gap[i], t.gap[j]))
		order := 0
		switch {
		case i == len(s.pts):
			order = 1
		case j == len(t.pts):
			order = -1
		default:
			var ok bool
			if order, ok = c.order(s.pts[i], t.pts[j]); !ok {
				return out, false
			}
		}
		switch {
		case order < 0:
			out.pts, out.at = append(out.pts, s.pts[i]), append(out.at, f(s.at[i], t.gap[j]))
			i++
		case order > 0:
			out.pts, out.at = append(out.pts, t.pts[j]), append(out.at, f(s.gap[i], t.at[j]))
			j++
		default:
			out.pts, out.at = append(out.pts, s.pts[i]), append(out.at, f(s.at[i], t.at[j]))
			i++
			j++
		}
	}
	out.gap = append(out.gap, f(s.gap[i], t.gap[j]))
	return out.reduced(), true
}

// reduced drops points at which nothing changes.
func (s realSet) reduced() realSet {
	out := realSet{gap: s.gap[:1:1], name: s.name}
	for i, p := range s.pts {
		last := out.gap[len(out.gap)-1]
		if s.at[i] == last && s.gap[i+1] == last {
			continue
		}
		out.pts, out.at, out.gap = append(out.pts, p), append(out.at, s.at[i]), append(out.gap, s.gap[i+1])
	}
	return out
}

func or(a, b bool) bool  { return a || b }
func and(a, b bool) bool { return a && b }

// order compares two real constants.
func (c *comparer) order(x, y *node) (int, bool) {
	if x.same(y) {
		return 0, true
	}
	rat := &ratEval{bud: c.bud}
	if a, err := rat.eval(x); err == nil {
		if b, err := rat.eval(y); err == nil {
			return a.Cmp(b), true
		}
	}
	for _, prec := range precisions {
		e := &ballEval{prec: prec, bud: c.bud, real: true}
		a, aerr := e.eval(x)
		b, berr := e.eval(y)
		if aerr != nil || berr != nil {
			return 0, false
		}
		if s, ok := a.re.sub(b.re, prec).sign(); ok {
			return s, true
		}
	}
	return 0, true // they agree to the last precision
}

// realSets compares where at least one side is a set of numbers.
func (c *comparer) realSets(g, a *node) verdict {
	if g.same(a) {
		c.rule = "same set"
		return yes
	}
	if g.op == a.op && g.op == opUnion && len(variables(g, a)) > 0 {
		c.rule = "set"
		return c.multiset(parts(g), parts(a))
	}
	x, ok := c.realSet(g)
	if !ok {
		c.rule = "set"
		return no
	}
	y, ok := c.realSet(a)
	if !ok {
		c.rule = "set"
		return no
	}
	return c.sameSet(x, y)
}

// parts lists what a union is made of.
func parts(n *node) []*node {
	if n.op == opUnion {
		return append(parts(n.args[0]), parts(n.args[1])...)
	}
	return []*node{n}
}

// sameSet compares sets of which the points are in order.
func (c *comparer) sameSet(x, y realSet) verdict {
	c.rule = "set of reals"
	x, y = x.reduced(), y.reduced()
	if len(x.pts) != len(y.pts) || x.gap[0] != y.gap[0] {
		return no
	}
	for i := range x.pts {
		if x.at[i] != y.at[i] || x.gap[i+1] != y.gap[i+1] {
			return no
		}
		if o, ok := c.order(x.pts[i], y.pts[i]); !ok || o != 0 {
			if ok {
				return no
			}
			return c.expressions(x.pts[i], y.pts[i])
		}
	}
	return yes
}

// realSet reads a set of numbers from an interval, a union, a condition.
func (c *comparer) realSet(n *node) (realSet, bool) {
	if c.depth++; c.depth > 2*maxDepth || !c.bud.spend(50) {
		return realSet{}, false
	}
	defer func() { c.depth-- }()
	switch n.op {
	case opEmpty:
		return nothing(), true
	case opNumbers:
		return c.numbers(n.name)
	case opTuple:
		return c.interval(n)
	case opSet:
		return c.pointSet(n.args)
	case opUnion, opInter, opMinus:
		s, ok := c.realSet(n.args[0])
		if !ok {
			return s, false
		}
		t, ok := c.realSet(n.args[1])
		if !ok {
			return t, false
		}
		switch n.op {
		case opUnion:
			return c.merge(s, t, or)
		case opInter:
			return c.merge(s, t, and)
		}
		return c.merge(s, t, func(a, b bool) bool { return a && !b })
	case opBuild:
		return c.realSet(n.args[1])
	case opRel:
		return c.condition(n)
	case opList:
		return c.conditionList(n)
	}
	return realSet{}, false
}

func (c *comparer) numbers(name string) (realSet, bool) {
	switch name {
	case "R":
		return everything(), true
	case "R+":
		return ray(integer(0), true, false), true
	}
	return realSet{}, false
}

func (c *comparer) pointSet(args []*node) (realSet, bool) {
	s := nothing()
	for _, p := range args {
		if !p.scalar() || len(variables(p)) > 0 || p.op == opInf {
			return s, false
		}
		var ok bool
		if s, ok = c.merge(s, point(p), or); !ok {
			return s, false
		}
	}
	return s, true
}

// interval reads (a, b], with infinity at either end.
func (c *comparer) interval(n *node) (realSet, bool) {
	if len(n.args) != 2 || len(n.name) != 2 {
		return realSet{}, false
	}
	lo, hi := n.args[0], n.args[1]
	s, t := everything(), everything()
	if !isNegInf(lo) {
		if !lo.scalar() || lo.op == opInf || len(variables(lo)) > 0 {
			return s, false
		}
		s = ray(lo, true, n.name[0] == '[')
	}
	if hi.op != opInf {
		if !hi.scalar() || isNegInf(hi) || len(variables(hi)) > 0 {
			return s, false
		}
		t = ray(hi, false, n.name[1] == ']')
	}
	return c.merge(s, t, and)
}

// conditionList joins conditions: by "or" as a union, by "and" as an
// intersection; a comma is whichever leaves a set that is neither empty nor
// everything.
func (c *comparer) conditionList(n *node) (realSet, bool) {
	either, both := nothing(), everything()
	for _, it := range n.args {
		s, ok := c.realSet(it)
		if !ok {
			return s, false
		}
		if either, ok = c.merge(either, s, or); !ok {
			return s, false
		}
		if both, ok = c.merge(both, s, and); !ok {
			return s, false
		}
	}
	empty := len(both.pts) == 0 && !both.gap[0]
	if n.name == "or" || n.name == "," && empty || n.name == "and" && empty {
		return either, true
	}
	return both, true
}
