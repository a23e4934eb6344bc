package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Decode is the text of ids: the bytes of all tokens joined, then read as
// UTF-8 with one U+FFFD for each maximal ill-formed part. Ids without a token
// give nothing. skipSpecial drops tokens marked special; others, <think> say,
// stay.
func (t *Tokenizer) Decode(ids []int32, skipSpecial bool) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(t.bytesOf(id, skipSpecial))
	}
	return wellFormed(b.String())
}

// Bytes is the raw bytes one id stands for, which may be part of a code point.
func (t *Tokenizer) Bytes(id int32) []byte { return []byte(t.bytesOf(id, false)) }

func (t *Tokenizer) bytesOf(id int32, skipSpecial bool) string {
	if id < 0 || int(id) >= len(t.raw) || skipSpecial && t.special[id] {
		return ""
	}
	return t.raw[id]
}

// wellFormed replaces each maximal ill-formed part of s with U+FFFD (Unicode
// 3.9: a part is the longest beginning of some well-formed sequence, or one
// byte). strings.ToValidUTF8 makes one of a whole run.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		b.WriteRune(utf8.RuneError)
		i += illFormed(s[i:])
	}
	return b.String()
}

// illFormed is the length of the maximal ill-formed part s begins with.
func illFormed(s string) int {
	need, lo, hi := 0, byte(0x80), byte(0xbf) // continuation bytes, range of the first
	switch c := s[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		switch c {
		case 0xe0:
			lo = 0xa0
		case 0xed:
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		switch c {
		case 0xf0:
			lo = 0x90
		case 0xf4:
			hi = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(s) && s[n] >= lo && s[n] <= hi {
		n++
		lo, hi = 0x80, 0xbf
	}
	return n
}

// Stream decodes token by token. It holds text back while it ends in an
// incomplete or ill-formed part (or in U+FFFD itself), so that what it has
// given out never changes. The zero value is not usable; see NewStream.
type Stream struct {
	t           *Tokenizer
	skipSpecial bool
	held        []byte
}

// NewStream starts a stream.
func (t *Tokenizer) NewStream(skipSpecial bool) *Stream {
	return &Stream{t: t, skipSpecial: skipSpecial}
}

// Next adds one token and returns the text that is certain now, often "".
func (s *Stream) Next(id int32) string {
	s.held = append(s.held, s.t.bytesOf(id, s.skipSpecial)...)
	if r, _ := utf8.DecodeLastRune(s.held); r == utf8.RuneError {
		return ""
	}
	return s.Flush()
}

// Flush returns whatever is held back, for the end of the text.
func (s *Stream) Flush() string {
	out := wellFormed(string(s.held))
	s.held = s.held[:0]
	return out
}
