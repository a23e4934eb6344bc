package mathans

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// DAPOVersion chooses which of the DAPO scorer's behaviours to reproduce.
type DAPOVersion int

// The behaviours of the reference scorer. January 2026 sees only "Answer:"
// lines; August 2026 falls back to the last box in the last 100 characters;
// StrictBox, a switch of both, sees only that box and compares it as it is.
const (
	DAPOJanuary DAPOVersion = iota
	DAPOAugust
	DAPOStrictBox
)

// DAPOScore is what the DAPO scorer returns.
type DAPOScore struct {
	Score   float64 // 1 or -1
	Correct bool
	Pred    string // the normalised answer, "[INVALID]" without one
	Found   bool   // an answer was found
}

// invalid stands for a missing answer. It is normalised and compared like any
// other, as in the reference.
const invalid = "[INVALID]"

// DAPO scores a reply exactly as the DAPO reward does, quirks included: it
// exists for reproduction. Judge is the better judge.
func DAPO(gold, reply string, version DAPOVersion) DAPOScore {
	tail := lastChars(reply, 300)
	if version == DAPOStrictBox {
		body, ok := dapoBox(tail)
		return dapoScore(ok && body == gold, body, ok)
	}
	answer, found := dapoAnswer(tail)
	if !found {
		answer = invalid
	}
	pred := dapoNormalize(answer)
	correct := pred == dapoNormalize(gold)
	if version == DAPOAugust && pred == invalid {
		if body, ok := dapoBox(tail); ok {
			pred, found = dapoNormalize(body), true
			correct = pred == dapoNormalize(gold)
		}
	}
	return dapoScore(correct, pred, found)
}

func dapoScore(correct bool, pred string, found bool) DAPOScore {
	s := DAPOScore{Score: -1, Correct: correct, Pred: pred, Found: found}
	if correct {
		s.Score = 1
	}
	return s
}

// lastChars gives the last n characters (code points) of s.
func lastChars(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// dapoAnswer gives what the last match of "Answer", a colon and a line gives.
// Matches are taken from the left and do not overlap; white space after the
// colon, line ends included, is skipped as far as a character remains.
func dapoAnswer(s string) (answer string, found bool) {
	for i := 0; i < len(s); {
		n := dapoWord(s[i:])
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		j := i + n + spaces(s[i+n:])
		if j >= len(s) || s[j] != ':' {
			i++
			continue
		}
		start := dapoLineStart(s, j+1)
		if start < 0 {
			i++
			continue
		}
		end := len(s)
		if e := strings.IndexByte(s[start:], '\n'); e >= 0 {
			end = start + e
		}
		answer, found = s[start:end], true
		i = end
	}
	return answer, found
}

// dapoWord gives the length of "answer" in any case at the start of s, or 0.
// The long s folds to s, as in the reference's regular expressions.
func dapoWord(s string) int {
	n := 0
	for _, want := range "answer" {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || unicode.ToLower(r) != want && (want != 's' || r != 'ſ') {
			return 0
		}
		n += size
	}
	return n
}

// dapoLineStart backtracks like the reference's pattern: the most white space
// after which a character other than a line end stands.
func dapoLineStart(s string, from int) int {
	best := -1
	for i := from; ; {
		if i < len(s) && s[i] != '\n' {
			best = i
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if size == 0 || !pythonSpace(r) {
			return best
		}
		i += size
	}
}

func spaces(s string) int {
	for i, r := range s {
		if !pythonSpace(r) {
			return i
		}
	}
	return len(s)
}

// pythonSpace is str.isspace of Python for one character.
func pythonSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

// dapoBox gives the body of the last \boxed{ in the last 100 characters.
func dapoBox(s string) (string, bool) {
	s = lastChars(s, 100)
	const open = `\boxed{`
	i := strings.LastIndex(s, open)
	if i < 0 {
		return "", false
	}
	depth := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[i+len(open) : j], true
			}
		}
	}
	return "", false
}

// dapoSubstitutions and dapoRemoved are applied one after the other: the order
// is part of the behaviour.
var dapoSubstitutions = [][2]string{
	{"an ", ""}, {"a ", ""}, {".$", "$"}, {`\$`, ""}, {`\ `, ""}, {" ", ""},
	{"mbox", "text"}, {`,\text{and}`, ","}, {`\text{and}`, ","}, {`\text{m}`, `\text{}`},
}

var dapoRemoved = []string{
	"square", "ways", "integers", "dollars", "mph", "inches", "hours", "km", "units", `\ldots`, "sue", "points",
	"feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
	"childrentickets", "multiples", `\text{s}`, `\text{.}`, "\\text{\ns}", `\text{}^2`, `\text{}^3`, "\\text{\n}",
	`\text{}`, `\mathrm{th}`, `^\circ`, `^{\circ}`, `\;`, `,\!`, "{,}", `"`, `\dots`,
}

type dapoPattern struct {
	re *regexp.Regexp
	to string
}

// The patterns never match the empty string, so leftmost-first matching in
// linear time finds what a backtracking matcher does. They are compiled when
// first needed: the guest never does.
var dapoPatterns = sync.OnceValue(func() []dapoPattern {
	return []dapoPattern{
		{regexp.MustCompile(`(.*?)(\$)(.*?)(\$)(.*)`), `$$${3}$$`},
		{regexp.MustCompile(`(\\text\{)(.*?)(\})`), `${2}`},
		{regexp.MustCompile(`(\\textbf\{)(.*?)(\})`), `${2}`},
		{regexp.MustCompile(`(\\overline\{)(.*?)(\})`), `${2}`},
		{regexp.MustCompile(`(\\boxed\{)(.*)(\})`), `${2}`},
		{regexp.MustCompile(`(frac)([^{])(.)`), `frac{${2}}{${3}}`},
		{regexp.MustCompile(`(sqrt)([^{])`), `sqrt{${2}}`},
	}
})

// dapoNormalize is the scorer's normalisation of a final answer.
func dapoNormalize(s string) string {
	s = s[strings.LastIndexByte(s, '=')+1:]
	if allASCIIDigits(s) {
		return s
	}
	for _, sub := range dapoSubstitutions {
		s = strings.ReplaceAll(s, sub[0], sub[1])
	}
	for _, word := range dapoRemoved {
		s = strings.ReplaceAll(s, word, "")
	}
	if strings.ContainsAny(s, `$\`) || strings.Contains(s, "frac") || strings.Contains(s, "sqrt") {
		for _, p := range dapoPatterns() {
			s = p.re.ReplaceAllString(s, p.to)
		}
	}
	s = strings.ReplaceAll(s, "$", "")
	if bare := strings.ReplaceAll(s, ",", ""); pythonDigits(bare) {
		s = bare
	}
	return strings.TrimFunc(s, pythonSpace)
}

func allASCIIDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
