package code

import (
	"strings"
)

// Extraction says how a program is found in a reply.
type Extraction struct {
	// Unclosed accepts a last block whose fence is never closed. Such a reply
	// was cut off, so it counts as no answer by default.
	Unclosed bool
	// SkipThink ignores what stands in <think> … </think>. By default a block
	// there counts if it is the last one, as in rLLM.
	SkipThink bool
}

// Extract returns the program in a reply: the text of its last fenced block.
// A fence is three or more backticks (or tildes) at the start of a line,
// indented by at most three blanks; any word may follow the opening one, as in
// ```python, ```py3 or ```c++. The closing fence is at least as long and stands
// alone, so backticks inside a string of the program do not end it.
func (x Extraction) Extract(reply string) (program string, found bool) {
	reply = strings.ReplaceAll(reply, "\r\n", "\n")
	if x.SkipThink {
		reply = withoutThink(reply)
	}
	var open fence
	var block []string
	for line := range strings.SplitSeq(reply, "\n") {
		f, isFence := parseFence(line)
		switch {
		case open.width == 0 && isFence:
			open, block = f, block[:0]
		case open.width == 0:
		case isFence && f.mark == open.mark && f.width >= open.width && f.info == "":
			program, found = unindent(block, open.indent), true
			open = fence{}
		default:
			block = append(block, line)
		}
	}
	if open.width > 0 && x.Unclosed {
		program, found = unindent(block, open.indent), true
	}
	return program, found && strings.TrimSpace(program) != ""
}

// fence is a line of three or more backticks or tildes.
type fence struct {
	mark          byte
	width, indent int
	info          string
}

func parseFence(line string) (fence, bool) {
	rest := strings.TrimLeft(line, " ")
	f := fence{indent: len(line) - len(rest)}
	if f.indent > 3 || len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return fence{}, false
	}
	f.mark = rest[0]
	f.info = strings.TrimLeft(rest, rest[:1])
	f.width = len(rest) - len(f.info)
	f.info = strings.TrimSpace(f.info)
	// An info string with backticks is inline code, not a fence.
	if f.width < 3 || f.mark == '`' && strings.Contains(f.info, "`") {
		return fence{}, false
	}
	return f, true
}

// unindent joins the lines of a block whose fence was indented.
func unindent(lines []string, indent int) string {
	var b strings.Builder
	for _, l := range lines {
		for i := 0; i < indent && strings.HasPrefix(l, " "); i++ {
			l = l[1:]
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

// withoutThink drops everything up to the last </think>. A reply that opens one
// and never closes it is all thought.
func withoutThink(reply string) string {
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		return reply[i+len("</think>"):]
	}
	if i := strings.Index(reply, "<think>"); i >= 0 {
		return reply[:i]
	}
	return reply
}
