package mathans

// maxExpand bounds how many values the ± signs of an answer stand for.
const maxExpand = 64

// expand replaces ± by the list of values it stands for and flattens lists, so
// that comparisons never see the sign. All ± of one value go together.
func expand(n *node) *node {
	switch n.op {
	case opList, opSet:
		var args []*node
		for _, a := range n.args {
			e := expand(a)
			if e.op == opList && (e.name == "±" || n.op == opList && a.op == opList) {
				args = append(args, e.args...)
			} else {
				args = append(args, e)
			}
		}
		m := *n
		m.args = args
		return &m
	}
	if !n.any(func(m *node) bool { return m.op == opPM }) {
		return n
	}
	return &node{op: opList, name: "±", args: []*node{signed(n, 1), signed(n, -1)}}
}

// signed chooses one sign for every ± in an expression and the other for ∓.
func signed(n *node, sign int) *node {
	return n.replace(func(m *node) *node {
		if m.op != opPM {
			return nil
		}
		s := sign
		if m.name == "mp" {
			s = -s
		}
		last := signed(m.args[len(m.args)-1], sign)
		if s < 0 {
			last = build(opNeg, last)
		}
		if len(m.args) == 1 {
			return last
		}
		return build(opAdd, signed(m.args[0], sign), last)
	})
}

// finish settles what only the whole answer tells: words with a fixed meaning,
// what comes after an approximation sign.
func finish(n *node) *node {
	if n.op == opText {
		switch n.name {
		case "nosolution", "nosolutions", "norealsolution", "norealsolutions", "emptyset", "theemptyset", "thereisnosolution", "nosolutionexists", "nosolutionsexist":
			return &node{op: opEmpty}
		case "allrealnumbers", "allreals", "allrealnumber", "allreal", "reals", "realnumbers", "therealnumbers", "anyrealnumber":
			return &node{op: opNumbers, name: "R"}
		case "infinity", "infinite", "positiveinfinity":
			return &node{op: opInf}
		}
	}
	return expand(n)
}
