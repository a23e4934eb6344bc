package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"troupe/internal/readfile"
)

const (
	maxFile = 256 << 20 // bytes of a tokenizer.json; the largest in use have 35 MB
	maxID   = 1 << 23   // ids above are a broken file, not a large vocabulary
	maxSide = 64 << 20  // bytes of a configuration file beside it
)

// maxGap bounds the ids without a token: memory goes with the highest id, and
// a few bytes of a file must not claim much of it.
const maxGap = 4096

// FileName is the file Load looks for in a folder.
const FileName = "tokenizer.json"

// Load reads a tokenizer.json, or the one in a folder. The end tokens come
// from the configuration files beside it.
func Load(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	b, err := readfile.AtMost(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	if t.eos, err = endTokens(filepath.Dir(path), t); err != nil {
		return nil, err
	}
	return t, nil
}

// file is tokenizer.json as far as it matters.
type file struct {
	AddedTokens  []addedToken    `json:"added_tokens"`
	Normalizer   *stage          `json:"normalizer"`
	PreTokenizer *stage          `json:"pre_tokenizer"`
	Decoder      *stage          `json:"decoder"`
	Model        json.RawMessage `json:"model"`
}

type modelFile struct {
	Type         string          `json:"type"`
	Dropout      *float64        `json:"dropout"`
	UnkToken     *string         `json:"unk_token"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	FuseUnk      bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	Vocab        json.RawMessage `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
}

// Parse reads the bytes of a tokenizer.json. Its EOS has only the end tokens
// known by name.
func Parse(b []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, describe(err)
	}
	if len(f.Model) == 0 || bytes.Equal(f.Model, []byte("null")) {
		return nil, errors.New("no model")
	}
	var m modelFile
	if err := json.Unmarshal(f.Model, &m); err != nil {
		return nil, fmt.Errorf("model: %w", describe(err))
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	t := &Tokenizer{names: make(map[string]int32)}
	var err error
	if t.normalize, err = normalizerOf(f.Normalizer); err != nil {
		return nil, err
	}
	if t.splitters, err = splittersOf(f.PreTokenizer); err != nil {
		return nil, err
	}
	if f.Decoder != nil && f.Decoder.Type != "ByteLevel" {
		return nil, fmt.Errorf("decoder %q is not supported, only ByteLevel", f.Decoder.Type)
	}
	if err := t.readModel(m); err != nil {
		return nil, err
	}
	if err := t.readAdded(f.AddedTokens); err != nil {
		return nil, err
	}
	t.eos = namedEndTokens(t)
	return t, nil
}

// describe makes an error of encoding/json name the place.
func describe(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
	}
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("%s is a %s, want %s", typ.Field, typ.Value, typ.Type)
	}
	return err
}

// check refuses by name what would give other ids.
func (m modelFile) check() error {
	switch {
	case m.Type != "BPE" && m.Type != "":
		return fmt.Errorf("model type %q is not supported, only BPE", m.Type)
	case m.Dropout != nil && *m.Dropout != 0:
		return errors.New("model: dropout is not supported")
	case m.Prefix != nil && *m.Prefix != "":
		return errors.New("model: continuing_subword_prefix is not supported")
	case m.Suffix != nil && *m.Suffix != "":
		return errors.New("model: end_of_word_suffix is not supported")
	case m.ByteFallback:
		return errors.New("model: byte_fallback (a SentencePiece file) is not supported, only byte-level BPE")
	}
	return nil
}

// readModel fills vocabulary and merges.
func (t *Tokenizer) readModel(m modelFile) error {
	entries, err := parseVocab(m.Vocab)
	if err != nil {
		return fmt.Errorf("model: vocab: %w", err)
	}
	b := &bpe{unknown: -1, fuse: m.FuseUnk}
	for i := range b.byteID {
		b.byteID[i] = -1
	}
	if m.IgnoreMerges {
		b.words = make(map[string]int32, len(entries))
	}
	if err := t.grow(entries); err != nil {
		return fmt.Errorf("model: vocab: %w", err)
	}
	for _, e := range entries {
		if err := t.define(e.token, e.id); err != nil {
			return fmt.Errorf("model: vocab: %w", err)
		}
		raw, ok := rawBytes(e.token)
		if !ok {
			continue
		}
		if len(raw) == 1 {
			b.byteID[raw[0]] = e.id
		}
		if b.words != nil {
			b.words[raw] = e.id
		}
	}
	if m.UnkToken != nil {
		id, ok := t.names[*m.UnkToken]
		if !ok {
			return fmt.Errorf("model: unk_token %q is not in the vocabulary", *m.UnkToken)
		}
		b.unknown = id
	}
	t.bpe = b
	return t.readMerges(m.Merges)
}

