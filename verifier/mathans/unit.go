package mathans

import "strings"

// unitTable gives the spellings of units their one name.
var unitTable = spellings(map[string]string{
	"m": "meter meters metre metres m", "cm": "cm centimeter centimeters centimetre centimetres", "km": "km kms kilometer kilometers kilometre kilometres",
	"mm": "mm millimeter millimeters", "inch": "inch inches in", "ft": "foot feet ft", "yd": "yard yards yd yds", "mi": "mile miles mi",
	"s": "second seconds sec secs s", "min": "minute minutes min mins", "h": "hour hours hr hrs h", "day": "day days", "week": "week weeks", "month": "month months",
	"year": "year years yr yrs", "g": "gram grams g gm", "kg": "kg kilogram kilograms kgs", "mg": "mg milligram milligrams", "lb": "pound pounds lb lbs", "oz": "ounce ounces oz",
	"ton": "ton tons tonne tonnes", "l": "liter liters litre litres l", "ml": "ml milliliter milliliters", "gal": "gallon gallons gal", "quart": "quart quarts", "pint": "pint pints",
	"cup": "cup cups", "mph": "mph", "kmh": "kph kmh", "deg": "degree degrees deg", "rad": "radian radians rad", "dollar": "dollar dollars usd", "cent": "cent cents",
	"euro": "euro euros", "yuan": "yuan rmb", "percent": "percent percentage pct", "unit": "unit units", "hz": "hz hertz", "n": "newton newtons", "j": "joule joules j", "w": "watt watts", "v": "volt volts",
	"acre": "acre acres", "point": "point points pts", "mol": "mol moles", "rpm": "rpm", "am": "am a.m a.m.", "pm": "pm p.m p.m.",
})

func spellings(m map[string]string) map[string]string {
	out := map[string]string{}
	for name, all := range m {
		for _, s := range strings.Fields(all) {
			out[s] = name
		}
	}
	return out
}

// unitName gives the name of a unit of more than one letter, or "".
func unitName(w string) string {
	if len(w) < 2 {
		return ""
	}
	return unitTable[lower(w)]
}

func lower(w string) string {
	for i := 0; i < len(w); i++ {
		if w[i] >= 'A' && w[i] <= 'Z' {
			return strings.ToLower(w)
		}
	}
	return w
}

// filler words may stand before or after an answer without changing it.
var filler = set("approximately", "about", "exactly", "approx", "therefore", "thus", "so", "hence", "is", "equals", "or so",
	"the answer is", "answer", "the answer", "final answer", "total", "in total", "total of", "answer:", "only", "respectively", "each", "therefore,", "or about")

// skipLead drops filler words at the start.
func (p *parser) skipLead() {
	for p.i < len(p.tok)-2 {
		t := p.peek()
		if (t.kind == tText || t.kind == tWord && len(t.text) > 1) && filler[strings.ToLower(strings.Trim(t.text, " :,."))] {
			p.i++
			p.take(":")
			continue
		}
		return
	}
}

// withUnit reads the unit or the words after an expression.
func (p *parser) withUnit(n *node) *node {
	if p.err != nil || n.op == opText && !p.wordsFollow() {
		return n
	}
	if t := p.peek(); t.kind == tSym && t.text == "cur" { // 1,000.99€
		p.i++
		return n
	}
	if t := p.peek(); t.kind == tCmd && (t.text == "pmod" || t.text == "bmod" || t.text == "mod") {
		p.i++
		return &node{op: opUnit, name: "mod " + p.argument().key(), args: []*node{n}}
	}
	words := p.unitWords()
	if words == nil || p.err != nil {
		return n
	}
	if n.op == opText {
		return &node{op: opText, name: n.name + strings.Join(words, "")}
	}
	return p.attach(n, words)
}

// doubts are words that make a sentence of what follows a value.
var doubts = set("is", "isn't", "not", "no", "wrong", "incorrect", "but", "if", "maybe", "perhaps", "was", "are", "because",
	"since", "or", "either", "unless", "false", "impossible", "does", "never", "except", "less", "more", "than", "greater",
	"times", "plus", "minus", "remainder", "divided", "over", "to", "through", "between", "half", "halves", "third", "thirds",
	"fourth", "fourths", "quarters", "fifths", "sixths", "eighths", "tenths", "hundredths", "factorial", "root")

