// Package mathans decides whether a model's reply gives the same answer as a
// gold answer. It finds the answer in the reply, reads LaTeX or plain text into
// a typed value, and compares values exactly: rationals with big.Rat, rational
// functions by evaluation modulo large primes, radicals and transcendental
// constants by ball arithmetic up to about 1,000 bits, everything with free
// variables at random points. No text is ever evaluated as code, every loop
// spends from a work budget, and so every input is decided in bounded time and
// the same way on every machine.
//
// The package is pure Go and imports nothing of this module: it is also built
// for wasip1 and run in the sandbox.
package mathans

import "strings"

// Outcome is what Judge found.
type Outcome string

// The outcomes. Undecided means that the work budget ran out or the values are
// outside what the engine knows; it is paid like Unequal but counted apart.
const (
	Equal     Outcome = "equal"
	Unequal   Outcome = "unequal"
	Undecided Outcome = "undecided"
	NoAnswer  Outcome = "no_answer"
	BadGold   Outcome = "bad_gold"
)

// Options choose how strict the comparison is. The zero value is the default.
type Options struct {
	// StrictInteger lets an integer gold accept only a literal number, so that
	// echoing the question's expression does not pay.
	StrictInteger bool
	// Tolerance, when positive, is the relative error up to which two real
	// numbers count as equal. It is off unless asked for.
	Tolerance float64
}

// Result is a judgement: the outcome, the answer as it was found in the reply,
// and the rule that decided.
type Result struct {
	Outcome   Outcome
	Extracted string
	Rule      string
}

const badGoldRule = "gold answer is empty or unreadable"

// maxGold bounds the gold answer; a longer one is a data error.
const maxGold = 1 << 14

// Judge compares the answer given in a model's reply with the gold answer.
func Judge(gold, reply string, opt Options) Result {
	g, ok := goldAnswer(gold)
	if !ok {
		return Result{Outcome: BadGold, Rule: badGoldRule}
	}
	answer, how, ok := Extract(reply)
	if !ok {
		return Result{Outcome: NoAnswer, Rule: how}
	}
	res := compare(g, answer, opt)
	res.Extracted = answer
	return res
}

// goldAnswer takes the answer out of a gold field, which may be a bare answer,
// a whole solution with a box, or a GSM8K solution with its #### line.
func goldAnswer(gold string) (string, bool) {
	if len(gold) > maxGold {
		return "", false
	}
	g := gold
	if strings.Contains(g, `\boxed`) || strings.Contains(g, `\fbox`) {
		boxed, _, ok := Extract(g)
		if !ok {
			return "", false
		}
		g = boxed
	} else if i := strings.LastIndex(g, "####"); i >= 0 {
		g = g[i+4:]
	} else if len(g) > 300 {
		if found, _, ok := Extract(g); ok { // a solution that ends in "the final answer is"
			g = found
		}
	}
	g = clean(g)
	return g, hasContent(g)
}

// hasContent reports whether there is anything to compare with: a letter, a
// digit, or a symbol that stands for a value.
func hasContent(s string) bool {
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r > 0x7f:
			return true
		}
	}
	return strings.Contains(s, `\{`)
}
