package mathans

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
		if v, ok := numberNames[n.name]; ok {
			return integer(v)
		}
	}
	return expand(unqualified(n))
}

// numberNames are whole numbers in words.
var numberNames = map[string]int64{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
	"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
	"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

// unqualified drops "k ∈ Z" after an expression in which k runs over the whole
// numbers.
func unqualified(n *node) *node {
	if n.op != opList || len(n.args) < 2 {
		return n
	}
	last := n.args[len(n.args)-1]
	if last.op != opRel || len(last.args) != 2 || last.rels[0] != "∈" || last.args[1].op != opNumbers || last.args[0].op != opVar {
		return n
	}
	for _, a := range n.args[:len(n.args)-1] {
		if !a.any(func(m *node) bool { return m.op == opVar && m.name == last.args[0].name }) {
			return n
		}
	}
	return listOf(n.name, n.args[:len(n.args)-1])
}
