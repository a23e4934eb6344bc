package tokenizer

import "unicode/utf8"

// A scanner gives the length in bytes of the first word of a non-empty text.
// Every split expression we know has one, written by hand: Go's regexp has no
// lookahead, and a backtracking engine is not linear.
type scanner func(s string) int

// splitter is one stage of the file's pre_tokenizer.
type splitter struct {
	scan        scanner // nil: the text stays whole
	prefixSpace bool    // a blank is put before a text that does not begin with one
}

// peek decodes the code point at the beginning of s; ok is false at the end.
func peek(s string) (c class, r rune, n int, ok bool) {
	if s == "" {
		return 0, 0, 0, false
	}
	if b := s[0]; b < utf8.RuneSelf {
		return asciiClass[b], rune(b), 1, true
	}
	r, n = utf8.DecodeRuneInString(s)
	return classOf(r), r, n, true
}

// run is the length of the longest beginning of s with code points of class c,
// at most limit of them (0: no limit).
func run(s string, c class, limit int) int {
	i := 0
	for count := 0; limit == 0 || count < limit; count++ {
		k, _, n, ok := peek(s[i:])
		if !ok || k != c {
			break
		}
		i += n
	}
	return i
}

func isNewline(r rune) bool { return r == '\r' || r == '\n' }

// wordQwen is the first word under the expression of Qwen2 and Qwen3.
func wordQwen(s string) int { return wordTiktoken(s, 1) }

// wordLlama is the same with up to three digits a word, as Llama 3 has it.
func wordLlama(s string) int { return wordTiktoken(s, 3) }

// wordTiktoken scans
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func wordTiktoken(s string, digits int) int {
	c, r, n, _ := peek(s)
	if r == '\'' {
		if k := contraction(s, true); k > 0 {
			return k
		}
	}
	switch {
	case c == classLetter:
		return n + run(s[n:], classLetter, 0)
	case c == classNumber:
		return run(s, classNumber, digits)
	case !isNewline(r):
		if k := run(s[n:], classLetter, 0); k > 0 {
			return n + k
		}
	}
	if k := symbols(s); k > 0 {
		for k < len(s) && isNewline(rune(s[k])) {
			k++
		}
		return k
	}
	return spaces(s, true)
}

// wordGPT2 scans
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func wordGPT2(s string) int {
	if s[0] == '\'' {
		if k := contraction(s, false); k > 0 {
			return k
		}
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	for _, c := range [...]class{classLetter, classNumber} {
		if k := run(s[i:], c, 0); k > 0 {
			return i + k
		}
	}
	if k := symbols(s); k > 0 {
		return k
	}
	return spaces(s, false)
}

// wordDigits cuts every numeric code point out as a word of its own.
func wordDigits(s string) int {
	i := 0
	for {
		c, _, n, ok := peek(s[i:])
		if !ok {
			return i
		}
		if c == classNumber {
			if i == 0 {
				return n
			}
			return i
		}
		i += n
	}
}

// contraction is the length of an English contraction at the beginning of s,
// which begins with an apostrophe, or 0. Folding case also takes U+017F, the
// long s, for an s.
func contraction(s string, fold bool) int {
	if len(s) < 2 {
		return 0
	}
	lower := func(b byte) byte {
		if fold && b >= 'A' && b <= 'Z' {
			return b | 0x20
		}
		return b
	}
	a := lower(s[1])
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	if fold && s[1:3] == "\u017f" {
		return 3
	}
	switch b := lower(s[2]); {
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

// symbols is the length of ` ?[^\s\p{L}\p{N}]+` at the beginning of s, or 0.
func symbols(s string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if k := run(s[i:], classOther, 0); k > 0 {
		return i + k
	}
	return 0
}

// spaces is the length of the word a run of white space begins with. With
// newlines, the run up to its last line end is one word (`\s*[\r\n]+`).
// Otherwise the last space of a run is left to the word that follows
// (`\s+(?!\S)`), unless it is the only one.
func spaces(s string, newlines bool) int {
	end, last, newline := 0, 0, 0
	for {
		c, r, n, ok := peek(s[end:])
		if !ok || c != classSpace {
			break
		}
		last = end
		end += n
		if isNewline(r) {
			newline = end
		}
	}
	switch {
	case newlines && newline > 0:
		return newline
	case end == len(s) || last == 0:
		return end
	}
	return last
}
