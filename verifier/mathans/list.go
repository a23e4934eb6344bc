package mathans

// maxItems bounds lists that are compared item by item.
const maxItems = 256

// lists compares where at least one side is a list or a set.
func (c *comparer) lists(g, a *node) verdict {
	if v := c.conditions(g, a); v != unknown {
		return v
	}
	switch {
	case !isList(g):
		return c.listAndOne(a, g)
	case !isList(a):
		return c.listAndOne(g, a)
	}
	if v, ok := c.byName(g, a); ok {
		return v
	}
	x, y := items(g), items(a)
	if g.op == opSet || a.op == opSet || allTuples(x) && allTuples(y) { // solutions: twice the same is once
		x, y = c.distinct(x), c.distinct(y)
	}
	c.rule = "list"
	return c.multiset(x, y)
}

func allTuples(x []*node) bool {
	for _, n := range x {
		if n.op != opTuple {
			return false
		}
	}
	return true
}

// listAndOne compares a list with something that is none: a tuple of the values
// that the list names, or a set of numbers.
func (c *comparer) listAndOne(list, one *node) verdict {
	switch {
	case one.op == opTuple && list.op == opList && namesDiffer(list):
		c.rule = "tuple"
		return c.members(list.args, one.args)
	case setLike(one) || one.op == opRel:
		return c.realSets(list, one)
	}
	x := c.distinct(items(list))
	if len(x) == 1 {
		return c.equal(x[0], one)
	}
	c.rule = "list"
	return no
}

// namesDiffer reports whether a list assigns values to different names.
func namesDiffer(list *node) bool {
	seen := map[string]bool{}
	for _, it := range list.args {
		name, _, ok := assignment(it)
		if !ok || seen[name.key()] {
			return false
		}
		seen[name.key()] = true
	}
	return true
}

// byName compares lists that assign to the same different names.
func (c *comparer) byName(g, a *node) (verdict, bool) {
	if len(g.args) != len(a.args) || !namesDiffer(g) || !namesDiffer(a) {
		return no, false
	}
	vals := map[string]*node{}
	for _, it := range a.args {
		name, val, _ := assignment(it)
		vals[name.key()] = val
	}
	v := yes
	for _, it := range g.args {
		name, val, _ := assignment(it)
		other := vals[name.key()]
		if other == nil {
			return no, false
		}
		if w := c.equal(val, other); w != yes {
			v = w
		}
	}
	return v, true
}

// items gives the values of a list, without the names they are assigned to.
func items(n *node) []*node {
	if !isList(n) {
		return []*node{value(n)}
	}
	var out []*node
	for _, it := range n.args {
		if it.op == opTuple && it.name == "" { // a group between semicolons
			members := make([]*node, len(it.args))
			for i, m := range it.args {
				members[i] = value(m)
			}
			out = append(out, &node{op: opTuple, args: members})
			continue
		}
		if v := value(it); isList(v) && it.op == opRel {
			out = append(out, items(v)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// distinct drops what is equal to an earlier item.
func (c *comparer) distinct(in []*node) []*node {
	var out []*node
	if len(in) > maxItems {
		return in
	}
next:
	for _, x := range in {
		for _, y := range out {
			if x.same(y) || len(in) < 16 && c.equal(x, y) == yes {
				continue next
			}
		}
		out = append(out, x)
	}
	return out
}

// multiset compares lists in any order. What is written the same is matched
// first, so that long lists cost little.
func (c *comparer) multiset(x, y []*node) verdict {
	if len(x) != len(y) {
		return no
	}
	x, y = unmatched(x, y)
	if len(x) > maxItems {
		return unknown
	}
	result := yes
	used := make([]bool, len(y))
	for _, p := range x {
		found := no
		for j, q := range y {
			if used[j] {
				continue
			}
			v := c.equal(p, q)
			if v == yes {
				used[j], found = true, yes
				break
			}
			if v == unknown {
				found = unknown
			}
		}
		switch found {
		case no:
			c.rule = "list"
			return no
		case unknown:
			result = unknown
		}
	}
	c.rule = "list"
	return result
}

// unmatched drops pairs of items that are written the same.
func unmatched(x, y []*node) ([]*node, []*node) {
	count := map[string]int{}
	for _, q := range y {
		count[q.key()]++
	}
	var restX []*node
	taken := map[string]int{}
	for _, p := range x {
		if k := p.key(); taken[k] < count[k] {
			taken[k]++
		} else {
			restX = append(restX, p)
		}
	}
	var restY []*node
	for _, q := range y {
		if k := q.key(); taken[k] > 0 {
			taken[k]--
		} else {
			restY = append(restY, q)
		}
	}
	return restX, restY
}

// conditions compares lists of inequalities as sets of numbers: "x < 1 or
// x > 3". It gives unknown where that is not what they are.
func (c *comparer) conditions(g, a *node) verdict {
	if !conditional(g) && !conditional(a) {
		return unknown
	}
	x, ok := c.realSet(g)
	if !ok {
		return unknown
	}
	y, ok := c.realSet(a)
	if !ok {
		return unknown
	}
	if v := c.sameSet(x, y); v == yes {
		return yes
	}
	return unknown
}

// conditional reports whether a node is a list with an inequality in it.
func conditional(n *node) bool {
	if n.op != opList {
		return false
	}
	for _, it := range n.args {
		if it.op == opRel && it.rels[0] != "=" {
			return true
		}
	}
	return false
}
