package code

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// json writes a value for a checker. What JSON cannot express becomes a string.
func (v value) json() string {
	var b strings.Builder
	v.writeJSON(&b)
	return b.String()
}

func (v value) writeJSON(b *strings.Builder) {
	switch v.kind {
	case none:
		b.WriteString("null")
	case boolean:
		b.WriteString(strconv.FormatBool(v.truth))
	case integer:
		if n := v.int.BitLen(); n > maxDecimal {
			writeJSONText(b, fmt.Sprintf("an integer of %d bits", n))
		} else {
			b.WriteString(v.int.String())
		}
	case float:
		names := map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
		if s := floatText(v.float); names[s] != "" {
			b.WriteString(names[s])
		} else {
			b.WriteString(s)
		}
	case text, other:
		writeJSONText(b, v.text)
	case list, tuple:
		writeJSONItems(b, "[", v.items, "]", func(int) string { return "," })
	case dict:
		items := slices.Clone(v.items)
		for i := 0; i < len(items); i += 2 {
			k, _ := items[i].key()
			items[i] = value{kind: text, text: k}
		}
		writeJSONItems(b, "{", items, "}", func(i int) string { return []string{",", ":"}[i%2] })
	}
}

func writeJSONItems(b *strings.Builder, open string, items []value, end string, before func(i int) string) {
	b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			b.WriteString(before(i))
		}
		item.writeJSON(b)
	}
	b.WriteString(end)
}

func writeJSONText(b *strings.Builder, s string) {
	q, err := json.Marshal(s)
	if err != nil {
		q = []byte(`""`)
	}
	b.Write(q)
}

// anyOrder matches the elements of two lists regardless of their order.
func (c valueComparison) anyOrder(got, want []value) bool {
	if len(got) != len(want) {
		return false
	}
	if c.FloatTol > 0 {
		return matchAll(len(got), func(i, j int) bool { return c.same(got[i], want[j]) })
	}
	left := map[string]int{}
	for _, v := range want {
		left[string(c.canonical(nil, v))]++
	}
	for _, v := range got {
		k := string(c.canonical(nil, v))
		if left[k] == 0 || strings.Contains(k, unequal) {
			return false
		}
		left[k]--
	}
	return true
}

// unequal marks what is equal to nothing, itself included.
const unequal = "\x00"

// canonical appends a text that two values share exactly when same says that
// they are equal, without tolerance.
func (c valueComparison) canonical(b []byte, v value) []byte {
	if c.Profile == LCB {
		v = boolAsInt(v)
	}
	switch v.kind {
	case none:
		return append(b, 'n')
	case boolean:
		return strconv.AppendBool(b, v.truth)
	case integer:
		return v.int.Append(append(b, 'i'), 16)
	case float:
		if math.IsNaN(v.float) {
			return append(b, unequal...)
		}
		if !math.IsInf(v.float, 0) && v.float == math.Trunc(v.float) {
			whole, _ := big.NewFloat(v.float).Int(nil)
			return whole.Append(append(b, 'i'), 16)
		}
		return strconv.AppendFloat(append(b, 'd'), v.float, 'x', -1, 64)
	case text:
		return strconv.AppendQuote(b, v.text)
	case list, tuple:
		b = append(b, '[')
		for _, item := range v.items {
			b = append(c.canonical(b, item), ',')
		}
		return append(b, ']')
	case dict:
		return c.canonicalDict(b, v)
	}
	return append(b, unequal...)
}

func (c valueComparison) canonicalDict(b []byte, v value) []byte {
	m, ok := byKey(v)
	if !ok {
		return append(b, unequal...)
	}
	b = append(b, '{')
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = append(strconv.AppendQuote(b, k), ':')
		b = append(c.canonical(b, m[k]), ',')
	}
	return append(b, '}')
}
