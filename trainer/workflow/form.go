package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"troupe/data"
)

// ShortName is what the short prompts are called on a command line.
const ShortName = "short"

// ShortPrompts are one- or two-line prompts in our own wording, for models too
// small to follow more, and for math tasks that end in an integer. Nothing is
// boxed: solutions are bare numbers, an aggregator repeats the number it
// chooses, an evaluator says yes or no. Prompts for programs are the usual ones.
func ShortPrompts() *Prompts {
	p := OwnPrompts()
	p.short = true
	for _, name := range PromptNames() {
		p.text[data.Math][name] = ownText("short", name)
	}
	return p
}

// Sum is a hash of the prompts' texts and of the form they ask for.
func (p *Prompts) Sum() string {
	h := sha256.New()
	fmt.Fprintln(h, p.short)
	for _, k := range []data.Kind{data.Math, data.Code} {
		for _, name := range PromptNames() {
			fmt.Fprintf(h, "%s %s %q\n", k, name, p.text[k][name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isShort says whether tasks of a kind are asked for in the short form.
func (p *Prompts) isShort(k data.Kind) bool { return p.short && k == data.Math }

var (
	anyInteger  = regexp.MustCompile(`-?[0-9]+`)
	bareInteger = regexp.MustCompile(`^\s*-?[0-9]+\.?\s*$`)
	verdictWord = regexp.MustCompile(`(?i)\b(?:(yes|correct)|no|incorrect|not\s+correct)\b`)
	bareVerdict = regexp.MustCompile(`(?i)^\W*(yes|no|correct|incorrect)\W*$`)
)

// solution says whether a reply holds a solution in the form asked for.
func (p *Prompts) solution(k data.Kind, text string) Tier {
	switch {
	case !p.isShort(k):
		return solutionTier(k, text)
	case bareInteger.MatchString(text):
		return Primary
	case anyInteger.MatchString(text):
		return Fallback
	}
	return Default
}

// choice reads which candidate, from 1, an aggregator chose. In the short form
// that is the first one with the reply's number, or, in a reply of more words,
// with the last of its numbers that a candidate gave.
func (p *Prompts) choice(k data.Kind, text string, candidates []Call) (int, Tier) {
	if !p.isShort(k) {
		return parseChoice(text, len(candidates))
	}
	tier := Fallback
	if bareInteger.MatchString(text) {
		tier = Primary
	}
	for _, said := range slices.Backward(anyInteger.FindAllString(text, -1)) {
		for i, c := range candidates {
			if lastNumber(c.Text) == plain(said) {
				return i + 1, tier
			}
		}
	}
	return 1, Default
}

// Satisfied reads an evaluator's reply; ok is false where it can't be read.
func (p *Prompts) Satisfied(k data.Kind, text string) (satisfied, ok bool) {
	satisfied, tier := p.judgement(k, text)
	return satisfied, tier != Default
}

// judgement reads an evaluator's verdict. What can't be read does not satisfy.
func (p *Prompts) judgement(k data.Kind, text string) (satisfied bool, tier Tier) {
	if !p.isShort(k) {
		return parseJudgement(text)
	}
	m := verdictWord.FindStringSubmatch(text)
	switch {
	case m == nil:
		return false, Default
	case bareVerdict.MatchString(text):
		return m[1] != "", Primary
	}
	return m[1] != "", Fallback
}

// strategies reads an orchestrator's strategies. The short form asks for a
// numbered list.
func (p *Prompts) strategies(k data.Kind, text string) ([]string, Tier) {
	found, tier := parseStrategies(text)
	if p.isShort(k) && tier == Fallback && numbered.MatchString(text) {
		tier = Primary
	}
	return found, tier
}

// listed is the n-th solution as another role reads it. In the short form that
// is its number alone: what small models write around it only misleads them.
func (p *Prompts) listed(k data.Kind, n int, text string) string {
	if p.isShort(k) {
		number := lastNumber(text)
		if number == "" {
			number = "none"
		}
		if n == 1 {
			return " " + number
		}
		return " or " + number
	}
	return SolutionHeader(n) + text
}

// listedBy is the n-th solution with the strategy it came from.
func (p *Prompts) listedBy(k data.Kind, n int, strategy, text string) string {
	if p.isShort(k) {
		return p.listed(k, n, text)
	}
	return StrategyHeader(n, strategy) + text
}

// lastNumber is the last integer in a text without leading zeros; empty where
// there is none.
func lastNumber(text string) string {
	all := anyInteger.FindAllString(text, -1)
	if len(all) == 0 {
		return ""
	}
	return plain(all[len(all)-1])
}

// plain is an integer without leading zeros.
func plain(integer string) string {
	digits, negative := strings.CutPrefix(integer, "-")
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0"
	}
	if negative {
		return "-" + digits
	}
	return digits
}
