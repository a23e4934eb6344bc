package mathans

import "math/big"

// compare decides between two answers that are already cut out.
func compare(gold, answer string, opt Options) Result {
	g, gok := readLiteral(gold)
	a, aok := readLiteral(answer)
	switch {
	case gok && aok && g == a:
		return Result{Outcome: Equal, Rule: "number"}
	case gok && aok:
		return Result{Outcome: Unequal, Rule: "number"}
	case gok && g.integer() && opt.StrictInteger:
		return Result{Outcome: Unequal, Rule: "strict integer"}
	}
	if x, ok := readRational(gold); ok {
		if y, ok := readRational(answer); ok {
			if x.Cmp(y) == 0 {
				return Result{Outcome: Equal, Rule: "rational"}
			}
			return Result{Outcome: Unequal, Rule: "rational"}
		}
	}
	if fold(gold) == fold(answer) {
		return Result{Outcome: Equal, Rule: "text"}
	}
	return Result{Outcome: Unequal, Rule: "text"}
}

// readRational reads a literal or a fraction of two.
func readRational(s string) (*big.Rat, bool) {
	if l, ok := readLiteral(s); ok {
		return l.rat(), true
	}
	return nil, false
}

// bareValue reports whether a short text is a value and not prose.
func bareValue(s string) bool {
	_, ok := readRational(clean(s))
	return ok
}
