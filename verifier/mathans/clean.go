package mathans

import "strings"

// clean strips what surrounds an answer without being part of it: white space,
// markdown, quotes, dollars, a full stop at the end.
func clean(s string) string {
	s = repair(s)
	for range 16 {
		before := len(s)
		s = strings.TrimSpace(s)
		s = trimAround(s)
		if len(s) == before {
			break
		}
	}
	return s
}

func trimAround(s string) string {
	for _, d := range [][2]string{{"**", "**"}, {"__", "__"}, {"`", "`"}, {`"`, `"`}, {"“", "”"}} {
		if len(s) > len(d[0])+len(d[1]) && strings.HasPrefix(s, d[0]) && strings.HasSuffix(s, d[1]) {
			s = strings.TrimSpace(s[len(d[0]) : len(s)-len(d[1])])
		}
	}
	if inner, ok := soleFormula(s); ok {
		s = strings.TrimSpace(inner)
	}
	for _, d := range []string{"**", `\\`, "。", "$$"} {
		if strings.Count(s, d)%2 == 1 {
			s = strings.TrimSuffix(s, d)
		}
	}
	if n := len(s); n > 1 && s[n-1] == '.' && s[n-2] != '.' {
		s = s[:n-1]
	}
	return strings.TrimRight(s, " \t\r\n")
}

// fold is the form in which answers are compared as words: as spelled, in lower
// case.
func fold(s string) string { return strings.ToLower(spelled(s)) }

// spelled strips what does not change a text: white space other than between
// digits, spacing commands, wrappers; and gives every sign one spelling.
func spelled(s string) string {
	if !plain(s) {
		s = spelling.Replace(s)
	}
	if strings.IndexByte(s, ' ') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			after := strings.TrimLeft(s[i:], " ")
			if len(b) == 0 || after == "" || !isDigit(b[len(b)-1]) || !isDigit(after[0]) {
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// plain reports whether a text has no signs that spelling would change.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != ' ' && !isLetter(c) && !isDigit(c) && c != '-' && c != '.' && c != '/' {
			return false
		}
	}
	return true
}

var spelling = strings.NewReplacer(
	`\left`, "", `\right`, "", `\!`, "", `\,`, "", `\;`, "", `\:`, "", `\ `, "", `~`, "", `\quad`, "", `\qquad`, "",
	`\dfrac`, `\frac`, `\tfrac`, `\frac`, `\cfrac`, `\frac`,
	`\text{`, "{", `\mbox{`, "{", `\mathrm{`, "{", `\textbf{`, "{", `\mathbf{`, "{", `\textnormal{`, "{", `\textrm{`, "{",
	`^\circ`, "°", `^{\circ}`, "°", `\%`, "%", `\$`, "", "$", "", "−", "-", "–", "-", `{,}`, "",
	`\leq`, `\le`, `\geq`, `\ge`, `\neq`, `\ne`, `\cdot`, `*`, `\times`, `*`, "·", "*", "×", "*",
	"\t", " ", "\n", " ", "{", "", "}", "", "'", "", `"`, "", "“", "", "”", "",
)
