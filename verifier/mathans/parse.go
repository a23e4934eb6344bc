package mathans

import "strings"

// parser reads tokens into a tree by recursive descent:
//
//	list     = item {("," | ";" | "and" | "or") item}
//	item     = ratio {relation ratio} [unit]
//	ratio    = sets {":" sets}
//	sets     = sum {("∪" | "∩" | "∖") sum}
//	sum      = ["+" | "-" | "±" | "∓"] product {("+" | "-" | "±" | "∓") product}
//	product  = factor {["*" | "/"] factor}
//	factor   = atom {"^" script | "_" script | "!" | "°" | "%" | "'"}
type parser struct {
	tok    []token
	i      int
	depth  int
	bars   int // open absolute values: "|" closes
	braces int // open sets: "|" and ":" separate
	err    error
}

// parse reads an answer.
func parse(s string) (*node, error) {
	tok, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{tok: split(tok)}
	p.skipLead()
	n := p.list()
	for p.sym(".") || p.sym(",") || p.sym(";") || p.sym("!") {
		p.i++
	}
	if p.err == nil && p.peek().kind != tEnd {
		p.fail()
	}
	return n, p.err
}

// split takes runs of letters apart into names: function names, constants,
// units and longer words stay whole, "xy" is x times y.
func split(in []token) []token {
	out := make([]token, 0, len(in)+8)
	for i, t := range in {
		if t.kind != tWord || len(t.text) == 1 || keepWhole(t.text, i, in) {
			out = append(out, t)
			continue
		}
		if f := functionPrefix(t.text); f != "" {
			out = append(out, token{kind: tWord, text: f, space: t.space})
			t = token{kind: tWord, text: t.text[len(f):]}
		}
		for j := range t.text {
			out = append(out, token{kind: tWord, text: t.text[j : j+1], space: t.space && j == 0})
		}
	}
	return out
}

func keepWhole(w string, i int, in []token) bool {
	if functions[w] || named[w] != nil || len(w) > 3 && functionPrefix(w) == "" || shortWords[lower(w)] && !segmentName(w) {
		return true
	}
	if w == "and" || w == "or" || w == "pi" || greek[w] || w == "mod" {
		return true
	}
	return unitName(w) != "" && i > 0 && in[i-1].kind != tWord && !(in[i-1].kind == tSym && in[i-1].text == "^")
}

// segmentName reports whether a word is the name of a segment or triangle.
func segmentName(w string) bool { return len(w) <= 3 && strings.ToUpper(w) == w && w != "DNE" }

// functionPrefix finds a function name with at most two letters after it, as in
// "sinx".
func functionPrefix(w string) string {
	for n := len(w) - 1; n >= 2 && n >= len(w)-2; n-- {
		if f := w[:n]; functions[f] && n < 6 && f != "deg" && f != "min" && f != "max" && f != "arg" && f != "lg" && f != "tg" {
			return f
		}
	}
	return ""
}

func (p *parser) peek() token { return p.tok[p.i] }

func (p *parser) next() token {
	t := p.tok[p.i]
	if t.kind != tEnd {
		p.i++
	}
	return t
}

func (p *parser) sym(s string) bool {
	t := p.tok[p.i]
	return t.kind == tSym && t.text == s
}

func (p *parser) take(s string) bool {
	if p.sym(s) {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.take(s) {
		p.fail()
	}
}

// fail marks the answer as unreadable and moves to its end, so that every loop
// stops.
func (p *parser) fail() *node {
	if p.err == nil {
		p.err = errSyntax
	}
	p.i = len(p.tok) - 1
	return integer(0)
}

func (p *parser) down() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return false
	}
	return true
}

// list reads items up to a closing token.
func (p *parser) list() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	var groups [][]*node
	items := []*node{p.item()}
	name := ""
	for p.err == nil {
		sep := p.separator()
		if sep == "" {
			break
		}
		if t := p.peek(); stops(t) && t.kind != tWord || t.kind == tSym && t.text == "." {
			break // a separator at the end
		}
		if sep == ";" {
			groups = append(groups, items)
			items = nil
		}
		if name == "" || sep == "and" || sep == "or" {
			name = sep
		}
		items = append(items, p.item())
	}
	if len(groups) > 0 {
		return listOf(";", bundle(append(groups, items)))
	}
	return listOf(name, items)
}

func listOf(name string, items []*node) *node {
	if len(items) == 1 {
		return items[0]
	}
	return &node{op: opList, name: name, args: items}
}

// bundle makes a bare tuple of every group with more than one member.
func bundle(groups [][]*node) []*node {
	var out []*node
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, g[0])
		} else {
			out = append(out, &node{op: opTuple, args: g})
		}
	}
	return out
}

