package code

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Profile chooses between graders where they disagree.
type Profile string

// The profiles.
const (
	// Strict is what a contest judge would say: a non-zero exit code is an
	// error, numbers are equal by value but only as programs print them,
	// True is not 1, and nothing is imported for the program.
	Strict Profile = "strict"
	// LCB follows LiveCodeBench: the exit code does not matter, numbers are
	// whatever Python's Decimal reads, True equals 1, and common imports
	// precede the program.
	LCB Profile = "lcb"
)

// Comparison says when an output is right.
type Comparison struct {
	Profile   Profile
	FloatTol  float64 // allowed difference of numbers, absolute or relative; 0: none
	Unordered bool    // lines, or the elements of a returned list, in any order
}

// Output compares what a program printed with what was expected. Both texts
// and each of their lines are stripped; a line is equal as text, or when both
// lines are sequences of equal numbers. If they differ, diff says where first.
func (c Comparison) Output(got, want string) (diff string, equal bool) {
	g, w := outputLines(got), outputLines(want)
	if c.Unordered && len(g) == len(w) {
		return c.anyOrder(g, w)
	}
	for i := range min(len(g), len(w)) {
		if !c.line(g[i], w[i]) {
			return fmt.Sprintf("line %d: printed %s, expected %s", i+1, quote(g[i]), quote(w[i])), false
		}
	}
	if len(g) != len(w) {
		return fmt.Sprintf("printed %d lines, expected %d", len(g), len(w)), false
	}
	return "", true
}

// outputLines are the stripped lines of a stripped text; an empty text has
// none.
func outputLines(s string) []string {
	s = strings.TrimFunc(s, pythonSpace)
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimFunc(l, pythonSpace)
	}
	return lines
}

// pythonSpace is str.isspace of Python, which knows four separators that
// Unicode's White_Space does not.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// line compares two stripped lines.
func (c Comparison) line(got, want string) bool {
	if got == want {
		return true
	}
	g, w := strings.FieldsFunc(got, pythonSpace), strings.FieldsFunc(want, pythonSpace)
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if !c.token(g[i], w[i]) {
			return false
		}
	}
	return true
}

// token compares two words of lines that are not equal as texts: both must be
// numbers, since `a  b` is not `a b`. With a tolerance, words between the
// numbers may be equal.
func (c Comparison) token(got, want string) bool {
	parse := parseStrict
	if c.Profile == LCB {
		parse = parsePython
	}
	g, ok1 := parse(got)
	w, ok2 := parse(want)
	if ok1 && ok2 && g == w {
		return true
	}
	if c.FloatTol <= 0 {
		return false
	}
	return got == want || ok1 && ok2 && c.near(got, want)
}

// near compares two numbers with the tolerance.
func (c Comparison) near(got, want string) bool {
	g, err1 := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && c.nearFloat(g, w)
}

// nearFloat is false for infinities: a share of infinity is everything.
func (c Comparison) nearFloat(g, w float64) bool {
	return !math.IsInf(w, 0) && math.Abs(g-w) <= c.FloatTol*max(1, math.Abs(w))
}

// anyOrder matches lines regardless of their order. Lines are matched by a
// normal form; only with a tolerance must pairs be tried.
func (c Comparison) anyOrder(got, want []string) (string, bool) {
	left := map[string]int{}
	for _, w := range want {
		left[c.normalLine(w)]++
	}
	var odd []string
	for _, g := range got {
		if k := c.normalLine(g); left[k] > 0 {
			left[k]--
		} else {
			odd = append(odd, g)
		}
	}
	if len(odd) == 0 {
		return "", true
	}
	var rest []string
	for _, k := range slices.Sorted(maps.Keys(left)) {
		for range left[k] {
			rest = append(rest, k)
		}
	}
	if c.FloatTol > 0 && matchAll(len(odd), func(i, j int) bool {
		return c.line(odd[i], rest[j])
	}) {
		return "", true
	}
	return fmt.Sprintf("no expected line matches %s", quote(odd[0])), false
}

// normalLine is equal for two lines when line says they are, without tolerance.
func (c Comparison) normalLine(s string) string {
	words := strings.FieldsFunc(s, pythonSpace)
	parse := parseStrict
	if c.Profile == LCB {
		parse = parsePython
	}
	for i, w := range words {
		d, ok := parse(w)
		if !ok {
			return s
		}
		words[i] = fmt.Sprintf("%t|%s|%d|%t", d.neg, d.digits, d.exp, d.inf)
	}
	// The numbers stay readable by line, which tries them with a tolerance.
	if c.FloatTol > 0 {
		return s
	}
	return strings.Join(words, " ")
}

// quote shows a text in a detail, cut to a length that a record can hold.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + fmt.Sprintf("… (%d bytes)", len(s))
}
