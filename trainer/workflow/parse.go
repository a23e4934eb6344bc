package workflow

import (
	"regexp"
	"strconv"
	"strings"

	"troupe/data"
)

var (
	boxedNumber = regexp.MustCompile(`\\boxed\{(\d+)\}`)
	loneDigit   = regexp.MustCompile(`\b([1-9])\b`)
	judgement   = regexp.MustCompile(`(?i)\\boxed\{(correct|incorrect)\}`)
	strategy    = regexp.MustCompile(`(?i)STRATEGY\s*\d+\s*:`)
	numbered    = regexp.MustCompile(`(?m)^\s*\d+[.)]\s+(.+)$`)
	codeFence   = regexp.MustCompile("(?s)```(?:\\w+)?\\s*\n.*?```")
)

// parseChoice reads the number of a candidate, 1 to n: the first boxed number
// if it is one; the first digit that stands alone if it is one; else 1.
func parseChoice(text string, n int) (int, Tier) {
	if m := boxedNumber.FindStringSubmatch(text); m != nil {
		if k, err := strconv.Atoi(m[1]); err == nil && 1 <= k && k <= n {
			return k, Primary
		}
	}
	if m := loneDigit.FindStringSubmatch(text); m != nil {
		if k := int(m[1][0] - '0'); k <= n {
			return k, Fallback
		}
	}
	return 1, Default
}

// parseJudgement reads an evaluator's verdict. What can't be read does not
// satisfy.
func parseJudgement(text string) (satisfied bool, tier Tier) {
	m := judgement.FindStringSubmatch(text)
	if m == nil {
		return false, Default
	}
	return strings.EqualFold(m[1], "correct"), Primary
}

// parseStrategies reads an orchestrator's strategies: after "STRATEGY k:", else
// a numbered list, else lines of more than ten characters, else the whole
// reply as one.
func parseStrategies(text string) ([]string, Tier) {
	var found []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			found = append(found, s)
		}
	}
	marks := strategy.FindAllStringIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		add(text[m[1]:end])
	}
	if len(found) > 0 {
		return found, Primary
	}
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		add(m[1])
	}
	if len(found) > 0 {
		return found, Fallback
	}
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimSpace(line))) > 10 {
			add(line)
		}
	}
	if len(found) > 0 {
		return found, Fallback
	}
	return []string{strings.TrimSpace(text)}, Default
}

// HoldsSolution reports whether a text holds a solution in the usual form: a
// program in a block, or a boxed value.
func HoldsSolution(kind data.Kind, text string) bool { return solutionTier(kind, text) == Primary }

// solutionTier says whether a reply holds a solution in the form asked for.
func solutionTier(kind data.Kind, text string) Tier {
	if kind == data.Code {
		if codeFence.MatchString(text) {
			return Primary
		}
		return Default
	}
	if i := strings.LastIndex(text, `\boxed{`); i >= 0 && strings.Contains(text[i:], "}") {
		return Primary
	}
	return Default
}
