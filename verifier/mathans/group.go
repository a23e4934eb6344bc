package mathans

// bracketAtom reads what an opening bracket begins.
func (p *parser) bracketAtom(open string) *node {
	switch open {
	case "(", "[":
		return p.bracketed(open)
	case "{":
		return p.braced()
	case `\{`:
		return p.setOf(`\}`)
	case "⟨":
		n := p.inside("⟩")
		if n.op == opList {
			return &node{op: opTuple, name: "()", args: n.args}
		}
		return n
	case "|":
		p.bars++
		n := p.sum()
		p.bars--
		p.expect("|")
		return call("abs", n)
	case "⌊":
		return call("floor", p.inside("⌋"))
	case "⌈":
		return call("ceil", p.inside("⌉"))
	case "cur":
		return p.factor()
	case "±", "-", "+":
		p.i--
		return p.sum()
	}
	return p.fail()
}

// inside reads a list up to a closing bracket.
func (p *parser) inside(closing string) *node {
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	n := p.list()
	p.bars, p.braces = bars, braces
	p.expect(closing)
	return n
}

// bracketed reads round and square brackets, which may be of different kinds: a
// group, a tuple, an interval.
func (p *parser) bracketed(open string) *node {
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	n := p.list()
	p.bars, p.braces = bars, braces
	closing := ")"
	if !p.take(")") {
		closing = "]"
		p.expect("]")
	}
	if n.op == opList {
		return &node{op: opTuple, name: open + closing, args: n.args}
	}
	if n.op == opNum && n.lit {
		n = num(n.rat) // a bracketed number is no part of a mixed number
	}
	return n
}

// braced reads TeX braces: a group, or, where a comma is inside, a set whose
// backslashes are missing.
func (p *parser) braced() *node {
	if p.take("}") {
		return p.startsAgain()
	}
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	n := p.list()
	if t := p.peek(); t.kind == tCmd && t.text == "choose" { // {n \choose k}
		p.i++
		n = call("binom", n, p.list())
	}
	p.bars, p.braces = bars, braces
	p.expect("}")
	if n.op == opList {
		return &node{op: opSet, args: n.args}
	}
	return n
}

// startsAgain skips an empty group.
func (p *parser) startsAgain() *node {
	if p.startsFactor(p.peek()) {
		return p.atom()
	}
	return p.fail()
}

// setOf reads a set after its opening brace: a list, or a condition after a bar
// or a colon.
func (p *parser) setOf(closing string) *node {
	if p.take(closing) {
		return &node{op: opEmpty}
	}
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 1
	n := p.list()
	p.braces = 0
	if p.take("|") || p.take(":") {
		cond := p.list()
		p.bars, p.braces = bars, braces
		p.expect(closing)
		return build(opBuild, n, cond)
	}
	p.bars, p.braces = bars, braces
	p.expect(closing)
	if n.op == opList {
		return &node{op: opSet, args: n.args}
	}
	return build(opSet, n)
}

// matrix reads an environment of rows and columns.
func (p *parser) matrix(env string) *node {
	switch env {
	case "pmatrix", "bmatrix", "matrix", "array", "smallmatrix", "Bmatrix", "vmatrix":
	case "cases", "aligned", "align", "split", "gathered":
		return p.lines(env)
	default:
		return p.fail()
	}
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	m := &node{op: opMatrix}
	row := 0
	for p.err == nil {
		if p.peek().kind == tClose {
			break
		}
		m.args = append(m.args, p.item())
		row++
		if p.take("&") {
			continue
		}
		if m.cols == 0 {
			m.cols = row
		}
		if row != m.cols {
			return p.fail()
		}
		row = 0
		for p.take("newline") {
		}
		if p.peek().kind != tClose && p.tok[p.i-1].text != "newline" {
			return p.fail()
		}
	}
	p.bars, p.braces = bars, braces
	if t := p.next(); t.kind != tClose || t.text != env || len(m.args) == 0 {
		return p.fail()
	}
	if env == "vmatrix" {
		return p.determinant(m)
	}
	return m
}

// lines reads an environment in which every line is an item of a list.
func (p *parser) lines(env string) *node {
	bars, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	n := p.list()
	p.bars, p.braces = bars, braces
	if t := p.next(); t.kind != tClose || t.text != env {
		return p.fail()
	}
	return n
}

// determinant expands a small matrix along its first row.
func (p *parser) determinant(m *node) *node {
	if m.cols*m.cols != len(m.args) || m.cols > 4 {
		return p.fail()
	}
	return expandRow(m.args, m.cols)
}

func expandRow(a []*node, n int) *node {
	if n == 1 {
		return a[0]
	}
	sum := &node{op: opAdd}
	for j := range n {
		var minor []*node
		for i := n; i < n*n; i++ {
			if i%n != j {
				minor = append(minor, a[i])
			}
		}
		term := build(opMul, a[j], expandRow(minor, n-1))
		if j%2 == 1 {
			term = build(opNeg, term)
		}
		sum.args = append(sum.args, term)
	}
	return sum
}
