package study

import (
	"context"
	"strconv"
	"strings"

	"troupe/data"
	"troupe/verifier/verdict"
)

// oracle judges the study's answers without a sandbox: what the tests of the
// loop need, and nothing a user could be rewarded by.
type oracle struct{}

func (oracle) Verify(_ context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	v := verdict.Verdict{Code: verdict.WA, Total: max(1, len(t.Tests))}
	open, end := boxOpen, boxClose
	if t.Kind == data.Code {
		open, end = codeOpen, codeClose
	}
	i := strings.LastIndex(answer, open)
	if i < 0 {
		v.Code = verdict.NA
		return v, nil
	}
	body := answer[i+len(open):]
	j := strings.Index(body, end)
	if j < 0 {
		v.Code = verdict.NA
		return v, nil
	}
	if body = body[:j]; t.Kind == data.Math && body != t.Gold {
		return v, nil
	}
	for n, test := range t.Tests {
		got, ok := evaluate(body, n)
		if !ok || strconv.Itoa(got) != strings.TrimSpace(test.Output) {
			return v, nil
		}
	}
	v.Code, v.Reward, v.Passed = verdict.AC, 1, v.Total
	return v, nil
}

// evaluate computes an expression of n, integers, + - * as Python does.
func evaluate(s string, n int) (int, bool) {
	p := &expression{s: s, n: n}
	v := p.sum()
	return v, !p.bad && p.s == ""
}

type expression struct {
	s   string
	n   int
	bad bool
}

func (p *expression) sum() int {
	v := p.product()
	for p.s != "" && (p.s[0] == '+' || p.s[0] == '-') {
		minus := p.s[0] == '-'
		p.s = p.s[1:]
		if w := p.product(); minus {
			v -= w
		} else {
			v += w
		}
	}
	return v
}

func (p *expression) product() int {
	v := p.atom()
	for !p.bad && strings.HasPrefix(p.s, "*") {
		p.s = p.s[1:]
		v *= p.atom()
	}
	return v
}

func (p *expression) atom() int {
	switch {
	case p.s == "":
	case p.s[0] == '-':
		p.s = p.s[1:]
		return -p.atom()
	case p.s[0] == 'n':
		p.s = p.s[1:]
		return p.n
	default:
		k := 0
		for k < len(p.s) && p.s[k] >= '0' && p.s[k] <= '9' {
			k++
		}
		v, err := strconv.Atoi(p.s[:k])
		if err == nil && (k == 1 || p.s[0] != '0') && k < 6 {
			p.s = p.s[k:]
			return v
		}
	}
	p.bad = true
	return 0
}
