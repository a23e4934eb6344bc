package code

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// errReport is what a report that our harness did not write gets. The program
// can reach the report channel; what it forges is only its own result.
var errReport = errors.New("the report of the call is damaged")

// errTooMany is what a result gets that is larger than any right one. A value
// takes many times more memory here than in the guest, where it is limited.
var errTooMany = errors.New("returned far more values than expected")

// parseReport reads a value, made of at most so many, as harness/call.py writes it:
// m and what marshal made of it, or from harness/result.py
//
//	n            None
//	t f          True, False
//	i-1f;        an integer in hexadecimal
//	d0.5;        a float as its repr
//	s3:abc       a string, its length in bytes of UTF-8
//	[…] (…) {…}  list, tuple, dict with keys and values in turn
//	?3:set       anything else, by the name of its type
func parseReport(b []byte, most int) (value, error) {
	if len(b) > 0 && b[0] == 'm' {
		return parseMarshal(b[1:], most)
	}
	p := reportParser{s: string(b), left: most}
	v, err := p.value(0)
	if err == nil && p.at != len(p.s) {
		err = errReport
	}
	return v, err
}

type reportParser struct {
	s    string
	at   int
	left int // values that may still come
}

func (p *reportParser) value(depth int) (value, error) {
	if p.at >= len(p.s) || depth > maxDepth+10 {
		return value{}, errReport
	}
	if p.left--; p.left < 0 {
		return value{}, errTooMany
	}
	c := p.s[p.at]
	p.at++
	switch c {
	case 'n':
		return value{kind: none}, nil
	case 't', 'f':
		return value{kind: boolean, truth: c == 't'}, nil
	case 'i':
		lit, err := p.until(';')
		if err != nil {
			return value{}, err
		}
		n, ok := new(big.Int).SetString(lit, 16)
		if !ok {
			return value{}, errReport
		}
		return value{kind: integer, int: n}, nil
	case 'd':
		return p.float()
	case 's', '?':
		s, err := p.sized()
		k := text
		if c == '?' {
			k = other
		}
		return value{kind: k, text: s}, err
	case '[':
		return p.items(list, ']', depth)
	case '(':
		return p.items(tuple, ')', depth)
	case '{':
		return p.items(dict, '}', depth)
	}
	return value{}, errReport
}

func (p *reportParser) until(end byte) (string, error) {
	n := strings.IndexByte(p.s[p.at:], end)
	if n < 0 {
		return "", errReport
	}
	lit := p.s[p.at : p.at+n]
	p.at += n + 1
	return lit, nil
}

func (p *reportParser) float() (value, error) {
	lit, err := p.until(';')
	if err != nil {
		return value{}, err
	}
	switch lit {
	case "nan":
		return value{kind: float, float: math.NaN()}, nil
	case "inf", "-inf":
		return value{kind: float, float: math.Inf(1 - 2*strings.Count(lit, "-"))}, nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return value{}, errReport
	}
	return value{kind: float, float: f}, nil
}

func (p *reportParser) sized() (string, error) {
	lit, err := p.until(':')
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(lit, 10, 31)
	if err != nil || n > uint64(len(p.s)-p.at) {
		return "", errReport
	}
	s := p.s[p.at : p.at+int(n)]
	p.at += int(n)
	return s, nil
}

func (p *reportParser) items(k kind, end byte, depth int) (value, error) {
	v := value{kind: k}
	for {
		if p.at < len(p.s) && p.s[p.at] == end {
			p.at++
			if k == dict && len(v.items)%2 != 0 {
				return v, errReport
			}
			return v, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
}
