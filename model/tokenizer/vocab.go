package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// vocabEntry is one token of the vocabulary.
type vocabEntry struct {
	token string
	id    int32
}

// jsonScanner walks the two large parts of the file, 300,000 strings in
// Qwen3's, without reflection. The bytes are known to be valid JSON.
type jsonScanner struct {
	b []byte
	i int
}

func (s *jsonScanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// take skips white space and consumes c if it comes next.
func (s *jsonScanner) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// text reads a string.
func (s *jsonScanner) text() (string, error) {
	if !s.take('"') {
		return "", s.wrong("a string")
	}
	start, escaped := s.i, false
	for s.i < len(s.b) && s.b[s.i] != '"' {
		if s.b[s.i] == '\\' {
			escaped = true
			s.i++
		}
		s.i++
	}
	if s.i >= len(s.b) {
		return "", s.wrong("the end of a string")
	}
	s.i++
	if raw := s.b[start : s.i-1]; !escaped && utf8.Valid(raw) {
		return string(raw), nil
	}
	var out string
	if err := json.Unmarshal(s.b[start-1:s.i], &out); err != nil {
		return "", err
	}
	return out, nil
}

// id reads a token id.
func (s *jsonScanner) id() (int32, error) {
	s.space()
	start := s.i
	for s.i < len(s.b) && (s.b[s.i] >= '0' && s.b[s.i] <= '9' || bytes.IndexByte([]byte("+-.eE"), s.b[s.i]) >= 0) {
		s.i++
	}
	if start == s.i {
		return 0, s.wrong("a number")
	}
	v, err := strconv.ParseInt(string(s.b[start:s.i]), 10, 64)
	if err != nil || v < 0 || v >= maxID {
		return 0, fmt.Errorf("id %s is out of range", s.b[start:s.i])
	}
	return int32(v), nil
}

func (s *jsonScanner) wrong(want string) error {
	s.space()
	return fmt.Errorf("at byte %d: want %s", s.i, want)
}

// parseVocab reads {"token": id, …}.
func parseVocab(raw json.RawMessage) ([]vocabEntry, error) {
	if len(raw) == 0 {
		return nil, errors.New("missing")
	}
	s := &jsonScanner{b: raw}
	if !s.take('{') {
		return nil, s.wrong("an object")
	}
	entries := make([]vocabEntry, 0, len(raw)/24)
	if s.take('}') {
		return nil, errors.New("empty")
	}
	for {
		token, err := s.text()
		if err != nil {
			return nil, err
		}
		if !s.take(':') {
			return nil, s.wrong("a colon")
		}
		id, err := s.id()
		if err != nil {
			return nil, fmt.Errorf("token %q: %w", token, err)
		}
		if token == "" {
			return nil, fmt.Errorf("id %d: empty token", id)
		}
		entries = append(entries, vocabEntry{token, id})
		if s.take(',') {
			continue
		}
		if s.take('}') {
			return entries, nil
		}
		return nil, s.wrong("the end of the object")
	}
}

// parseMerges reads ["left right", …] or [["left", "right"], …].
func parseMerges(raw json.RawMessage) ([][2]string, error) {
	s := &jsonScanner{b: raw}
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if !s.take('[') {
		return nil, s.wrong("a list")
	}
	if s.take(']') {
		return nil, nil
	}
	pairs := make([][2]string, 0, len(raw)/24)
	for {
		p, err := s.pair()
		if err != nil {
			return nil, fmt.Errorf("merge %d: %w", len(pairs), err)
		}
		pairs = append(pairs, p)
		if s.take(',') {
			continue
		}
		if s.take(']') {
			return pairs, nil
		}
		return nil, s.wrong("the end of the list")
	}
}

// pair reads one merge in either spelling.
func (s *jsonScanner) pair() (p [2]string, err error) {
	if !s.take('[') {
		both, err := s.text()
		if err != nil {
			return p, err
		}
		left, right, ok := strings.Cut(both, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return p, fmt.Errorf("%q is not two tokens", both)
		}
		return [2]string{left, right}, nil
	}
	if p[0], err = s.text(); err != nil {
		return p, err
	}
	if !s.take(',') {
		return p, s.wrong("a second token")
	}
	if p[1], err = s.text(); err != nil {
		return p, err
	}
	if !s.take(']') {
		return p, s.wrong("the end of the pair")
	}
	return p, nil
}
