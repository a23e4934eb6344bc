package mathans

import (
	"testing"
)

// FuzzRead checks that the reader ends on any input and that what it reads is
// equal to itself or undecided.
func FuzzRead(f *testing.F) {
	for _, c := range tableCases(f) {
		f.Add(c.answer)
	}
	for _, s := range pathologicalFormulas {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parse(s)
		if err != nil {
			return
		}
		c := &comparer{bud: &budget{left: fullBudget}}
		n = finish(n)
		c.equal(n, n)
	})
}

// FuzzJudge checks the whole way from reply to outcome: it ends, spends no more
// than its budget, and gives the same result twice.
func FuzzJudge(f *testing.F) {
	for _, c := range tableCases(f) {
		f.Add(c.gold, `so \boxed{`+c.answer+"}")
		f.Add(c.gold, "Answer: "+c.answer)
	}
	f.Fuzz(func(t *testing.T, gold, reply string) {
		a := Judge(gold, reply, Options{})
		if b := Judge(gold, reply, Options{}); a != b {
			t.Errorf("Judge(%q, %q) = %v, then %v", gold, reply, a, b)
		}
		if a.Outcome == Equal && a.Extracted == "" {
			t.Errorf("Judge(%q, %q): equal without an answer", gold, reply)
		}
	})
}

// FuzzDAPO checks that the DAPO scorer ends and scores 1 or -1.
func FuzzDAPO(f *testing.F) {
	f.Add("42", "Answer: $42$")
	f.Add(`\frac12`, `Answer: \boxed{\frac{1}{2}}`)
	f.Fuzz(func(t *testing.T, gold, reply string) {
		for _, v := range []DAPOVersion{DAPOJanuary, DAPOAugust, DAPOStrictBox} {
			if s := DAPO(gold, reply, v); s.Score != 1 && s.Score != -1 || s.Correct != (s.Score == 1) {
				t.Errorf("DAPO(%q, %q) = %v", gold, reply, s)
			}
		}
	})
}

// FuzzNumbers checks the fast path for numbers and fractions against the engine.
func FuzzNumbers(f *testing.F) {
	f.Add("42", "042")
	f.Add("1,000", "1000")
	f.Add("-0.50", "-.5")
	f.Add(`\frac{-1}{2}`, "-1/2")
	f.Add("6/4", `\dfrac{3}{2}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := readFraction(a)
		if !ok {
			return
		}
		y, ok := readFraction(b)
		if !ok || len(a) > 100 || len(b) > 100 {
			return
		}
		if engine := judge(a, b, false, Options{}); (x.Cmp(y) == 0) != (engine.Outcome == Equal) {
			t.Errorf("%q and %q: %v and %v, the engine %v", a, b, x, y, engine)
		}
	})
}
