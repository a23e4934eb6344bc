package mathans

import (
	"errors"
	"strings"
	"unicode/utf8"
)

var (
	errTooLong = errors.New("answer too long to read")
	errSyntax  = errors.New("answer is not a formula")
)

// lexer splits an answer into tokens.
type lexer struct {
	s     string
	i     int
	out   []token
	space bool
	depth int      // open brackets: inside, a comma never groups thousands
	envs  []string // open environments: inside, a doubled backslash ends a row
	nest  int      // text commands inside text commands
}

// lex reads s into tokens.
func lex(s string) ([]token, error) {
	if len(s) > maxText {
		return nil, errTooLong
	}
	l := &lexer{s: repair(s), out: make([]token, 0, 16)}
	if err := l.run(); err != nil {
		return nil, err
	}
	return append(l.out, token{kind: tEnd}), nil
}

// repair restores commands whose backslash and first letter were read as a
// control character, as happens to "\frac" in a carelessly escaped file.
func repair(s string) string {
	if strings.Contains(s, ".m") {
		s = noon.Replace(s)
	}
	if !strings.ContainsAny(s, "\f\b\t\r") {
		return s
	}
	return repairs.Replace(s)
}

// noon spells the halves of the day without full stops.
var noon = strings.NewReplacer(" p.m.", " pm", "{p.m.", "{pm", " a.m.", " am", "{a.m.", "{am", " p.m", " pm", " a.m", " am",
	"0p.m.", "0 pm", "0a.m.", "0 am")

var repairs = strings.NewReplacer("\frac", `\frac`, "\forall", `\forall`, "\boxed", `\boxed`, "\binom", `\binom`,
	"\begin", `\begin`, "\bar", `\bar`, "\beta", `\beta`, "\text", `\text`, "\times", `\times`, "\tfrac", `\tfrac`,
	"\theta", `\theta`, "\tan", `\tan`, "\right", `\right`, "\rho", `\rho`)

func (l *lexer) run() error {
	for l.i < len(l.s) {
		if len(l.out) > maxTokens {
			return errTooLong
		}
		c := l.s[l.i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '~' || c == '$':
			l.i++
			l.space = true
		case isDigit(c) || c == '.' && l.i+1 < len(l.s) && isDigit(l.s[l.i+1]):
			if err := l.number(); err != nil {
				return err
			}
		case isLetter(c):
			l.word()
		case c == '\\':
			if err := l.command(); err != nil {
				return err
			}
		case c < 0x80:
			l.ascii(c)
		default:
			if !l.unicode() {
				return errSyntax
			}
		}
	}
	return nil
}

func (l *lexer) emit(k tokenKind, text string) {
	l.out = append(l.out, token{kind: k, text: text, space: l.space})
	l.space = false
}

func (l *lexer) sym(text string) {
	switch text {
	case "(", "[", `\{`:
		l.depth++
	case ")", "]", `\}`:
		l.depth--
	case "and", "or":
		l.emit(tWord, text)
		return
	case "''":
		l.emit(tSym, "'")
		text = "'"
	}
	l.emit(tSym, text)
}

// ascii reads an operator of one to three ASCII characters.
func (l *lexer) ascii(c byte) {
	rest := l.s[l.i:]
	for _, m := range [...][2]string{{"<=", "≤"}, {">=", "≥"}, {"!=", "≠"}, {"**", "^"}, {"...", "…"}, {"==", "="}, {"->", "→"}, {"=>", "⇒"}} {
		if strings.HasPrefix(rest, m[0]) {
			l.sym(m[1])
			l.i += len(m[0])
			return
		}
	}
	l.i++
	if n := len(l.envs); c == '&' && n > 0 {
		switch l.envs[n-1] {
		case "cases":
			l.sym(",")
			return
		case "aligned", "align", "split", "gathered":
			l.space = true
			return
		}
	}
	l.sym(string(rune(c)))
}

// superscripts and fractions of one character.
var superscripts = map[rune]string{'⁰': "0", '¹': "1", '²': "2", '³': "3", '⁴': "4", '⁵': "5", '⁶': "6", '⁷': "7", '⁸': "8", '⁹': "9", '⁻': "-", 'ⁿ': "n"}
var subscripts = map[rune]string{'₀': "0", '₁': "1", '₂': "2", '₃': "3", '₄': "4", '₅': "5", '₆': "6", '₇': "7", '₈': "8", '₉': "9", 'ₙ': "n"}
var vulgar = map[rune]string{'½': "1/2", '⅓': "1/3", '⅔': "2/3", '¼': "1/4", '¾': "3/4", '⅕': "1/5", '⅖': "2/5", '⅗': "3/5", '⅘': "4/5", '⅙': "1/6", '⅚': "5/6", '⅛': "1/8", '⅜': "3/8", '⅝': "5/8", '⅞': "7/8"}

