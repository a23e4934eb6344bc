package mathans

import "math/big"

// commandAtom reads what a LaTeX command begins.
func (p *parser) commandAtom(name string) *node {
	switch name {
	case "frac":
		a := p.argument()
		return build(opDiv, a, p.argument())
	case "sqrt":
		return p.root()
	case "cbrt":
		return call("root", p.argument(), integer(3))
	case "binom", "choose":
		a := p.argument()
		return call("binom", a, p.argument())
	case "sum", "prod":
		return p.bigSum(name)
	case "overline", "bar", "widehat", "hat", "vec", "overrightarrow", "tilde", "widetilde", "overset", "mathring":
		return p.decorated(name)
	case "angle", "triangle", "measuredangle", "arc", "odot", "therefore", "because":
		return p.factor()
	case "ln", "log", "lg", "exp":
		return p.function(name)
	case "not":
		return p.fail()
	}
	if functions[name] {
		return p.function(name)
	}
	if n := named[name]; n != nil && len(name) > 1 {
		return n
	}
	if greek[name] {
		return variable(name)
	}
	if f := functionPrefix(name); f != "" && len(name)-len(f) == 1 { // "\sinx"
		p.i--
		p.tok[p.i] = token{kind: tWord, text: name[len(f):]}
		return p.function(f)
	}
	return p.fail()
}

// decorated reads a conjugate, a segment or a vector.
func (p *parser) decorated(name string) *node {
	n := p.argument()
	if (name == "overline" || name == "bar") && n.op == opVar {
		return call("conj", n)
	}
	return n
}

// argument reads the argument of a command: a group, or one token, of which a
// number gives its first digit only, as in TeX.
func (p *parser) argument() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	t := p.peek()
	switch {
	case t.kind == tNum && !t.mark && len(t.text) > 1 && allASCIIDigits(t.text):
		first, rest := t.text[:1], t.text[1:]
		r, _ := new(big.Rat).SetString(rest)
		p.tok[p.i] = token{kind: tNum, text: rest, rat: r}
		return digit(first)
	case t.kind == tSym && t.text == "{":
		p.i++
		return p.braced()
	case t.kind == tSym && t.text != "(" && t.text != "|" && t.text != "[":
		return p.fail()
	}
	return p.atom()
}

func digit(d string) *node {
	n := integer(int64(d[0] - '0'))
	n.lit = true
	return n
}

// root reads a square root or, with an index in square brackets, another root.
// Plain text and a radical sign take the whole number that follows.
func (p *parser) root() *node {
	index := integer(2)
	if p.take("[") {
		index = p.inside("]")
	}
	if t := p.peek(); t.kind == tNum {
		p.i++
		return call("root", &node{op: opNum, rat: t.rat, lit: !t.mark}, index)
	}
	return call("root", p.argument(), index)
}

// function reads a function's name, its power, base and argument.
func (p *parser) function(name string) *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	if a := aliases[name]; a != "" {
		name = a
	}
	if name == "sqrt" {
		return p.root()
	}
	if name == "cbrt" {
		return call("root", p.argument(), integer(3))
	}
	var power, base *node
	for range 2 {
		switch {
		case p.take("^"):
			power = p.script()
		case p.take("_"):
			base = p.script()
		}
	}
	if power != nil && inverses[name] != "" && power.op == opNeg && power.args[0].op == opNum && power.args[0].rat.Cmp(oneRat) == 0 {
		name, power = inverses[name], nil
	}
	n := &node{op: opFunc, name: name, args: p.functionArguments(name)}
	switch {
	case name == "log" && base != nil:
		n.args = append(n.args, base)
	case name == "lg":
		n.name, n.args = "log", append(n.args, integer(10))
	case name == "exp":
		n = build(opPow, named["e"], n.args[0])
	case base != nil:
		return p.fail()
	}
	if power != nil {
		return build(opPow, n, power)
	}
	return n
}

var oneRat = big.NewRat(1, 1)

// script reads a superscript or subscript of a function's name.
func (p *parser) script() *node {
	if p.take("{") {
		n := p.sum()
		p.expect("}")
		return n
	}
	return p.bareOne()
}

// bareOne reads one token, of a number its first digit only: "\log_28" is the
// logarithm of 8 to base 2.
func (p *parser) bareOne() *node {
	if p.take("-") {
		return build(opNeg, p.bareOne())
	}
	if t := p.peek(); t.kind == tNum && t.text == "10" {
		p.i++
		return num(t.rat)
	}
	return p.argument()
}

// functionArguments reads a bracketed list, or the product that follows.
func (p *parser) functionArguments(name string) []*node {
	if p.sym("(") || p.sym("[") {
		args := p.arguments()
		if len(args) > 1 && !several[name] && name != "log" {
			p.fail()
		}
		return args
	}
	if p.sym("{") || p.sym("|") {
		n := p.factor()
		if n.op == opSet && several[name] {
			return n.args
		}
		return []*node{n}
	}
	sign := p.take("-")
	n := p.factor()
	for p.err == nil {
		t := p.peek()
		if !p.startsFactor(t) || t.kind == tWord && functions[t.text] || t.kind == tCmd && functions[t.text] && t.text != "sqrt" ||
			t.kind == tSym && t.text != "{" {
			break
		}
		n = p.juxtaposed(n)
	}
	for p.sym("/") && p.i+1 < len(p.tok) && p.tok[p.i+1].kind == tNum && hasPi(n) { // sin pi/3
		p.i++
		n = build(opDiv, n, p.factor())
	}
	if sign {
		n = build(opNeg, n)
	}
	return []*node{n}
}

func hasPi(n *node) bool {
	return n.any(func(m *node) bool { return m.op == opConst && m.name == "pi" })
}

// bigSum reads a sum or product over an index.
func (p *parser) bigSum(name string) *node {
	var v, from, to *node
	for range 2 {
		switch {
		case p.take("_"):
			p.expect("{")
			v = p.atom()
			p.expect("=")
			from = p.sum()
			p.expect("}")
		case p.take("^"):
			to = p.script()
		}
	}
	if v == nil || to == nil || v.op != opVar && v.op != opConst {
		return p.fail()
	}
	body := p.product()
	if v.op == opConst { // the index i is no imaginary unit
		inner := variable(v.name + "_index")
		body = body.replace(func(m *node) *node {
			if m.op == opConst && m.name == v.name {
				return inner
			}
			return nil
		})
		v = inner
	}
	return &node{op: opSum, name: name, args: []*node{v, from, to, body}}
}
