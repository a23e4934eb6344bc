package data

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// cell is the input and output of one test as a data set wrote them.
type cell struct {
	input, output json.RawMessage
	call          bool
	wraps         bool // its function tests give values, and outputs in lists of one
}

// test turns the cell into a Test.
func (c cell) test() (Test, error) {
	if !c.call {
		in, err := streamText(c.input)
		if err != nil {
			return Test{}, fmt.Errorf("input: %w", err)
		}
		out, err := streamText(c.output)
		if err != nil {
			return Test{}, fmt.Errorf("output: %w", err)
		}
		return Test{Input: in, Output: out}, nil
	}
	in, values, err := argumentLines(c.input)
	if err != nil {
		return Test{}, fmt.Errorf("input: %w", err)
	}
	t := Test{Input: in}
	var text string
	if json.Unmarshal(c.output, &text) == nil && !(c.wraps && values) {
		// JSON text, as LiveCodeBench has it; a word that is no JSON is meant
		// as the string it is.
		if t.Output = text; jsonText(text) {
			return t, nil
		}
	}
	if t.Output, err = compact(c.output); err != nil {
		return Test{}, fmt.Errorf("output: %w", err)
	}
	var list []json.RawMessage
	t.Wrapped = c.wraps && values && json.Unmarshal(c.output, &list) == nil && len(list) == 1
	return t, nil
}

// jsonText reports whether text is one JSON value as Python reads them, which
// includes NaN and the infinities.
func jsonText(text string) bool {
	switch strings.TrimSpace(text) {
	case "NaN", "Infinity", "-Infinity":
		return true
	}
	// Python's dialect also has NaN inside lists; a list or an object is never
	// meant as a plain word, so its first character is enough.
	if t := strings.TrimSpace(text); t != "" && (t[0] == '[' || t[0] == '{') {
		return true
	}
	return json.Valid([]byte(text))
}

// streamText is stdin or stdout: a string, a list of lines, or a number.
func streamText(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	switch raw[0] {
	case '"':
		var s string
		err := Unmarshal(raw, &s)
		return s, err
	case '[':
		var lines strings.Builder
		err := eachItem(raw, func(n int, item json.RawMessage) error {
			if item[0] == '[' {
				return errors.New("a list within a list where text is needed")
			}
			line, err := streamText(item)
			if n > 1 {
				lines.WriteByte('\n')
			}
			lines.WriteString(strings.TrimSuffix(line, "\n"))
			return err
		})
		return lines.String(), err
	case '{':
		return "", errors.New("an object where text is needed")
	}
	return string(raw), nil
}

// argumentLines gives a call's arguments as JSON, one value a line, and
// whether the data set had them as values and not as text.
func argumentLines(raw json.RawMessage) (lines string, values bool, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", true, nil
	}
	switch raw[0] {
	case '"':
		var s string
		err := Unmarshal(raw, &s)
		return s, false, err
	case '[':
		var args bytes.Buffer
		err := eachItem(raw, func(n int, item json.RawMessage) error {
			if n > 1 {
				args.WriteByte('\n')
			}
			return json.Compact(&args, item)
		})
		return args.String(), true, err
	}
	one, err := compact(raw)
	return one, true, err
}

// compact is a JSON value on one line.
func compact(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", err
	}
	return b.String(), nil
}

// maxUnpacked bounds what a few compressed bytes may become.
const maxUnpacked = 256 << 20

// unpackText is the JSON in a string: as it is, or as base64 of zlib of it.
// LiveCodeBench pickles the JSON text first. A pickle is a program, so it is
// never run; the few bytes around one string are read by hand.
func unpackText(text string) ([]byte, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, errors.New("there are none")
	}
	if trimmed[0] == '[' || trimmed[0] == '{' || trimmed[0] == '"' {
		return []byte(trimmed), nil
	}
	packed, err := base64.StdEncoding.DecodeString(trimmed)
	if err != nil {
		return nil, errors.New("text that is neither JSON nor base64")
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("base64 that does not hold zlib: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("zlib: %w", err)
	}
	if len(body) > maxUnpacked {
		return nil, fmt.Errorf("zlib: more than %d MiB", maxUnpacked>>20)
	}
	if len(body) > 0 && body[0] == pickleProto {
		return pickledText(body)
	}
	return bytes.TrimSpace(body), nil
}

// The only pickle opcodes that a pickled string needs.
const (
	pickleProto     = 0x80
	pickleFrame     = 0x95
	pickleShortText = 0x8c
	pickleText      = 'X'
	pickleLongText  = 0x8d
)

// pickledText reads a pickle that is one string and refuses every other.
func pickledText(b []byte) ([]byte, error) {
	bad := errors.New("a pickle of something other than one string; it is not unpickled")
	if len(b) < 2 {
		return nil, bad
	}
	b = b[2:] // opcode and protocol
	if len(b) >= 9 && b[0] == pickleFrame {
		b = b[9:]
	}
	if len(b) == 0 {
		return nil, bad
	}
	var size, head uint64
	switch {
	case b[0] == pickleShortText && len(b) >= 2:
		size, head = uint64(b[1]), 2
	case b[0] == pickleText && len(b) >= 5:
		size, head = uint64(binary.LittleEndian.Uint32(b[1:])), 5
	case b[0] == pickleLongText && len(b) >= 9:
		size, head = binary.LittleEndian.Uint64(b[1:]), 9
	default:
		return nil, bad
	}
	if size > uint64(len(b))-head {
		return nil, bad
	}
	text, tail := b[head:head+size], b[head+size:]
	// Memoize or binput, a frame's border, stop.
	if len(tail) == 0 || len(tail) > 16 || tail[len(tail)-1] != '.' || !utf8.Valid(text) {
		return nil, bad
	}
	return bytes.TrimSpace(text), nil
}
