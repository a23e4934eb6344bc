package mathans

import "strings"

// compare decides between two answers that are already cut out.
func compare(gold, answer string, opt Options) Result {
	if res, ok := written(gold, &answer, opt); ok {
		return res
	}
	res := judge(gold, answer, strictly(gold, opt), opt)
	if res.Outcome == Equal || !strings.Contains(answer, " ") {
		return res
	}
	if value, ok := predicate(answer); ok {
		if res, ok := written(gold, &value, opt); ok {
			return res
		}
		return judge(gold, value, strictly(gold, opt), opt)
	}
	return res
}

// strictly reports whether only a number written out is accepted.
func strictly(gold string, opt Options) bool {
	g, ok := readLiteral(gold)
	return opt.StrictInteger && ok && g.integer()
}

// written decides what needs no reader: numbers and fractions written out, and
// answers that are the same text. It drops a comment from the answer.
func written(gold string, answer *string, opt Options) (Result, bool) {
	g, gok := readLiteral(gold)
	a, aok := readLiteral(*answer)
	if gok && aok && (g == a || opt.Tolerance <= 0) {
		return Result{Outcome: outcomes[verdictOf(g == a)], Rule: "number"}, true
	}
	strict := strictly(gold, opt)
	if !strict && opt.Tolerance <= 0 {
		if x, ok := readFraction(gold); ok {
			if y, ok := readFraction(*answer); ok {
				return Result{Outcome: outcomes[verdictOf(x.Cmp(y) == 0)], Rule: "rational"}, true
			}
		}
	}
	*answer = uncommented(*answer)
	if v := decimalComma(gold, g, gok, *answer, a, aok); v != nil {
		return *v, true
	}
	if spelled(gold) == spelled(*answer) && !strict {
		return Result{Outcome: Equal, Rule: "text"}, true
	}
	return Result{}, false
}

// judge reads both answers and compares their values.
func judge(gold, answer string, strict bool, opt Options) Result {
	if ok, decided := choice(gold, answer); decided {
		return Result{Outcome: outcomes[verdictOf(ok)], Rule: "choice"}
	}
	g, gerr := parse(gold)
	a, aerr := parse(answer)
	if gerr != nil || aerr != nil {
		ok := hasWord(gold) && fold(gold) == fold(answer)
		return Result{Outcome: outcomes[verdictOf(ok)], Rule: "text"}
	}
	if strict && !writtenOut(a) {
		return Result{Outcome: Unequal, Rule: "strict integer"}
	}
	c := &comparer{bud: &budget{left: fullBudget}, opt: opt}
	v := c.equal(finish(g), finish(a))
	if c.bud.left < 0 && v != yes {
		return Result{Outcome: Undecided, Rule: "work budget"}
	}
	return Result{Outcome: outcomes[v], Rule: c.rule}
}

// hasWord reports whether a text has a word of four letters or more, so that it
// is prose rather than a formula whose letters have a case.
func hasWord(s string) bool {
	run := 0
	for i := 0; i < len(s); i++ {
		if !isLetter(s[i]) {
			run = 0
		} else if run++; run == 4 {
			return true
		}
	}
	return false
}

var outcomes = map[verdict]Outcome{yes: Equal, no: Unequal, unknown: Undecided}

// writtenOut reports whether an answer is a number as it stands, perhaps with a
// name and a unit, and not something that has to be computed.
func writtenOut(n *node) bool {
	n = measure(value(unwrap(n))).e
	if n.op == opNeg {
		n = n.args[0]
	}
	return n.op == opNum
}

// uncommented drops words in brackets at the end of an answer: 42 (checked).
func uncommented(s string) string {
	if !strings.HasSuffix(s, ")") {
		return s
	}
	i := strings.LastIndexByte(s, '(')
	if i < 2 || s[i-1] != ' ' || !hasWord(s[i:]) {
		return s
	}
	for _, r := range s[i+1 : len(s)-1] {
		if r != ' ' && (r > 0x7f || !isLetter(byte(r))) {
			return s
		}
	}
	return strings.TrimSpace(s[:i])
}

// decimalComma reads "2,74" as a decimal where the other side is one.
func decimalComma(gold string, g literal, gok bool, answer string, a literal, aok bool) *Result {
	if gok == aok {
		return nil
	}
	point := func(s string, digits int) (literal, bool) {
		i := strings.IndexByte(s, ',')
		if i < 0 || len(s)-i-1 < digits {
			return literal{}, false
		}
		return readLiteral(s[:i] + "." + s[i+1:])
	}
	var ok bool
	switch {
	case gok && !g.integer():
		a, ok = point(answer, 1)
	case aok && !a.integer():
		g, ok = point(gold, 2)
	}
	if !ok {
		return nil
	}
	return &Result{Outcome: outcomes[verdictOf(g == a)], Rule: "decimal comma"}
}

// choice compares a gold that is one letter with an answer such as "(C)",
// "C. 12" or "\text{C}".
func choice(gold, answer string) (equal, decided bool) {
	g := choiceLetter(gold)
	if g == 0 {
		return false, false
	}
	if a := choiceLetter(answer); a != 0 {
		if bracketed := strings.ContainsAny(gold+answer, "({"); bracketed && g|0x20 <= 'h' {
			return g|0x20 == a|0x20, true
		}
		return g == a, true
	}
	s := strings.TrimLeft(strings.NewReplacer(`\text{`, "", `\textbf{`, "", `\mathrm{`, "", `{`, "").Replace(answer), " (")
	if len(s) > 2 && s[0] == g && (s[1] == ')' || s[1] == '.' || s[1] == ':') && g >= 'A' && g <= 'H' {
		return true, true
	}
	return false, false
}

// choiceLetter gives the letter of an answer that is one letter in wrappers.
func choiceLetter(s string) byte {
	if len(s) > 24 {
		return 0
	}
	s = choiceWrappers.Replace(s)
	if len(s) == 1 && isLetter(s[0]) {
		return s[0]
	}
	return 0
}

var choiceWrappers = strings.NewReplacer(`\text`, "", `\mathrm`, "", `\textbf`, "", `\mathbf`, "", `\mbox`, "", `\textnormal`, "", `\left`, "", `\right`, "",
	"(", "", ")", "", "{", "", "}", "", " ", "", ".", "", `\`, "", "*", "", "$", "")

// bareValue reports whether a short text is a value and not prose.
func bareValue(s string) bool {
	s = clean(s)
	if choiceLetter(s) != 0 {
		return true
	}
	n, err := parse(s)
	return err == nil && !n.any(func(m *node) bool { return m.op == opText || m.op == opUnit && !knownUnit(m.name) })
}

// knownUnit reports whether a unit is in the table and no word of a sentence.
func knownUnit(u string) bool {
	for _, w := range strings.FieldsFunc(u, func(r rune) bool { return r == ' ' || r == '/' || r == '^' || r >= '0' && r <= '9' }) {
		if unitTable[w] == "" {
			return false
		}
	}
	return true
}

// Quick judges what needs no reader: replies without an answer, bad golds,
// numbers and fractions written out, and answers that are the same text. The
// second result is false where the whole engine is needed.
func Quick(gold, reply string, opt Options) (Result, bool) {
	g, ok := goldAnswer(gold)
	if !ok {
		return Result{Outcome: BadGold, Rule: badGoldRule}, true
	}
	answer, how, ok := Extract(reply)
	if !ok {
		return Result{Outcome: NoAnswer, Rule: how}, true
	}
	cut := answer
	res, ok := written(g, &cut, opt)
	res.Extracted = answer
	return res, ok
}
