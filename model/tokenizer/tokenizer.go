package tokenizer

import "slices"

// Tokenizer is one loaded tokenizer.json. It is safe for concurrent use.
type Tokenizer struct {
	raw     []string // raw bytes by id; "" where there is no token
	special []bool   // marked special, by id
	names   map[string]int32
	tokens  []string // as the file spells them, by id
	size    int
	eos     []int32

	normalize bool // NFC
	splitters []splitter
	added     *added
	bpe       *bpe
}

// Encode is the ids of text, with added tokens recognised in it and none
// added around it.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.encode(nil, wellFormed(text), true)
}

// EncodeSpecialPlain is Encode with the tokens marked special taken for
// ordinary text; other added tokens, <think> say, are still recognised.
func (t *Tokenizer) EncodeSpecialPlain(text string) []int32 {
	return t.encode(nil, wellFormed(text), false)
}

// EncodePlain is the ids of text with no added token recognised: the way to
// encode what an untrusted party wrote.
func (t *Tokenizer) EncodePlain(text string) []int32 {
	return t.encodePlain(nil, wellFormed(text))
}

func (t *Tokenizer) encode(dst []int32, text string, special bool) []int32 {
	t.added.split(text, special,
		func(s string) { dst = t.encodePlain(dst, s) },
		func(id int32) { dst = append(dst, id) })
	return dst
}

// encodePlain encodes well-formed text between added tokens.
func (t *Tokenizer) encodePlain(dst []int32, s string) []int32 {
	if t.normalize {
		s = nfc(s)
	}
	t.words(s, t.splitters, func(word string) { dst = t.bpe.append(dst, word) })
	return dst
}

// words runs s through the splitting stages and yields the words in order.
func (t *Tokenizer) words(s string, stages []splitter, yield func(string)) {
	if len(stages) == 0 || s == "" {
		if s != "" {
			yield(s)
		}
		return
	}
	st := stages[0]
	if st.prefixSpace && s[0] != ' ' {
		s = " " + s
	}
	for s != "" {
		n := len(s)
		if st.scan != nil {
			n = st.scan(s)
		}
		t.words(s[:n], stages[1:], yield)
		s = s[n:]
	}
}

// Size is one more than the highest id. A model's head may be larger: its
// further rows stand for no token.
func (t *Tokenizer) Size() int { return t.size }

// ID is the id of a token as the file spells it: an added token's text, or a
// vocabulary entry in the byte-level alphabet.
func (t *Tokenizer) ID(token string) (int32, bool) {
	id, ok := t.names[token]
	return id, ok
}

// Token is the spelling of an id in the file.
func (t *Tokenizer) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(t.tokens) || t.tokens[id] == "" {
		return "", false
	}
	return t.tokens[id], true
}

// IsSpecial reports whether id is an added token marked special.
func (t *Tokenizer) IsSpecial(id int32) bool {
	return id >= 0 && int(id) < len(t.special) && t.special[id]
}

// EOS is the ids that end a text: those of generation_config.json,
// config.json and the eos_token of tokenizer_config.json beside the file, or,
// with none of them, the usual names found among the added tokens. It may be
// empty.
func (t *Tokenizer) EOS() []int32 { return slices.Clone(t.eos) }

// byteRunes is the byte-level alphabet of GPT-2: a printable code point for
// each byte.
var byteRunes, runeBytes = byteAlphabet()

func byteAlphabet() (to [256]rune, from map[rune]byte) {
	from = make(map[rune]byte, 256)
	next := rune(256)
	for i := range to {
		r := rune(i)
		if r < '!' || r > '~' && r < 0xa1 || r == 0xad {
			r = next
			next++
		}
		to[i] = r
		from[r] = byte(i)
	}
	return to, from
}

// rawBytes is what a spelling in the byte-level alphabet stands for; a
// spelling with any other code point stands for itself.
func rawBytes(token string) (string, bool) {
	plain := true
	for i := 0; i < len(token); i++ {
		if token[i] <= ' ' || token[i] > '~' {
			plain = false
			break
		}
	}
	if plain {
		return token, true
	}
	out := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := runeBytes[r]
		if !ok {
			return token, false
		}
		out = append(out, b)
	}
	return string(out), true
}
