package code

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// The rows of the table of peers' differences, with what is right.
func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
		strict, lcb     bool
	}{
		{"equal", "14\n", "14\n", true, true},
		{"final newline missing", "14", "14\n", true, true},
		{"extra newlines", "14\n\n", "14", true, true},
		{"trailing blank", "a b \nc", "a b\nc", true, true},
		{"leading blank", "  a\n b", "a\nb", true, true},
		{"two blanks between numbers", "1  2", "1 2", true, true},
		{"tab between numbers", "1\t2", "1 2", true, true},
		{"two blanks between words", "a  b", "a b", false, false},
		{"one line for three", "1 2 3", "1\n2\n3", false, false},
		{"blank line inside", "1\n\n2", "1\n2", false, false},
		{"blank line on both sides", "1\n\n2", "1\n  \n2", true, true},
		{"CRLF expected", "1\n2\n", "1\r\n2\r\n", true, true},
		{"CRLF printed", "1\r\n2\r\n", "1\n2\n", true, true},
		{"case", "yes", "YES", false, false},
		{"another word", "NO", "YES", false, false},
		{"3.0 for 3", "3.0", "3", true, true},
		{"1e3 for 1000", "1e3", "1000", true, true},
		{"1E+3 for 1000", "1E+3", "1000", true, true},
		{"1e-9 off", "0.300000001", "0.3", false, false},
		{"last digits of a big integer", "100000000000000001", "100000000000000002", false, false},
		{"permuted lines", "2\n1", "1\n2", false, false},
		{"permuted letters", "abc", "bca", false, false},
		{"prefix", "1", "1\n2", false, false},
		{"extra line", "1\n2\n3", "1", false, false},
		{"nothing for something", "", "1", false, false},
		{"nothing for nothing", "\n", "", true, true},
		{"something for nothing", "1", "", false, false},
		{"007", "007", "7", false, true},
		{"+5", "+5", "5", false, true},
		{"1_000", "1_000", "1000", false, true},
		{"-0", "-0", "0", false, true},
		{"-0.0 and 0.0", "-0.0", "0.0", false, true},
		{".5", ".5", "0.5", false, true},
		{"5.", "5.", "5", false, true},
		{"true", "True", "true", false, false},
		{"spaces in a list", "[1,2]", "[1, 2]", false, false},
		{"nan itself", "nan", "nan", true, true},
		{"nan spelt otherwise", "NaN", "nan", false, false},
		{"infinity", "inf", "Infinity", false, true},
		{"minus infinity", "-inf", "inf", false, false},
		{"other digits", "٣", "3", false, true},
		{"mathematical digits", "𝟗", "9", false, true},
		{"huge exponents", "1e999999999999", "10e999999999998", true, true},
		{"exponent beyond reason", "1e9999999999999999999", "1e9999999999999999998", false, false},
		{"word among numbers", "1 a 2.0", "1 a 2", false, false},
		{"no-break space", "1\u00a02", "1 2", true, true},
		{"minus alone", "-", "0", false, false},
		{"bytes that are no text", "\xff", "\xff", true, true},
	} {
		for p, want := range map[Profile]bool{Strict: c.strict, LCB: c.lcb} {
			diff, got := Comparison{Profile: p}.Output(c.got, c.want)
			if got != want || (diff == "") != got {
				t.Errorf("%s, %s: %v %q, want %v", c.name, p, got, diff, want)
			}
		}
	}
}

