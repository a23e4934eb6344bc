package mathans

import "strings"

// greek letters are variables.
var greek = set("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota",
	"kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega",
	"Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega", "ell", "hbar")

// named are the words and commands with a fixed meaning.
var named = map[string]*node{
	"pi": {op: opConst, name: "pi"}, "infty": {op: opInf}, "infinity": {op: opInf}, "oo": {op: opInf},
	"e": {op: opConst, name: "e"}, "i": {op: opConst, name: "i"}, "imath": {op: opConst, name: "i"},
	"emptyset": {op: opEmpty}, "varnothing": {op: opEmpty},
	"RR": {op: opNumbers, name: "R"}, "ZZ": {op: opNumbers, name: "Z"}, "NN": {op: opNumbers, name: "N"},
	"QQ": {op: opNumbers, name: "Q"}, "CC": {op: opNumbers, name: "C"}, "reals": {op: opNumbers, name: "R"},
}

// startsFactor reports whether a token can begin the next factor of a product
// that is written without a sign.
func (p *parser) startsFactor(t token) bool {
	switch t.kind {
	case tNum, tBegin:
		return true
	case tWord:
		if t.text == "and" || t.text == "or" {
			return false
		}
		if len(t.text) == 1 || functions[t.text] || named[t.text] != nil || greek[t.text] {
			return true
		}
		return false
	case tCmd:
		return t.text != "pmod" && t.text != "bmod" && t.text != "mod" && t.text != "choose"
	case tSym:
		switch t.text {
		case "(", "[", "{", "⌊", "⌈":
			return true
		case "|":
			return p.bars == 0 && p.braces == 0
		}
	}
	return false
}

// factor reads an atom and what is attached to it.
func (p *parser) factor() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	n := p.atom()
	for p.err == nil && p.peek().kind == tSym {
		switch {
		case p.take("^"):
			n = p.raised(n)
		case p.take("_"):
			n = p.lowered(n)
		case p.take("!"):
			n = call("factorial", n)
		case p.take("°"):
			n = p.degrees(n)
		case p.take("%"):
			n = build(opPercent, n)
		case p.sym("'") && (n.op == opVar || n.op == opCall):
			p.i++
			n.name += "'"
			if p.sym("(") && n.op == opVar {
				n = &node{op: opCall, name: n.name, args: p.arguments()}
			}
		default:
			return n
		}
	}
	return n
}

// raised reads what follows "^": a power, a degree sign, a prime or the ending
// of an ordinal number.
func (p *parser) raised(n *node) *node {
	braced := p.take("{")
	if braced {
		defer p.expect("}")
	}
	switch t := p.peek(); {
	case t.kind == tSym && (t.text == "∘" || t.text == "°"):
		p.i++
		return p.degrees(n)
	case t.kind == tSym && t.text == "'" && n.op == opVar:
		p.i++
		n.name += "'"
		return n
	case t.kind == tText && braced, t.kind == tWord && braced && (t.text == "th" || t.text == "st"):
		p.i++
		return n
	case t.kind == tWord && braced && t.text == "t" && p.tok[p.i+1].text == "h":
		p.i += 2
		return n
	}
	if t := p.peek(); n.op == opNumbers && t.kind == tSym && (t.text == "*" || t.text == "+" || t.text == "-") {
		p.i++
		return &node{op: opNumbers, name: n.name + t.text}
	}
	if braced {
		return build(opPow, n, p.sum())
	}
	return build(opPow, n, p.bareScript())
}

// bareScript reads an exponent without braces: a number, a name, a bracket, each
// perhaps with a sign; and a power of a power from the right.
func (p *parser) bareScript() *node {
	if !p.down() {
		return integer(0)
	}
	defer func() { p.depth-- }()
	if p.take("-") {
		return build(opNeg, p.bareScript())
	}
	if p.take("+") {
		return p.bareScript()
	}
	n := p.atom()
	if p.take("^") {
		return p.raised(n)
	}
	return n
}

// degrees reads the minutes and seconds after a degree sign.
func (p *parser) degrees(n *node) *node {
	for _, part := range [...]int64{60, 3600} {
		if t := p.peek(); t.kind != tNum || !p.primes(p.i+1, part == 3600) {
			break
		}
		t := p.next()
		p.i++
		if part == 3600 {
			p.i++
		}
		n = add(n, build(opDiv, num(t.rat), integer(part)))
	}
	return build(opDegree, n)
}