// separator takes a comma, semicolon, "and" or "or", or several of them.
func (p *parser) separator() string {
	found := ""
	for {
		t := p.peek()
		switch {
		case t.kind == tSym && (t.text == "," || t.text == ";"):
			if found == "" {
				found = t.text
			}
		case t.kind == tWord && (t.text == "and" || t.text == "or"):
			found = t.text
		case t.kind == tSym && (t.text == "&" && p.depth <= 2 || t.text == "newline"):
			found = "and"
		default:
			return found
		}
		p.i++
	}
}

// item reads an expression or a chain of relations, and a unit after it.
func (p *parser) item() *node {
	first := variable(anonymous)
	if t := p.peek(); !relation(t) {
		first = p.withUnit(p.ratio())
	} else if t.text == "≈" || t.text == "=" { // "≈ 3.14" is the number
		p.i++
		return p.item()
	}
	if !relation(p.peek()) {
		return first
	}
	n := &node{op: opRel, args: []*node{first}}
	for p.err == nil && relation(p.peek()) {
		r := p.next().text
		if len(n.rels) >= 16 {
			return p.fail()
		}
		n.rels = append(n.rels, r)
		n.args = append(n.args, p.withUnit(p.ratio()))
	}
	return n
}

// anonymous is the variable of a condition that names none, as "> 5".
const anonymous = "□"

func (p *parser) ratio() *node {
	n := p.sets()
	if !p.sym(":") || p.braces > 0 {
		return n
	}
	r := &node{op: opRatio, args: []*node{n}}
	for p.err == nil && p.take(":") {
		r.args = append(r.args, p.sets())
	}
	return r
}

func (p *parser) sets() *node {
	n := p.sum()
	for p.err == nil {
		switch {
		case p.take("∪"):
			n = build(opUnion, n, p.sum())
		case p.take("∩"):
			n = build(opInter, n, p.sum())
		case p.take("∖"):
			n = build(opMinus, n, p.sum())
		default:
			return n
		}
	}
	return n
}

func (p *parser) sum() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	n := p.signed()
	for p.err == nil && p.peek().kind == tSym {
		switch {
		case p.take("+"):
			n = add(n, p.product())
		case p.take("-"):
			n = add(n, build(opNeg, p.product()))
		case p.take("±"):
			n = &node{op: opPM, name: "pm", args: []*node{n, p.product()}}
		case p.take("∓"):
			n = &node{op: opPM, name: "mp", args: []*node{n, p.product()}}
		default:
			return n
		}
	}
	return n
}

// signed reads the first product of a sum with the signs before it.
func (p *parser) signed() *node {
	switch {
	case p.take("+"):
		return p.product()
	case p.take("-"):
		if p.sym("-") || p.sym("+") {
			return p.fail()
		}
		return build(opNeg, p.product())
	case p.take("±"):
		return &node{op: opPM, name: "pm", args: []*node{p.product()}}
	case p.take("∓"):
		return &node{op: opPM, name: "mp", args: []*node{p.product()}}
	}
	return p.product()
}

// add keeps sums flat.
func add(a, b *node) *node {
	if a.op == opAdd {
		a.args = append(a.args, b)
		return a
	}
	return build(opAdd, a, b)
}

// mul keeps products flat.
func mul(a, b *node) *node {
	if a.op == opMul {
		a.args = append(a.args, b)
		return a
	}
	return build(opMul, a, b)
}

// product reads factors with or without signs between them. Division binds as
// tightly as multiplication.
func (p *parser) product() *node {
	n := p.factor()
	for p.err == nil {
		switch t := p.peek(); {
		case p.take("*"):
			n = mul(n, p.signedFactor())
		case p.take("/"):
			n = quotient(n, p.signedFactor())
		case p.startsFactor(t):
			if prev := p.tok[p.i-1].kind; t.kind == tNum && (prev == tNum || prev == tWord) {
				n = p.mixed(n)
			} else {
				n = p.juxtaposed(n)
			}
		default:
			return n
		}
	}
	return n
}

func (p *parser) signedFactor() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	if p.take("-") {
		return build(opNeg, p.signedFactor())
	}
	if p.take("+") {
		return p.signedFactor()
	}
	return p.factor()
}

// quotient divides. A percent or degree sign at the end of a fraction belongs to
// all of it: 7/2 % is 3.5 %.
func quotient(n, d *node) *node {
	if d.op == opPercent || d.op == opDegree {
		return build(d.op, build(opDiv, n, d.args[0]))
	}
	return build(opDiv, n, d)
}