func TestOutputOptions(t *testing.T) {
	near := Comparison{Profile: Strict, FloatTol: 1e-6}
	any := Comparison{Profile: Strict, Unordered: true}
	both := Comparison{Profile: Strict, FloatTol: 1e-6, Unordered: true}
	for _, c := range []struct {
		name, got, want string
		c               Comparison
		equal           bool
	}{
		{"absolute", "0.3000001", "0.3", near, true},
		{"relative", "1000000.5", "1000000", near, true},
		{"too far", "0.31", "0.3", near, false},
		{"words beside numbers", "area 2.0000001 cm", "area 2 cm", near, true},
		{"another word", "era 2.0000001 cm", "area 2 cm", near, false},
		{"nan is not near", "nan", "0", near, false},
		{"infinity is not near", "inf", "1e300", near, false},
		{"permuted", "2\n1\n2", "1\n2\n2", any, true},
		{"permuted, as numbers", "2.0\n1  3", "1 3\n2", any, true},
		{"another count", "2\n1\n1", "1\n2\n2", any, false},
		{"permuted and near", "2.0000001\n1", "1\n2", both, true},
		{"permuted and near, ambiguous", "1.0000005\n1.0000015", "1.000001\n1", Comparison{FloatTol: 6e-7, Unordered: true}, true},
		{"permuted and far", "2.1\n1", "1\n2", both, false},
	} {
		if diff, equal := c.c.Output(c.got, c.want); equal != c.equal {
			t.Errorf("%s: %v %q, want %v", c.name, equal, diff, c.equal)
		}
	}
}

// Numbers are compared like big.Rat does it, wherever big.Rat can.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "1e3", "12.34E-5", "007", "1_0", "+.5", "inf"} {
		f.Add(s, "1000")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 60 {
			return
		}
		for _, parse := range []func(string) (decimal, bool){parseStrict, parsePython} {
			x, ok1 := parse(a)
			y, ok2 := parse(b)
			if !ok1 || !ok2 || x.inf || y.inf {
				continue
			}
			p, q := rational(a), rational(b)
			if p == nil || q == nil {
				continue
			}
			if (x == y) != (p.Cmp(q) == 0) {
				t.Errorf("%q and %q: %v, exactly %v", a, b, x == y, p.Cmp(q) == 0)
			}
		}
		c := Comparison{Profile: LCB, FloatTol: 1e-9, Unordered: true}
		if _, same := c.Output(a, a); !same {
			t.Errorf("%q differs from itself", a)
		}
	})
}

// rational is the exact value of a plain number, nil if it is none or large.
func rational(s string) *big.Rat {
	s = strings.ReplaceAll(s, "_", "")
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
		return nil
	}
	if strings.ContainsAny(s, "/xXpPbBoO") {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}