func (p *parser) primes(i int, two bool) bool {
	prime := func(j int) bool { return j < len(p.tok) && p.tok[j].kind == tSym && p.tok[j].text == "'" }
	return prime(i) && (!two || prime(i+1))
}

// lowered reads what follows "_": the base of a number, or a part of a name.
func (p *parser) lowered(n *node) *node {
	start := p.i
	var sub []token
	if p.take("{") {
		for depth := 1; ; p.i++ {
			t := p.peek()
			if t.kind == tEnd {
				return p.fail()
			}
			if t.kind == tSym && t.text == "{" {
				depth++
			} else if t.kind == tSym && t.text == "}" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		sub = p.tok[start+1 : p.i]
		p.i++
	} else {
		sub = p.tok[start : start+1]
		p.next()
	}
	var b strings.Builder
	for _, t := range sub {
		b.WriteString(t.text)
	}
	switch {
	case n.op == opNum && len(sub) > 0:
		return p.based(n, b.String())
	case n.op == opVar || n.op == opConst || n.op == opText:
		name := n.name + "_" + strings.ToLower(b.String())
		if p.sym("(") && userFunction(n.name) {
			return &node{op: opCall, name: name, args: p.arguments()}
		}
		return variable(name)
	case n.op == opMul && n.args[len(n.args)-1].op == opVar: // a bracketed product
		return p.fail()
	}
	return p.fail()
}

// based makes a number in a base out of its digits and its index.
func (p *parser) based(n *node, index string) *node {
	index = strings.ToLower(strings.Trim(index, "() "))
	base, ok := numberWords[index]
	if !ok {
		if !allASCIIDigits(index) || len(index) > 3 {
			return p.fail()
		}
		for _, c := range index {
			base = 10*base + int64(c-'0')
		}
	}
	digits := p.tok[0].text
	for i := p.i - 1; i >= 0; i-- {
		if p.tok[i].kind == tNum && p.tok[i].rat == n.rat {
			digits = p.tok[i].text
			break
		}
	}
	return &node{op: opBase, name: digits, rat: integer(base).rat, args: []*node{n}}
}

var numberWords = map[string]int64{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16}

// atom reads a number, a name, a function or something in brackets.
func (p *parser) atom() *node {
	t := p.next()
	switch t.kind {
	case tNum:
		return &node{op: opNum, rat: t.rat, lit: !t.mark}
	case tWord:
		return p.wordAtom(t)
	case tCmd:
		return p.commandAtom(t.text)
	case tText:
		return p.textAtom(t)
	case tBegin:
		return p.matrix(t.text)
	case tSym:
		return p.bracketAtom(t.text)
	}
	return p.fail()
}

func (p *parser) textAtom(t token) *node {
	w := strings.Trim(t.text, "()[]. ")
	if len(w) == 1 && isLetter(w[0]) {
		return &node{op: opText, name: w}
	}
	return &node{op: opText, name: fold(t.text)}
}

func (p *parser) wordAtom(t token) *node {
	w := t.text
	switch {
	case w == "and" || w == "or":
		return p.fail()
	case functions[w] && len(w) > 1:
		return p.function(w)
	case named[w] != nil:
		return named[w]
	case len(w) > 1 && !greek[w]:
		return &node{op: opText, name: strings.ToLower(w)}
	}
	v := variable(w)
	if p.sym("(") && (userFunction(w) || p.defines()) {
		return &node{op: opCall, name: w, args: p.arguments()}
	}
	return v
}

// userFunction reports whether a letter before a bracket names a function.
func userFunction(w string) bool {
	return len(w) == 1 && strings.Contains("fghFGH", w)
}

// defines reports whether the bracket at the parser's position belongs to a
// definition such as "P(x) =".
func (p *parser) defines() bool {
	depth := 0
	for i := p.i; i < len(p.tok) && i < p.i+12; i++ {
		if t := p.tok[i]; t.kind == tSym && t.text == "(" {
			depth++
		} else if t.kind == tSym && t.text == ")" {
			if depth--; depth == 0 {
				return p.tok[i+1].kind == tSym && p.tok[i+1].text == "="
			}
		}
	}
	return false
}

// arguments reads a bracketed list of arguments.
func (p *parser) arguments() []*node {
	if !p.take("(") && !p.take("[") {
		p.fail()
		return nil
	}
	saved, braces := p.bars, p.braces
	p.bars, p.braces = 0, 0
	n := p.list()
	p.bars, p.braces = saved, braces
	if !p.take(")") {
		p.expect("]")
	}
	if n.op == opList {
		return n.args
	}
	return []*node{n}
}
