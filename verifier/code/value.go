package code

import (
	"math"
	"math/big"
	"strconv"
)

// kind is the type of a value as Python has it.
type kind byte

const (
	none kind = iota
	boolean
	integer
	float
	text
	list
	tuple
	dict
	other // anything that JSON cannot express; equal to nothing
)

// value is a result of a call: what the guest reports, or what JSON expects.
type value struct {
	kind  kind
	truth bool
	int   *big.Int
	float float64
	text  string  // of text; of other: the name of its type
	items []value // of list and tuple; of dict: keys and values in turn
}

// maxDecimal is up to how many bits an integer is written in decimal. It takes
// time by the square of the length, and a program chooses the length.
const maxDecimal = 1 << 17

// count is how many values a value is made of.
func (v value) count() int {
	n := 1
	for _, item := range v.items {
		n += item.count()
	}
	return n
}

// maxDepth bounds the nesting of values, on both sides.
const maxDepth = 900

// valueComparison is Comparison for results of calls.
type valueComparison struct{ Comparison }

// equal compares a result with the expected value, which comes from JSON.
func (c valueComparison) equal(got, want value) bool {
	if c.Unordered && sequence(got) && sequence(want) {
		return c.anyOrder(got.items, want.items)
	}
	return c.same(got, want)
}

func sequence(v value) bool { return v.kind == list || v.kind == tuple }

func (c valueComparison) same(got, want value) bool {
	if c.Profile == LCB {
		got, want = boolAsInt(got), boolAsInt(want)
	}
	switch {
	case got.kind == other || want.kind == other:
		return false
	case sequence(got) && sequence(want):
		if len(got.items) != len(want.items) {
			return false
		}
		for i := range got.items {
			if !c.same(got.items[i], want.items[i]) {
				return false
			}
		}
		return true
	case number(got) && number(want):
		return sameNumber(got, want) || c.FloatTol > 0 && c.nearNumber(got, want)
	case got.kind != want.kind:
		return false
	case got.kind == boolean:
		return got.truth == want.truth
	case got.kind == text:
		return got.text == want.text
	case got.kind == dict:
		return c.sameDict(got, want)
	}
	return true // none
}

func boolAsInt(v value) value {
	if v.kind == boolean {
		n := int64(0)
		if v.truth {
			n = 1
		}
		return value{kind: integer, int: big.NewInt(n)}
	}
	return v
}

func number(v value) bool { return v.kind == integer || v.kind == float }

// nearNumber compares with the tolerance, integers beyond the range of floats
// too.
func (c valueComparison) nearNumber(got, want value) bool {
	if got.kind == float && want.kind == float {
		return c.nearFloat(got.float, want.float)
	}
	g, ok1 := got.asFloat()
	w, ok2 := want.asFloat()
	if !ok1 || !ok2 {
		return false
	}
	most := new(big.Float).Abs(w)
	if one := big.NewFloat(1); most.Cmp(one) < 0 {
		most = one
	}
	g.Sub(g, w)
	return g.Abs(g).Cmp(most.Mul(most, big.NewFloat(c.FloatTol))) <= 0
}

// asFloat is a number as a float of any size, to 64 bits; infinities and NaN
// are none.
func (v value) asFloat() (*big.Float, bool) {
	f := new(big.Float).SetPrec(64)
	if v.kind == integer {
		return f.SetInt(v.int), true
	}
	if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
		return nil, false
	}
	return f.SetFloat64(v.float), true
}

// sameNumber compares exactly: no integer is rounded to a float.
func sameNumber(a, b value) bool {
	switch {
	case a.kind == integer && b.kind == integer:
		return a.int.Cmp(b.int) == 0
	case a.kind == float && b.kind == float:
		return a.float == b.float
	case a.kind == float:
		a, b = b, a
	}
	if math.IsNaN(b.float) || math.IsInf(b.float, 0) || b.float != math.Trunc(b.float) {
		return false
	}
	whole, _ := big.NewFloat(b.float).Int(nil)
	return a.int.Cmp(whole) == 0
}

// sameDict compares by JSON's rule for keys: they are texts, so the key 1 is
// the key "1".
func (c valueComparison) sameDict(got, want value) bool {
	g, ok1 := byKey(got)
	w, ok2 := byKey(want)
	if !ok1 || !ok2 || len(g) != len(w) {
		return false
	}
	for k, v := range g {
		x, ok := w[k]
		if !ok || !c.same(v, x) {
			return false
		}
	}
	return true
}

// byKey is a dict with the keys that json.dumps would write. It fails on keys
// that have none and on two keys that become one.
func byKey(d value) (map[string]value, bool) {
	m := make(map[string]value, len(d.items)/2)
	for i := 0; i+1 < len(d.items); i += 2 {
		k, ok := d.items[i].key()
		if !ok {
			return nil, false
		}
		if _, twice := m[k]; twice {
			return nil, false
		}
		m[k] = d.items[i+1]
	}
	return m, true
}

func (v value) key() (string, bool) {
	switch v.kind {
	case none:
		return "null", true
	case boolean:
		return strconv.FormatBool(v.truth), true
	case integer:
		if v.int.BitLen() > maxDecimal {
			return "", false
		}
		return v.int.String(), true
	case float:
		return floatText(v.float), true
	case text:
		return v.text, true
	}
	return "", false
}

// String writes a value as Python's repr does, for details of verdicts.
func (v value) String() string {
	return string(v.repr(nil))
}

// maxRepr is about how much of a value a detail shows.
const maxRepr = 200

func (v value) repr(b []byte) []byte {
	if len(b) > maxRepr {
		return b
	}
	switch v.kind {
	case none:
		return append(b, "None"...)
	case boolean:
		if v.truth {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case integer:
		if v.int.BitLen() > 4*maxRepr {
			return append(b, "an integer of "+strconv.Itoa(v.int.BitLen())+" bits"...)
		}
		return v.int.Append(b, 10)
	case float:
		return append(b, floatText(v.float)...)
	case text:
		return append(b, quote(v.text)...)
	case list:
		return v.reprItems(b, '[', ']')
	case tuple:
		return v.reprItems(b, '(', ')')
	case dict:
		return v.reprItems(b, '{', '}')
	}
	return append(append(append(b, "<"...), v.text...), '>')
}

func (v value) reprItems(b []byte, open, end byte) []byte {
	b = append(b, open)
	for i, item := range v.items {
		switch {
		case len(b) > maxRepr:
			return append(b, "…"...)
		case v.kind == dict && i%2 == 1:
			b = append(b, ": "...)
		case i > 0:
			b = append(b, ", "...)
		}
		b = item.repr(b)
	}
	return append(b, end)
}

// floatText is repr of a Python float.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		s += ".0"
	}
	return s
}
