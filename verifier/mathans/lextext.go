package mathans

import (
	"math/big"
	"strings"
)

// text reads the argument of a text command. What is a number, a name or a
// formula in it is read as such; words stay words.
func (l *lexer) text(name string) error {
	if l.i < len(l.s) && l.s[l.i] == '*' {
		l.i++
	}
	body := l.group()
	t := strings.TrimSpace(strings.ReplaceAll(body, "~", " "))
	switch {
	case t == "":
		l.space = true
		return nil
	case !hasLetter(t) || strings.ContainsAny(t, `$\`) || isDigit(t[0]):
		return l.inline(t)
	case functions[t] || t == "Re" || t == "Im":
		l.emit(tCmd, t)
		return nil
	case len(t) == 1 && (name == "mathrm" || name == "operatorname" || name == "rm"):
		l.emit(tWord, t)
		return nil
	}
	lower := strings.ToLower(t)
	trimmed := strings.Trim(lower, " ,.;")
	if trimmed == "and" || trimmed == "or" {
		l.emit(tWord, trimmed)
		return nil
	}
	l.out = append(l.out, token{kind: tText, text: t, space: true, mark: true})
	l.space = true
	return nil
}

// inline reads a formula inside a text command.
func (l *lexer) inline(t string) error {
	if l.nest++; l.nest > 4 {
		return errTooLong
	}
	defer func() { l.nest-- }()
	saved, at := l.s, l.i
	l.s, l.i = t, 0
	err := l.run()
	l.s, l.i = saved, at
	return err
}

func hasLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		if isLetter(s[i]) || s[i] >= 0x80 {
			return true
		}
	}
	return false
}

// digits emits a number that is given by its digits.
func (l *lexer) digits(d string) {
	n, _ := new(big.Int).SetString(d, 10)
	l.emit(tNum, d)
	l.out[len(l.out)-1].rat = new(big.Rat).SetInt(n)
}

// number reads digits with their thousands groups, fraction, repeating part and
// exponent.
func (l *lexer) number() error {
	start := l.i
	whole := l.wholePart()
	frac, point := "", false
	if l.i < len(l.s) && l.s[l.i] == '.' && (l.i+1 < len(l.s) && (isDigit(l.s[l.i+1]) || l.s[l.i+1] == '\\' || l.s[l.i+1] == '(')) {
		point = true
		l.i++
		f := l.i
		for l.i < len(l.s) && isDigit(l.s[l.i]) {
			l.i++
		}
		frac = l.s[f:l.i]
	}
	if len(whole)+len(frac) > maxDigits {
		return errTooLong
	}
	rat := decimal(whole, frac)
	if point {
		if rep := l.repeating(frac); rep != nil {
			rat.Add(decimal(whole, ""), rep)
		}
	}
	rat = l.exponent(rat)
	if rat == nil {
		return errTooLong
	}
	l.emit(tNum, l.s[start:l.i])
	t := &l.out[len(l.out)-1]
	t.rat, t.mark = rat, point
	if !point {
		t.text = whole
	}
	return nil
}

// wholePart reads the digits before the point. Groups of three are joined when
// a thin space, a braced comma or, outside of brackets, a comma stands between.
func (l *lexer) wholePart() string {
	start := l.i
	for l.i < len(l.s) && isDigit(l.s[l.i]) {
		l.i++
	}
	first := l.s[start:l.i]
	if first == "" || len(first) > 3 || first[0] == '0' {
		return first
	}
	var b strings.Builder
	b.WriteString(first)
	for sep := ""; ; {
		n := separator(l.s[l.i:], l.depth > 0)
		if n == 0 || sep != "" && l.s[l.i:l.i+n] != sep && strings.TrimSpace(l.s[l.i:l.i+n]) != strings.TrimSpace(sep) {
			return b.String()
		}
		sep = l.s[l.i : l.i+n]
		g := l.s[l.i+n:]
		if len(g) < 3 || !isDigit(g[0]) || !isDigit(g[1]) || !isDigit(g[2]) || len(g) > 3 && isDigit(g[3]) {
			return b.String()
		}
		b.WriteString(g[:3])
		l.i += n + 3
	}
}

// separator gives the length of a thousands separator at the start of s.
func separator(s string, bracketed bool) int {
	for _, sep := range [...]string{"{,}", `,\!`, `\,`, `{\,}`, "\u2009", "\u202f", "\u00a0", `\ `, `{ , }`, `{,\!}`} {
		if strings.HasPrefix(s, sep) {
			n := len(sep)
			for n < len(s) && s[n] == ' ' {
				n++
			}
			return n
		}
	}
	if i := strings.IndexByte(s, '{'); i >= 0 && i < 4 && strings.TrimSpace(s[:i]) == "" { // "14 {, }916"
		if e := strings.IndexByte(s, '}'); e > i && strings.TrimSpace(s[i+1:e]) == "," {
			return e + 1
		}
	}
	if len(s) > 0 && !bracketed && (s[0] == ',' || s[0] == ' ') {
		return 1
	}
	return 0
}

// decimal gives the value of digits before and after the point.
func decimal(whole, frac string) *big.Rat {
	n, _ := new(big.Int).SetString("0"+whole+frac, 10)
	return new(big.Rat).SetFrac(n, pow10(len(frac)))
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// repeating reads a repeating part after the digits frac, written with a bar,
// dots, brackets or an ellipsis, and gives the value of the whole fraction.
func (l *lexer) repeating(frac string) *big.Rat {
	rest := l.s[l.i:]
	for _, cmd := range [...]string{`\overline`, `\bar`, `\dot`, `\overline `} {
		if !strings.HasPrefix(rest, cmd+"{") {
			continue
		}
		at := l.i
		l.i += len(cmd)
		block := strings.TrimSpace(l.group())
		if cmd == `\dot` { // \dot{1}42\dot{7}: the first and the last digit
			block = l.dotted(block)
		}
		if allASCIIDigits(block) && len(block) < maxDigits {
			return repeated(frac, block)
		}
		l.i = at
		return nil
	}
	if strings.HasPrefix(rest, "(") {
		if e := strings.IndexByte(rest, ')'); e > 1 && allASCIIDigits(rest[1:e]) && e < maxDigits && strings.HasPrefix(l.s, "0.") {
			l.i += e + 1
			return repeated(frac, rest[1:e])
		}
	}
	for _, dots := range [...]string{"...", "…", `\ldots`, `\dots`, `\cdots`} {
		if strings.HasPrefix(rest, dots) {
			if pre, block, ok := period(frac); ok {
				l.i += len(dots)
				return repeated(pre, block)
			}
		}
	}
	return nil
}

// dotted reads on after a first dotted digit up to the last one.
func (l *lexer) dotted(first string) string {
	rest := l.s[l.i:]
	i := 0
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	if last, ok := strings.CutPrefix(rest[i:], `\dot{`); ok && len(last) > 1 && isDigit(last[0]) && last[1] == '}' {
		l.i += i + len(`\dot{`) + 2
		return first + rest[:i] + last[:1]
	}
	return first
}

// repeated is 0.frac followed by block again and again.
func repeated(frac, block string) *big.Rat {
	n, _ := new(big.Int).SetString(block, 10)
	nines := new(big.Int).Sub(pow10(len(block)), big.NewInt(1))
	r := new(big.Rat).SetFrac(n, nines.Mul(nines, pow10(len(frac))))
	return r.Add(r, decimal("", frac))
}

// period finds the shortest block that digits before an ellipsis repeat at
// least twice at their end: "0.1666…" repeats 6.
func period(frac string) (pre, block string, ok bool) {
	for n := 1; n <= 12 && 2*n <= len(frac); n++ {
		block = frac[len(frac)-n:]
		if strings.HasSuffix(frac, block+block) && (n > 1 || len(frac) >= 3 || strings.Count(frac, block) == len(frac)) {
			return frac[:len(frac)-n], block, true
		}
	}
	return "", "", false
}

// exponent reads "e-5" after a plain number. It gives nil where the exponent is
// out of bounds.
func (l *lexer) exponent(r *big.Rat) *big.Rat {
	i := l.i
	if i+1 >= len(l.s) || l.s[i]|0x20 != 'e' {
		return r
	}
	i++
	neg := l.s[i] == '-'
	if neg || l.s[i] == '+' {
		i++
	}
	start, e := i, 0
	for i < len(l.s) && isDigit(l.s[i]) && e < 1<<20 {
		e = 10*e + int(l.s[i]-'0')
		i++
	}
	if i == start {
		return r
	}
	if e > maxDigits {
		return nil
	}
	l.i = i
	p := new(big.Rat).SetInt(pow10(e))
	if neg {
		p.Inv(p)
	}
	return r.Mul(r, p)
}