// multipliers are words for powers of ten.
var multipliers = map[string]int64{"hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12}

func (p *parser) wordsFollow() bool {
	t := p.peek()
	return t.kind == tText || t.kind == tWord && t.text != "and" && t.text != "or"
}

// attach gives an expression its unit.
func (p *parser) attach(n *node, words []string) *node {
	if len(words) > 1 && words[0] == "base" {
		return p.based(n, strings.Join(words[1:], ""))
	}
	for _, w := range words {
		if doubts[w] {
			return p.fail()
		}
	}
	for len(words) > 0 && filler[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && multipliers[words[0]] > 0 { // 1.5 million
		n, words = mul(n, integer(multipliers[words[0]])), words[1:]
	}
	u := canonicalUnit(words)
	if strings.HasPrefix(u, "^") || len(words) > 8 { // "5 squared", or a sentence
		return p.fail()
	}
	switch u {
	case "":
		return n
	case "percent":
		return build(opPercent, n)
	case "deg":
		if n.op == opDegree {
			return n
		}
		return build(opDegree, n)
	default:
		return &node{op: opUnit, name: u, args: []*node{n}}
	}
}

// unitWords reads words with their powers and the slashes between them.
func (p *parser) unitWords() []string {
	var words []string
	for p.err == nil && len(words) < 24 {
		switch t := p.peek(); {
		case t.kind == tText:
			words = append(words, strings.Fields(strings.ToLower(t.text))...)
			p.i++
		case t.kind == tWord && t.text != "and" && t.text != "or" && (len(words) > 0 || !p.startsFactor(t)):
			words = append(words, lower(t.text))
			p.i++
		case len(words) > 0 && t.kind == tNum && words[len(words)-1] == "base":
			words = append(words, t.text)
			p.i++
		case len(words) > 0 && t.kind == tSym && t.text == "^":
			p.i++
			words = append(words, p.unitPower())
		case len(words) > 0 && t.kind == tSym && (t.text == "/" || t.text == "*" || t.text == "." || t.text == "-" || t.text == "%" || t.text == "'"):
			if t.text == "/" || t.text == "%" {
				words = append(words, t.text)
			}
			p.i++
		default:
			return words
		}
	}
	return words
}

// unitPower reads "2", "{2}" or "{-1}" after "^".
func (p *parser) unitPower() string {
	braced := p.take("{")
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	t := p.next()
	if t.kind != tNum || t.mark {
		p.fail()
	}
	if braced {
		p.expect("}")
	}
	return "^" + sign + t.text
}

// canonicalUnit brings the words of a unit to one form: "square feet",
// "ft^2" and "feet squared" are the same.
func canonicalUnit(words []string) string {
	var parts []string
	power := ""
	for i, w := range words {
		w = strings.Trim(w, ".,:()")
		if j := strings.IndexByte(w, '/'); j > 0 {
			return canonicalUnit(append(append(append([]string{}, words[:i]...), w[:j], "/", w[j+1:]), words[i+1:]...))
		}
		switch w {
		case "", "the", "a", "of", "an":
		case "square", "sq":
			power = "^2"
		case "cubic", "cu":
			power = "^3"
		case "squared":
			parts = append(parts, "^2")
		case "cubed":
			parts = append(parts, "^3")
		case "per", "an hour":
			parts = append(parts, "/")
		default:
			if strings.HasSuffix(w, "²") || strings.HasSuffix(w, "2") && unitTable[w[:len(w)-1]] != "" {
				w, power = strings.TrimSuffix(strings.TrimSuffix(w, "²"), "2"), "^2"
			} else if strings.HasSuffix(w, "³") || strings.HasSuffix(w, "3") && unitTable[w[:len(w)-1]] != "" {
				w, power = strings.TrimSuffix(strings.TrimSuffix(w, "³"), "3"), "^3"
			}
			if u := unitTable[w]; u != "" {
				w = u
			}
			parts = append(parts, w+power)
			power = ""
		}
	}
	u := strings.Join(parts, " ")
	u = strings.ReplaceAll(u, " ^", "^")
	switch u {
	case "mi / h":
		return "mph"
	case "km / h":
		return "kmh"
	case "deg c", "deg celsius":
		return "celsius"
	case "deg f", "deg fahrenheit":
		return "fahrenheit"
	}
	return u + power
}