func TestParseJSON(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                           "None",
		` true `:                         "True",
		`[1, -2.50, "x\u00e9\n"]`:        `[1, -2.5, "xé\n"]`,
		`{"a": {"b": []}, "a": 2}`:       `{"a": 2}`,
		`NaN`:                            "nan",
		`[-Infinity, Infinity]`:          "[-inf, inf]",
		`1e400`:                          "inf",
		`123456789012345678901234567890`: "123456789012345678901234567890",
		`"\ud83d\ude00"`:                 `"😀"`,
		`1E2`:                            "100.0",
		`0`:                              "0",
		`-0`:                             "0",
	} {
		if v, err := parseJSON(in); err != nil || v.String() != want {
			t.Errorf("%s: %s %v, want %s", in, v, err, want)
		}
	}
	for _, in := range []string{"", "nul", "[1,]", "[1 2]", "{1: 2}", `{"a"}`, `{"a": 1,}`, "01", "1.", ".5", "+1", "1e", `"a`, "\"\n\"",
		`"\x"`, `"\u12"`, "1 2", "[", "{", "--1", "True", "'a'", strings.Repeat("[", 2000)} {
		if v, err := parseJSON(in); err == nil {
			t.Errorf("%.20q: read as %s", in, v)
		}
	}
	if args, err := parseArguments(" [1]\n\"a\"\n3\n"); len(args) != 3 || err != nil {
		t.Errorf("%d arguments, %v", len(args), err)
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`[1, -2.5e3, "x\u00e9", {"a": null}]`, `NaN`, `{"a": {"b": [true, false]}}`, `"\ud83d\ude00\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parseJSON(s)
		if err != nil || len(s) > 2000 {
			return
		}
		// What is written again reads as the same value.
		again, err := parseJSON(v.json())
		if err != nil {
			if strings.ContainsRune(s, '\\') {
				return // lone surrogates have no JSON of their own
			}
			t.Fatalf("%q: its JSON %q: %v", s, v.json(), err)
		}
		c := valueComparison{Comparison{Profile: Strict}}
		if !hasNaN(v) && !strings.ContainsRune(s, '\\') && utf8Clean(s) && !c.same(again, v) {
			t.Errorf("%q became %q", s, v.json())
		}
		if _, err := parseArguments(s); err != nil {
			t.Errorf("%q: one value, but not some", s)
		}
	})
}

func hasNaN(v value) bool {
	for _, x := range v.items {
		if hasNaN(x) {
			return true
		}
	}
	return v.kind == float && (math.IsNaN(v.float) || math.IsInf(v.float, 0))
}

func utf8Clean(s string) bool { return strings.ToValidUTF8(s, "") == s }

func TestParseReport(t *testing.T) {
	for in, want := range map[string]string{
		"n": "None", "t": "True", "f": "False", "i-1f;": "-31", "d0.5;": "0.5", "dnan;": "nan", "d-inf;": "-inf",
		"s2:hi": `"hi"`, "[i1;(t)]": "[1, (True)]", "{s1:an}": `{"a": None}`, "?3:set": "<set>", "s0:": `""`, "[]": "[]",
	} {
		if v, err := parseReport([]byte(in), 1<<20); err != nil || v.String() != want {
			t.Errorf("%s: %s %v, want %s", in, v, err, want)
		}
	}
	for _, in := range []string{"", "x", "i", "i;", "i1", "d;", "s5:abc", "s-1:", "s99999999999:", "[", "[n", "{n}", "nn", ")", strings.Repeat("[", 5000)} {
		if v, err := parseReport([]byte(in), 1<<20); err == nil {
			t.Errorf("%.20q: read as %s", in, v)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	for _, s := range []string{"[i1;(t){s1:ad0.5;}]", "?3:set", "s2:hi", "i-ff;"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseReport(b, 1<<20)
		if err != nil {
			return
		}
		_ = v.String()
		_ = v.json()
		c := valueComparison{Comparison{Profile: LCB, Unordered: true, FloatTol: 1e-6}}
		c.equal(v, v)
		c.equal(v, value{kind: list})
	})
}

func TestUnorderedResults(t *testing.T) {
	read := func(s string) value {
		v, err := parseJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		got, want string
		tol       float64
		equal     bool
	}{
		{`[1, 2, 3]`, `[3, 1, 2.0]`, 0, true},
		{`[[1, 2], [2, 1]]`, `[[2, 1], [1, 2]]`, 0, true},
		{`[[1, 2]]`, `[[2, 1]]`, 0, false},
		{`[{"a": 1, "b": [2]}, null]`, `[null, {"b": [2], "a": 1.0}]`, 0, true},
		{`[1, 1, 2]`, `[1, 2, 2]`, 0, false},
		{`["1"]`, `[1]`, 0, false},
		{`[true]`, `[1]`, 0, false},
		{`[NaN]`, `[NaN]`, 0, false},
		{`[0.1000001, 2]`, `[2, 0.1]`, 1e-6, true},
		{`[0.11, 2]`, `[2, 0.1]`, 1e-6, false},
		{`"ab"`, `"ba"`, 0, false},
	} {
		v := valueComparison{Comparison{Profile: Strict, Unordered: true, FloatTol: c.tol}}
		if v.equal(read(c.got), read(c.want)) != c.equal {
			t.Errorf("%s and %s with %g: want %v", c.got, c.want, c.tol, c.equal)
		}
	}
	big := read("[" + strings.Repeat("1, 2, ", 100000) + "3]")
	turned := value{kind: list, items: append([]value(nil), big.items...)}
	slices.Reverse(turned.items)
	if !(valueComparison{Comparison{Unordered: true}}).equal(turned, big) {
		t.Error("a long list in reverse")
	}
	many := strings.Repeat("0.5\n", 20000)
	Comparison{Unordered: true, FloatTol: 1}.Output(many, strings.ReplaceAll(many, "5", "4")) // must end soon
}
