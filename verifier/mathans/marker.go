package mathans

import "strings"

// marker is an "Answer:" or "answer is" found in a reply, and what it gives.
type marker struct {
	text   string
	strong bool // a line of its own, or "final answer is"
}

// lastMarker finds the last strong marker that starts at or after from, and
// otherwise the last weak one. It scans from the end, so that a long reply
// costs only the distance to its answer.
func lastMarker(s string, from int) marker {
	var weak marker
	tries := 0
	for i := len(s) - len("answer"); i >= from; i-- {
		if s[i]|0x20 != 'a' || s[i+1]|0x20 != 'n' || !strings.EqualFold(s[i:i+6], "answer") {
			continue
		}
		if tries++; tries > maxMarkers {
			break
		}
		rest, kind := afterMarker(s[i+6:])
		if kind == noMarker {
			continue
		}
		m := marker{text: rest, strong: kind == colon && startsLine(s, i) || kind == is && finalBefore(s, i)}
		if kind == heading && !startsLine(s, i) || kind != colon && !m.strong && !givesValue(rest) || m.text == "" {
			continue
		}
		if m.strong {
			return m
		}
		if weak.text == "" {
			weak = m
		}
	}
	return weak
}

// maxMarkers bounds how many times the word is looked at.
const maxMarkers = 32

type markerKind int

const (
	noMarker markerKind = iota
	colon               // "Answer:"
	is                  // "answer is"
	heading             // a line of its own
)

// afterMarker looks at what follows the word "answer" and gives the answer.
func afterMarker(t string) (string, markerKind) {
	t = strings.TrimLeft(t, " \t*_}")
	if rest, ok := strings.CutPrefix(t, ":"); ok {
		return statement(rest, false), colon
	}
	if rest, ok := strings.CutPrefix(t, "："); ok {
		return statement(rest, false), colon
	}
	if len(t) > 2 && strings.EqualFold(t[:2], "is") && !isLetter(t[2]) {
		rest := strings.TrimLeft(t[2:], " \t*_")
		rest = strings.TrimPrefix(rest, ":")
		return statement(rest, true), is
	}
	if e := strings.IndexByte(t, '\n'); e >= 0 && strings.Trim(t[:e], " *_#\r") == "" {
		return statement(t[e:], false), heading
	}
	return "", noMarker
}

// statement cuts the answer out of what follows a marker: a displayed formula,
// or the line, or, in a sentence, what comes before its full stop.
func statement(t string, sentence bool) string {
	t = strings.TrimLeft(t, " \t\r\n*_")
	for _, d := range [][2]string{{"$$", "$$"}, {`\[`, `\]`}} {
		if inner, ok := strings.CutPrefix(t, d[0]); ok {
			if e := strings.Index(inner, d[1]); e >= 0 {
				return inner[:e]
			}
		}
	}
	if e := strings.IndexByte(t, '\n'); e >= 0 {
		t = t[:e]
	}
	if sentence {
		if e := strings.Index(t, ". "); e >= 0 {
			t = t[:e]
		}
	}
	return strings.TrimSpace(t)
}

// startsLine reports whether the marker at i begins its line, apart from
// markdown, list signs and the words that usually stand before it.
func startsLine(s string, i int) bool {
	line := s[max(0, i-64):i]
	if e := strings.LastIndexByte(line, '\n'); e >= 0 {
		line = line[e+1:]
	} else if i > 64 {
		return false
	}
	line = strings.Trim(line, " \t\r*#>-_`")
	for _, cmd := range []string{`\textbf{`, `\text{`, `\boldsymbol{`, `$`} {
		line = strings.TrimPrefix(line, cmd)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "", "final", "the final", "my final", "the", "my", "short", "correct", "the correct", "so the", "thus the":
		return true
	}
	return false
}

// finalBefore reports whether "final" stands before the word at i.
func finalBefore(s string, i int) bool {
	t := strings.TrimRight(s[max(0, i-16):i], " \t*_")
	return len(t) >= 5 && strings.EqualFold(t[len(t)-5:], "final")
}

// givesValue reports whether a sentence after "the answer is" names a value:
// "the answer is correct" does not.
func givesValue(t string) bool {
	if t == "" {
		return false
	}
	return strings.ContainsAny(t, `0123456789\$√π`) || len(t) <= 3 || bareValue(t)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
