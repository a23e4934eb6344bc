package mathans

import (
	"math/big"
	"strings"
)

// literal is a number written out: sign, digits, perhaps a fraction of digits.
// digits has no leading zeros, frac no trailing ones.
type literal struct {
	negative     bool
	digits, frac string
}

// readLiteral reads a plain number with or without thousands groups.
func readLiteral(s string) (literal, bool) {
	var l literal
	if s != "" && (s[0] == '-' || s[0] == '+') {
		l.negative = s[0] == '-'
		s = strings.TrimLeft(s[1:], " ")
	} else if rest, ok := strings.CutPrefix(s, "−"); ok {
		l.negative, s = true, strings.TrimLeft(rest, " ")
	}
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	l.digits = s[:i]
	if i < len(s) && (s[i] == ',' || s[i] == '{') {
		var ok bool
		if l.digits, i, ok = thousands(s, i); !ok {
			return l, false
		}
	}
	if i < len(s) && s[i] == '.' {
		start := i + 1
		for i++; i < len(s) && isDigit(s[i]); i++ {
		}
		l.frac = strings.TrimRight(s[start:i], "0")
		if start == i && l.digits == "" {
			return l, false
		}
	} else if l.digits == "" {
		return l, false
	}
	if i < len(s) {
		return l, false
	}
	l.digits = strings.TrimLeft(l.digits, "0")
	if l.digits == "" && l.frac == "" {
		l.negative = false
	}
	return l, true
}

// thousands joins the groups of a number whose first group ends at i.
func thousands(s string, i int) (digits string, end int, ok bool) {
	if i == 0 || i > 3 || s[0] == '0' {
		return "", i, false
	}
	sep := ","
	if s[i] == '{' {
		sep = "{,}"
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for strings.HasPrefix(s[i:], sep) {
		g := s[i+len(sep):]
		if len(g) < 3 || !isDigit(g[0]) || !isDigit(g[1]) || !isDigit(g[2]) || len(g) > 3 && isDigit(g[3]) {
			return "", i, false
		}
		b.WriteString(g[:3])
		i += len(sep) + 3
	}
	return b.String(), i, true
}

func (l literal) integer() bool { return l.frac == "" }

// readFraction reads a number written out, or a fraction of two whole numbers
// with a slash or a \frac.
func readFraction(s string) (*big.Rat, bool) {
	sign := s != "" && s[0] == '-'
	if sign {
		s = strings.TrimLeft(s[1:], " ")
	}
	if sign && strings.HasPrefix(s, "-") {
		return nil, false // no number has two signs
	}
	above, below, ok := fractionParts(s)
	if !ok {
		l, ok := readLiteral(s)
		if !ok || sign && !isDigit(s[0]) && s[0] != '.' || len(s) > maxDigits {
			return nil, false
		}
		r := decimal(l.digits, l.frac)
		if l.negative != sign {
			r.Neg(r)
		}
		return r, true
	}
	a, aok := wholeNumber(above)
	b, bok := wholeNumber(below)
	if !aok || !bok || b.Sign() == 0 {
		return nil, false
	}
	r := new(big.Rat).SetFrac(a, b)
	if sign {
		r.Neg(r)
	}
	return r, true
}

// fractionParts takes "a/b" and "\frac{a}{b}" apart.
func fractionParts(s string) (above, below string, ok bool) {
	for _, cmd := range [...]string{`\frac{`, `\dfrac{`, `\tfrac{`} {
		if t, found := strings.CutPrefix(s, cmd); found {
			above, below, ok = strings.Cut(t, "}{")
			return above, strings.TrimSuffix(below, "}"), ok && strings.HasSuffix(below, "}")
		}
	}
	above, below, ok = strings.Cut(s, "/")
	return strings.TrimRight(above, " "), strings.TrimLeft(below, " "), ok
}

// wholeNumber reads digits with a minus sign at most.
func wholeNumber(s string) (*big.Int, bool) {
	if len(s) > maxDigits || !allASCIIDigits(strings.TrimPrefix(s, "-")) {
		return nil, false
	}
	return new(big.Int).SetString(s, 10)
}
