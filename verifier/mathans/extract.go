package mathans

import "strings"

// Extract finds the answer a reply gives. Only the text after the last
// </think> counts, and a thinking part that is never closed means no answer.
// The last of these wins: a \boxed{} or \fbox{}, a line that starts with
// "Answer:", "final answer is". Where there is none of them, a "the answer is"
// in running text or a reply that is nothing but one short line is taken. There
// is no search for a last number. The second result names the rule.
func Extract(reply string) (answer, how string, ok bool) {
	s, ok := afterThinking(reply)
	if !ok {
		return "", "thinking part never closed", false
	}
	box := lastBox(s)
	m := lastMarker(s, max(box.start, 0))
	switch {
	case m.strong:
		answer, how = m.text, "answer line"
	case box.start >= 0 && !box.closed:
		return "", "box never closed", false
	case box.start >= 0:
		answer, how = joinBoxes(s, box), "box"
	case m.text != "":
		answer, how = m.text, "answer in running text"
	default:
		if answer, ok = lastLine(s); ok {
			how = "#### line"
			break
		}
		if answer, ok = tagged(s); ok {
			how = "answer tag"
			break
		}
		if answer, ok = wholeReply(s); !ok {
			return "", "no marker", false
		}
		how = "whole reply"
	}
	answer = clean(answer)
	if answer == "" {
		return "", "empty " + how, false
	}
	return answer, how, true
}

// afterThinking cuts the thinking part off a reply.
func afterThinking(s string) (string, bool) {
	if strings.IndexByte(s, '<') < 0 {
		return s, true
	}
	if i := strings.LastIndex(s, "</think>"); i >= 0 {
		s = s[i+len("</think>"):]
	}
	return s, !strings.Contains(s, "<think>")
}

// span is a box in a text: s[start:end] is the whole command, text its body.
type span struct {
	start, end int
	text       string
	closed     bool
}

// lastBox finds the last \boxed or \fbox; start is -1 where there is none.
func lastBox(s string) span {
	for i := len(s); ; {
		if i = strings.LastIndexByte(s[:i], '\\'); i < 0 {
			return span{start: -1}
		}
		for _, cmd := range [...]string{`\boxed`, `\fbox`} {
			if strings.HasPrefix(s[i:], cmd) {
				return boxAt(s, i, i+len(cmd))
			}
		}
	}
}

// boxAt reads the box whose command is s[start:after].
func boxAt(s string, start, after int) span {
	b := after
	for b < len(s) && (s[b] == ' ' || s[b] == '\n') {
		b++
	}
	if b < len(s) && s[b] == '{' {
		if e := closingBrace(s, b); e >= 0 {
			return span{start, e + 1, s[b+1 : e], true}
		}
		return span{start: start, end: len(s)}
	}
	// A box without braces: what follows up to white space or a dollar.
	e := b
	for e < len(s) && s[e] != ' ' && s[e] != '\n' && s[e] != '$' {
		e++
	}
	return span{start, e, s[b:e], e > b}
}

// closingBrace gives the index of the brace that closes the one at i, or -1.
// Escaped braces do not count; a doubled backslash does not escape.
func closingBrace(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// maxBetween bounds the text between two boxes of one list.
const maxBetween = 80

// maxBoxes bounds how many boxes are joined into one list answer.
const maxBoxes = 64

// joinBoxes gives the body of the last box, or, where boxes stand side by side
// with only "and", "or" or a comma between them, the list of their bodies.
func joinBoxes(s string, last span) string {
	bodies := []string{last.text}
	for at := last; len(bodies) < maxBoxes; {
		near := s[max(0, at.start-maxBetween):at.start]
		if strings.IndexByte(near, '}') < 0 {
			break
		}
		prev := lastBox(s[:at.start])
		if prev.start < 0 || !prev.closed || !joins(s[prev.end:at.start]) {
			break
		}
		bodies = append(bodies, prev.text)
		at = prev
	}
	if len(bodies) == 1 {
		return last.text
	}
	var b strings.Builder
	for i := len(bodies) - 1; i >= 0; i-- {
		if i < len(bodies)-1 {
			b.WriteString(", ")
		}
		b.WriteString(bodies[i])
	}
	for _, body := range bodies[1:] {
		if strings.TrimSpace(body) != strings.TrimSpace(bodies[0]) {
			return b.String()
		}
	}
	return last.text // the same answer several times is one answer
}

// connectors may stand between two boxes of one list.
var connectors = strings.NewReplacer(`\text{`, " ", `\mbox{`, " ", `\textrm{`, " ", `\quad`, " ", `\qquad`, " ",
	`\(`, " ", `\)`, " ", `\[`, " ", `\]`, " ", `\,`, " ", `\;`, " ", `\ `, " ",
	"}", " ", "$", " ", ",", " ", ";", " ", "*", " ", "&", " ", `\`, " ")

// joins reports whether two boxes with this text between them belong together.
func joins(between string) bool {
	if len(between) > maxBetween {
		return false
	}
	fields := strings.Fields(connectors.Replace(between))
	words := 0
	for i := 0; i < len(fields); i++ {
		switch w := fields[i]; {
		case w == "and" || w == "or" || w == "And" || w == "Or":
			words++
		case i+1 < len(fields) && fields[i+1] == "=" && isLetter(w[0]) && len(w) <= 4: // "y_2 ="
			i++
		default:
			return false
		}
	}
	return words <= 1
}

// wholeReply takes a reply that is nothing but one answer: a single short line,
// or a single displayed formula.
func wholeReply(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 256 || s == "" {
		return "", false
	}
	if inner, ok := soleFormula(s); ok {
		return inner, true
	}
	if strings.IndexByte(s, '\n') >= 0 || !bareValue(s) {
		return "", false
	}
	return s, true
}

// lastLine takes the number after #### on the last line, as GSM8K writes it.
func lastLine(s string) (string, bool) {
	s = strings.TrimSpace(s)
	t, ok := strings.CutPrefix(s[strings.LastIndexByte(s, '\n')+1:], "####")
	if !ok {
		return "", false
	}
	t = clean(t)
	_, ok = readLiteral(strings.TrimPrefix(t, "$"))
	return t, ok
}

// tagged takes what stands in the last <answer> tag.
func tagged(s string) (string, bool) {
	end := strings.LastIndex(s, "</answer>")
	if end < 0 {
		return "", false
	}
	start := strings.LastIndex(s[:end], "<answer>")
	if start < 0 {
		return "", false
	}
	return s[start+len("<answer>") : end], true
}

// soleFormula strips the delimiters of a text that is one formula.
func soleFormula(s string) (string, bool) {
	for _, d := range [][2]string{{"$$", "$$"}, {`\[`, `\]`}, {`\(`, `\)`}, {"$", "$"}} {
		if len(s) > len(d[0])+len(d[1]) && strings.HasPrefix(s, d[0]) && strings.HasSuffix(s, d[1]) {
			inner := s[len(d[0]) : len(s)-len(d[1])]
			return inner, !strings.Contains(inner, d[1]) && inner != ""
		}
	}
	return "", false
}