// readMerges fills the table of pairs.
func (t *Tokenizer) readMerges(raw json.RawMessage) error {
	pairs, err := parseMerges(raw)
	if err != nil {
		return fmt.Errorf("model: merges: %w", err)
	}
	t.bpe.merges = newPairTable(len(pairs))
	t.bpe.merged = make([]int32, len(pairs))
	var joined []byte
	for rank, p := range pairs {
		left, ok := t.names[p[0]]
		if !ok {
			return fmt.Errorf("model: merge %d: %q is not in the vocabulary", rank, p[0])
		}
		right, ok := t.names[p[1]]
		if !ok {
			return fmt.Errorf("model: merge %d: %q is not in the vocabulary", rank, p[1])
		}
		joined = append(append(joined[:0], p[0]...), p[1]...)
		id, ok := t.names[string(joined)]
		if !ok {
			return fmt.Errorf("model: merge %d: %q is not in the vocabulary", rank, joined)
		}
		t.bpe.merges.put(left, right, int32(rank))
		t.bpe.merged[rank] = id
	}
	return nil
}

// readAdded fills the added tokens, which come last and may repeat an entry of
// the vocabulary.
func (t *Tokenizer) readAdded(tokens []addedToken) error {
	entries := make([]vocabEntry, 0, len(tokens))
	for i, a := range tokens {
		if a.Content == "" {
			return fmt.Errorf("added_tokens[%d]: empty content", i)
		}
		if a.ID < 0 || a.ID >= maxID {
			return fmt.Errorf("added_tokens[%d] %q: id %d out of range", i, a.Content, a.ID)
		}
		entries = append(entries, vocabEntry{a.Content, a.ID})
	}
	if err := t.grow(entries); err != nil {
		return fmt.Errorf("added_tokens: %w", err)
	}
	for i, e := range entries {
		if err := t.define(e.token, e.id); err != nil {
			return fmt.Errorf("added_tokens[%d]: %w", i, err)
		}
		t.special[e.id] = t.special[e.id] || tokens[i].Special
	}
	t.added = newAdded(tokens)
	return nil
}

// grow makes room for the ids of entries.
func (t *Tokenizer) grow(entries []vocabEntry) error {
	for _, e := range entries {
		t.size = max(t.size, int(e.id)+1)
	}
	if known := len(t.names) + len(entries); t.size > 2*known+maxGap {
		return fmt.Errorf("ids go up to %d for %d tokens", t.size-1, known)
	}
	if n := t.size - len(t.raw); n > 0 {
		t.raw = append(t.raw, make([]string, n)...)
		t.tokens = append(t.tokens, make([]string, n)...)
		t.special = append(t.special, make([]bool, n)...)
	}
	return nil
}

// define records one token. Two tokens of one id, or two ids of one token,
// are refused.
func (t *Tokenizer) define(token string, id int32) error {
	if have, ok := t.names[token]; ok && have != id {
		return fmt.Errorf("token %q has id %d and id %d", token, have, id)
	}
	if have := t.tokens[id]; have != "" && have != token {
		return fmt.Errorf("id %d is both %q and %q", id, have, token)
	}
	t.names[token] = id
	t.tokens[id] = token
	t.raw[id], _ = rawBytes(token)
	return nil
}

// readSide reads a file that need not exist; nil if it does not.
func readSide(path string) ([]byte, error) {
	b, err := readfile.AtMost(path, maxSide)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// readOptional decodes a JSON file that need not exist.
func readOptional(path string, v any) error {
	b, err := readSide(path)
	if b == nil || err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, describe(err))
	}
	return nil
}
