package tokenizer

import (
	"errors"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"
)

// Components is the stages of a Tokenizer as the interfaces of
// github.com/sugarme/tokenizer, for code that is written against them. They
// see text without added tokens: cut those out first, as Encode does.
// See docs/rationale.md for why the stages are our own.
type Components struct {
	Normalizer   normalizer.Normalizer
	Pattern      normalizer.Pattern // the words of a text
	PreTokenizer tokenizer.PreTokenizer
	Model        tokenizer.Model
	Decoder      tokenizer.Decoder
}

// Components hands out t's stages.
func (t *Tokenizer) Components() Components {
	return Components{normalStage{t}, wordPattern{t}, wordStage{t}, mergeModel{t}, byteDecoder{}}
}

// normalStage composes. The module's own NFC decomposes.
type normalStage struct{ t *Tokenizer }

// Normalize implements normalizer.Normalizer. Where the text changes, all of
// the new text is aligned with all of the old.
func (n normalStage) Normalize(s *normalizer.NormalizedString) (*normalizer.NormalizedString, error) {
	old := s.GetNormalized()
	if !n.t.normalize || nfc(old) == old {
		return s, nil
	}
	return normalizer.NewNormalizedFrom(nfc(old)), nil
}

// wordPattern finds words. The module's own patterns are Go regular
// expressions, which have no lookahead.
type wordPattern struct{ t *Tokenizer }

// FindMatches implements normalizer.Pattern.
func (p wordPattern) FindMatches(inside string) []normalizer.OffsetsMatch {
	if inside == "" {
		return []normalizer.OffsetsMatch{{Offsets: []int{0, 0}}}
	}
	var out []normalizer.OffsetsMatch
	at := 0
	stages := make([]splitter, len(p.t.splitters))
	for i, s := range p.t.splitters {
		stages[i] = splitter{scan: s.scan} // matches cover the text as it is
	}
	p.t.words(inside, stages, func(word string) {
		out = append(out, normalizer.OffsetsMatch{Offsets: []int{at, at + len(word)}, Match: true})
		at += len(word)
	})
	return out
}

// wordStage cuts into words and spells them in the byte-level alphabet. Splits
// that carry tokens already are kept.
type wordStage struct{ t *Tokenizer }

// PreTokenize implements tokenizer.PreTokenizer.
func (w wordStage) PreTokenize(s *tokenizer.PreTokenizedString) (*tokenizer.PreTokenizedString, error) {
	return s.Split(func(_ int, n *normalizer.NormalizedString) []tokenizer.SplitIdx {
		words := n.Split(wordPattern(w), normalizer.IsolatedBehavior)
		out := make([]tokenizer.SplitIdx, len(words))
		for i := range words {
			var changes []normalizer.ChangeMap
			for _, r := range words[i].GetNormalized() {
				for j, b := range []byte(string(r)) {
					changes = append(changes, normalizer.ChangeMap{RuneVal: string(byteRunes[b]), Changes: min(j, 1)})
				}
			}
			out[i].Normalized = words[i].Transform(changes, 0)
		}
		return out
	}), nil
}

// mergeModel merges one word.
type mergeModel struct{ t *Tokenizer }

// Tokenize implements tokenizer.Model for a word in the byte-level alphabet.
func (m mergeModel) Tokenize(word string) ([]tokenizer.Token, error) {
	raw, ok := rawBytes(word)
	if !ok {
		return nil, errors.New("tokenize: word is not in the byte-level alphabet")
	}
	var out []tokenizer.Token
	at := 0
	for _, id := range m.t.bpe.append(nil, raw) {
		token := m.t.tokens[id]
		out = append(out, tokenizer.NewToken(int(id), token, []int{at, at + len(token)}))
		at += len(token)
	}
	return out, nil
}

// TokenToId implements tokenizer.Model.
func (m mergeModel) TokenToId(token string) (int, bool) {
	id, ok := m.t.ID(token)
	return int(id), ok
}

// IdToToken implements tokenizer.Model.
func (m mergeModel) IdToToken(id int) (string, bool) {
	if id < 0 || id >= m.t.size {
		return "", false
	}
	return m.t.Token(int32(id))
}

// GetVocab implements tokenizer.Model.
func (m mergeModel) GetVocab() map[string]int {
	out := make(map[string]int, len(m.t.names))
	for token, id := range m.t.names {
		out[token] = int(id)
	}
	return out
}

// GetVocabSize implements tokenizer.Model.
func (m mergeModel) GetVocabSize() int { return len(m.t.names) }

// Save implements tokenizer.Model by refusing: the file a Tokenizer came from
// is the one to copy.
func (m mergeModel) Save(string, ...string) error {
	return errors.New("tokenizer: saving is not supported; copy tokenizer.json")
}

// byteDecoder joins tokens. The module's own leaves ill-formed bytes in the
// text and drops what is not in the byte-level alphabet.
type byteDecoder struct{}

// Decode implements tokenizer.Decoder.
func (byteDecoder) Decode(tokens []string) string {
	var raw []byte
	for _, token := range tokens {
		b, _ := rawBytes(token)
		raw = append(raw, b...)
	}
	return wellFormed(string(raw))
}

// DecodeChain implements tokenizer.Decoder.
func (d byteDecoder) DecodeChain(tokens []string) []string { return []string{d.Decode(tokens)} }
