package code

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON reads one JSON value in Python's dialect: NaN and the infinities
// are numbers, integers have any size, the last of equal keys counts.
func parseJSON(s string) (value, error) {
	p := jsonParser{s: s}
	v, err := p.value(0)
	if err == nil {
		if p.space(); p.at != len(p.s) {
			err = p.fail("text after the value")
		}
	}
	return v, err
}

// parseArguments reads the JSON values that follow each other in s, which is how
// the arguments of a call are written: one a line.
func parseArguments(s string) ([]value, error) {
	p := jsonParser{s: s}
	var args []value
	for {
		if p.space(); p.at == len(p.s) {
			return args, nil
		}
		v, err := p.value(0)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
}

type jsonParser struct {
	s  string
	at int
}

func (p *jsonParser) fail(what string) error {
	return fmt.Errorf("not JSON: %s at byte %d", what, p.at)
}

func (p *jsonParser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

// words are the literals, in an order in which none hides another.
var words = []struct {
	text string
	v    value
}{
	{"null", value{kind: none}},
	{"true", value{kind: boolean, truth: true}},
	{"false", value{kind: boolean}},
	{"NaN", value{kind: float, float: math.NaN()}},
	{"Infinity", value{kind: float, float: math.Inf(1)}},
	{"-Infinity", value{kind: float, float: math.Inf(-1)}},
}

func (p *jsonParser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, p.fail("too deep")
	}
	p.space()
	if p.at == len(p.s) {
		return value{}, p.fail("end of text")
	}
	switch p.s[p.at] {
	case '"':
		s, err := p.text()
		return value{kind: text, text: s}, err
	case '[':
		return p.list(depth)
	case '{':
		return p.dict(depth)
	}
	for _, w := range words {
		if strings.HasPrefix(p.s[p.at:], w.text) {
			p.at += len(w.text)
			return w.v, nil
		}
	}
	return p.number()
}

func (p *jsonParser) list(depth int) (value, error) {
	v := value{kind: list}
	p.at++
	if p.space(); p.take(']') {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
		p.space()
		if p.take(']') {
			return v, nil
		}
		if !p.take(',') {
			return v, p.fail("no comma")
		}
	}
}

func (p *jsonParser) dict(depth int) (value, error) {
	v := value{kind: dict}
	at := map[string]int{}
	p.at++
	if p.space(); p.take('}') {
		return v, nil
	}
	for {
		p.space()
		if p.at == len(p.s) || p.s[p.at] != '"' {
			return v, p.fail("no key")
		}
		k, err := p.text()
		if err != nil {
			return v, err
		}
		if p.space(); !p.take(':') {
			return v, p.fail("no colon")
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		if i, twice := at[k]; twice {
			v.items[i] = item
		} else {
			v.items = append(v.items, value{kind: text, text: k}, item)
			at[k] = len(v.items) - 1
		}
		p.space()
		if p.take('}') {
			return v, nil
		}
		if !p.take(',') {
			return v, p.fail("no comma")
		}
	}
}

func (p *jsonParser) take(c byte) bool {
	if p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonParser) digits() int {
	from := p.at
	for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
		p.at++
	}
	return p.at - from
}

func (p *jsonParser) number() (value, error) {
	from, whole := p.at, true
	p.take('-')
	zero := p.at < len(p.s) && p.s[p.at] == '0'
	if n := p.digits(); n == 0 || zero && n > 1 {
		return value{}, p.fail("no value")
	}
	if p.take('.') {
		whole = false
		if p.digits() == 0 {
			return value{}, p.fail("no digits after the point")
		}
	}
	if p.take('e') || p.take('E') {
		whole = false
		_ = p.take('+') || p.take('-')
		if p.digits() == 0 {
			return value{}, p.fail("no exponent")
		}
	}
	lit := p.s[from:p.at]
	if whole {
		n, ok := new(big.Int).SetString(lit, 10)
		if !ok {
			return value{}, p.fail("no integer")
		}
		return value{kind: integer, int: n}, nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return value{}, p.fail("no number")
	}
	return value{kind: float, float: f}, nil
}

// escapes are the one-letter escapes.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *jsonParser) text() (string, error) {
	p.at++
	var b strings.Builder
	for p.at < len(p.s) {
		c := p.s[p.at]
		p.at++
		switch {
		case c == '"':
			return b.String(), nil
		case c < 0x20:
			return "", p.fail("control character in a string")
		case c != '\\':
			b.WriteByte(c)
			continue
		}
		if p.at == len(p.s) {
			break
		}
		c = p.s[p.at]
		p.at++
		if c == 'u' {
			if err := p.unicode(&b); err != nil {
				return "", err
			}
		} else if plain, ok := escapes[c]; ok {
			b.WriteByte(plain)
		} else {
			return "", p.fail("unknown escape")
		}
	}
	return "", p.fail("open string")
}

// unicode reads what follows \u. A lone surrogate is kept, as Python keeps it,
// in the three bytes that the guest's "surrogatepass" writes for it.
func (p *jsonParser) unicode(b *strings.Builder) error {
	r, err := p.hex4()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.s[p.at:], `\u`) {
		mark := p.at
		p.at += 2
		low, err := p.hex4()
		if err != nil {
			return err
		}
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			b.WriteRune(full)
			return nil
		}
		p.at = mark
	}
	if utf16.IsSurrogate(r) {
		b.Write([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
		return nil
	}
	b.WriteRune(r)
	return nil
}

func (p *jsonParser) hex4() (rune, error) {
	if p.at+4 > len(p.s) {
		return 0, p.fail("short \\u escape")
	}
	n, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, p.fail("bad \\u escape")
	}
	p.at += 4
	return rune(n), nil
}