func (l *lexer) unicode() bool {
	r, n := utf8.DecodeRuneInString(l.s[l.i:])
	switch {
	case r == '\u00a0' || r == '\u2009' || r == '\u202f' || r == '\u200b' || r == '\u2061' || r == '\u2062' || r == '\u3000' || r == '\ufeff':
		l.space = true
	case superscripts[r] != "":
		l.script("^", superscripts)
		return true
	case subscripts[r] != "":
		l.script("_", subscripts)
		return true
	case vulgar[r] != "":
		a, b, _ := strings.Cut(vulgar[r], "/")
		l.emit(tCmd, "frac")
		l.digits(a)
		l.digits(b)
	case runes[r] != "":
		l.emit(tCmd, runes[r])
	case symbols[string(r)] != "":
		l.sym(symbols[string(r)])
	default:
		return false
	}
	l.i += n
	return true
}

// script reads a run of raised or lowered characters as "^{…}" or "_{…}".
func (l *lexer) script(sign string, table map[rune]string) {
	l.sym(sign)
	l.sym("{")
	for l.i < len(l.s) {
		r, n := utf8.DecodeRuneInString(l.s[l.i:])
		t := table[r]
		switch {
		case t == "":
			l.sym("}")
			return
		case t == "-":
			l.sym("-")
		case t == "n":
			l.emit(tWord, "n")
		default:
			e := l.i
			var b strings.Builder
			for e < len(l.s) {
				r, n := utf8.DecodeRuneInString(l.s[e:])
				if d := table[r]; d == "" || !isDigit(d[0]) {
					break
				}
				b.WriteString(table[r])
				e += n
			}
			l.digits(b.String())
			n = e - l.i
		}
		l.i += n
	}
	l.sym("}")
}

func (l *lexer) word() {
	start := l.i
	for l.i < len(l.s) && isLetter(l.s[l.i]) {
		l.i++
	}
	l.emit(tWord, l.s[start:l.i])
}

// command reads what starts with a backslash.
func (l *lexer) command() error {
	if l.i+1 >= len(l.s) {
		l.i++
		return nil
	}
	c := l.s[l.i+1]
	if !isLetter(c) {
		l.escaped(c)
		return nil
	}
	start := l.i + 1
	l.i = start
	for l.i < len(l.s) && isLetter(l.s[l.i]) {
		l.i++
	}
	name := l.s[start:l.i]
	if i := strings.LastIndex(name, "quad"); i >= 0 && i < 2 { // "\quadx" is a space and x
		l.i = start + i + len("quad")
		name = name[:i+len("quad")]
	}
	switch {
	case textual[name]:
		return l.text(name)
	case dropped[name]:
		l.group()
		l.space = true
	case skipped[name]:
		if (name == "left" || name == "right") && l.i < len(l.s) && l.s[l.i] == '.' {
			l.i++
		}
		l.space = true
	case name == "begin" || name == "end":
		return l.environment(name)
	case name == "mathbb" || name == "Bbb":
		l.emit(tCmd, strings.Repeat(strings.Trim(l.group(), "{} "), 2))
	case name == "dfrac" || name == "tfrac" || name == "cfrac":
		l.emit(tCmd, "frac")
	case name == "dbinom" || name == "tbinom":
		l.emit(tCmd, "binom")
	case symbols[name] != "":
		l.sym(symbols[name])
	default:
		l.emit(tCmd, name)
	}
	return nil
}

// escaped reads a backslash and a character that is no letter.
func (l *lexer) escaped(c byte) {
	l.i += 2
	switch c {
	case '{':
		l.sym(`\{`)
	case '}':
		l.sym(`\}`)
	case '%':
		l.sym("%")
	case '$':
		l.sym("cur")
	case '|':
		l.sym("|")
	case '\\':
		if len(l.envs) > 0 {
			l.emit(tSym, "newline")
		} else if l.i < len(l.s) && isLetter(l.s[l.i]) {
			l.i-- // a command whose backslash was escaped twice
		} else {
			l.space = true
		}
	case '_', '&', '#':
		l.sym(string(rune(c)))
	default: // spacing: \, \; \! \: and \( \) \[ \]
		l.space = true
	}
}

// group reads a braced argument and gives its body.
func (l *lexer) group() string {
	for l.i < len(l.s) && l.s[l.i] == ' ' {
		l.i++
	}
	if l.i >= len(l.s) || l.s[l.i] != '{' {
		if l.i < len(l.s) {
			l.i++
			return l.s[l.i-1 : l.i]
		}
		return ""
	}
	e := closingBrace(l.s, l.i)
	if e < 0 {
		e = len(l.s)
		body := l.s[l.i+1:]
		l.i = e
		return body
	}
	body := l.s[l.i+1 : e]
	l.i = e + 1
	return body
}

// environment reads \begin{name} or \end{name}; a column specification is
// dropped.
func (l *lexer) environment(name string) error {
	env := strings.TrimSuffix(strings.TrimSpace(l.group()), "*")
	if name == "end" {
		if n := len(l.envs); n > 0 {
			l.envs = l.envs[:n-1]
		}
		l.emit(tClose, env)
		return nil
	}
	l.envs = append(l.envs, env)
	l.emit(tBegin, env)
	if env == "array" && l.i < len(l.s) && l.s[l.i] == '{' {
		l.group()
	}
	if len(l.envs) > maxDepth {
		return errTooLong
	}
	return nil
}
