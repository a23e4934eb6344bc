package code

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// decimal is a number in a normal form, so that equal numbers are equal
// structs: digits has neither leading nor trailing zeros (empty for zero), and
// the value is 0.digits × 10^exp. No power is ever computed, so 1e999999999 costs
// nothing.
type decimal struct {
	neg    bool
	digits string
	exp    int64
	inf    bool
}

// maxExponent is where Python's decimal stops as well.
const maxExponent = 999_999_999_999_999_999

// parseStrict reads a number as programs print them: -12, 3.50, 1e+16. Other
// spellings (007, +5, 1_000, -0) are words, equal only to themselves.
func parseStrict(s string) (decimal, bool) {
	body, neg := strings.CutPrefix(s, "-")
	mantissa, exponent, hasExp := cutExponent(body)
	whole, frac, point := strings.Cut(mantissa, ".")
	if whole == "" || point && frac == "" || !asciiDigits(whole) || !asciiDigits(frac) {
		return decimal{}, false
	}
	if len(whole) > 1 && whole[0] == '0' {
		return decimal{}, false
	}
	e, ok := int64(0), true
	if hasExp {
		if e, ok = parseExponent(exponent); !ok {
			return decimal{}, false
		}
	}
	d := normal(neg, whole, frac, e)
	if d.neg && d.digits == "" {
		return decimal{}, false
	}
	return d, true
}

// parsePython reads what decimal.Decimal(s) of Python does, but NaN, which is
// equal to nothing.
func parsePython(s string) (decimal, bool) {
	s = strings.ReplaceAll(s, "_", "")
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		neg, s = s[0] == '-', s[1:]
	}
	if l := len(s); (l == 3 || l == 8) && (strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity")) {
		return decimal{neg: neg, inf: true}, true
	}
	s, ok := foldDigits(s)
	if !ok {
		return decimal{}, false
	}
	mantissa, exponent, hasExp := cutExponent(s)
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole+frac == "" || !asciiDigits(whole) || !asciiDigits(frac) {
		return decimal{}, false
	}
	e := int64(0)
	if hasExp {
		if e, ok = parseExponent(exponent); !ok {
			return decimal{}, false
		}
	}
	d := normal(neg, whole, frac, e)
	if d.digits == "" {
		d.neg = false
	}
	return d, true
}

func cutExponent(s string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func parseExponent(s string) (int64, bool) {
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		neg, s = s[0] == '-', s[1:]
	}
	if s == "" || !asciiDigits(s) {
		return 0, false
	}
	s = strings.TrimLeft(s, "0")
	if len(s) > 18 {
		return 0, false
	}
	var e int64
	for _, c := range []byte(s) {
		e = e*10 + int64(c-'0')
	}
	if e > maxExponent {
		return 0, false
	}
	if neg {
		e = -e
	}
	return e, true
}

func normal(neg bool, whole, frac string, exp int64) decimal {
	digits := whole + frac
	lead := len(digits) - len(strings.TrimLeft(digits, "0"))
	digits = strings.TrimRight(digits[lead:], "0")
	if digits == "" {
		return decimal{neg: neg}
	}
	return decimal{neg: neg, digits: digits, exp: exp + int64(len(whole)) - int64(lead)}
}

func asciiDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// foldDigits turns the decimal digits of other scripts into ASCII, as Python
// does before it reads a number.
func foldDigits(s string) (string, bool) {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return s, true
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		v, ok := digitValue(r)
		if !ok {
			return "", false
		}
		b.WriteByte('0' + v)
	}
	return b.String(), true
}

// digitValue is a decimal digit's value. The digits of a script are ten
// neighbours in order; only the mathematical ones follow each other directly.
func digitValue(r rune) (byte, bool) {
	if !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	if r >= 0x1D7CE && r <= 0x1D7FF {
		return byte((r - 0x1D7CE) % 10), true
	}
	first := r
	for r-first < 9 && unicode.Is(unicode.Nd, first-1) {
		first--
	}
	return byte(r - first), true
}
