package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

type header struct {
	metadata map[string]string
	tensors  []Tensor // in the order of their bytes
}

// readHeader reads and checks everything in front of the tensors' bytes.
func readHeader(r io.ReaderAt, size int64) (*header, error) {
	fault := func(off int64, format string, args ...any) error {
		return &Error{Offset: off, Fault: fmt.Sprintf(format, args...)}
	}
	if size < 8 {
		return nil, fault(0, "the file has %d bytes, fewer than the 8 of the header's length", size)
	}
	var b [8]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return nil, fault(0, "reading the header's length: %v", err)
	}
	n := binary.LittleEndian.Uint64(b[:])
	if n > maxHeader {
		return nil, fault(0, "the header's length %d is over the format's limit of %d", n, maxHeader)
	}
	if n > uint64(size-8) {
		return nil, fault(0, "the header's length %d is more than the %d bytes that follow it", n, size-8)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return nil, fault(8, "reading the header: %v", err)
	}
	if !utf8.Valid(text) {
		return nil, fault(8+invalidAt(text), "the header is not UTF-8")
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	return h, h.checkLayout(8+int64(n), size)
}

func invalidAt(text []byte) int64 {
	at := 0
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return int64(at)
}

// checkLayout turns offsets into places in the file and makes sure the
// tensors cover its rest exactly, each byte once.
func (h *header) checkLayout(start, size int64) error {
	sortByOffset(h.tensors)
	end, before := int64(0), ""
	for i := range h.tensors {
		t := &h.tensors[i]
		switch {
		case t.Offset < end:
			return &Error{Tensor: t.Name, Offset: start + t.Offset, Fault: fmt.Sprintf("its bytes overlap those of %q", before)}
		case t.Offset > end:
			return &Error{Tensor: t.Name, Offset: start + end, Fault: fmt.Sprintf("the %d bytes before it belong to no tensor", t.Offset-end)}
		case t.Bytes > size-start-t.Offset:
			return &Error{Tensor: t.Name, Offset: start + t.Offset,
				Fault: fmt.Sprintf("its data of %d bytes ends after the end of the file (%d bytes)", t.Bytes, size)}
		}
		end, before = t.Offset+t.Bytes, t.Name
		t.Offset += start
	}
	if start+end != size {
		return &Error{Offset: start + end, Fault: fmt.Sprintf("the file goes on for %d bytes after the last tensor", size-start-end)}
	}
	return nil
}

// headerParser walks the JSON by tokens: the standard decoder into structs
// would accept names that occur twice and match keys without regard to case.
type headerParser struct {
	dec    *json.Decoder
	tensor string
}

func parseHeader(text []byte) (*header, error) {
	p := &headerParser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	if len(text) == 0 || text[0] != '{' {
		return nil, p.fault("the header is not a JSON object")
	}
	h := &header{}
	seen := map[string]bool{}
	err := p.object(func(name string) error {
		if seen[name] {
			p.tensor = name
			return p.fault("the name occurs twice in the header")
		}
		seen[name] = true
		if name == "__metadata__" {
			h.metadata = map[string]string{}
			return p.object(func(key string) error {
				v, err := p.text("metadata " + strconv.Quote(key))
				h.metadata[key] = v
				return err
			})
		}
		p.tensor = name
		t, err := p.entry(name)
		p.tensor = ""
		h.tensors = append(h.tensors, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, p.fault("the header goes on after its JSON object")
	}
	return h, nil
}

func (p *headerParser) fault(format string, args ...any) error {
	return &Error{Tensor: p.tensor, Offset: 8 + p.dec.InputOffset(), Fault: fmt.Sprintf(format, args...)}
}

func (p *headerParser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, p.fault("the header is not JSON: %v", err)
	}
	return t, nil
}

// object calls value for each key, at the value's place.
func (p *headerParser) object(value func(key string) error) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return p.fault("the header has %v where an object belongs", t)
	}
	for {
		if t, err = p.token(); err != nil {
			return err
		}
		if t == json.Delim('}') {
			return nil
		}
		if err := value(t.(string)); err != nil {
			return err
		}
	}
}

func (p *headerParser) text(what string) (string, error) {
	t, err := p.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", p.fault("%s is not a string", what)
	}
	return s, nil
}

// numbers reads a list of non-negative integers.
func (p *headerParser) numbers(what string) ([]uint64, error) {
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('[') {
		return nil, p.fault("%s is not a list", what)
	}
	out := []uint64{}
	for {
		if t, err = p.token(); err != nil {
			return nil, err
		}
		if t == json.Delim(']') {
			return out, nil
		}
		n, ok := t.(json.Number)
		if !ok {
			return nil, p.fault("%s holds %v, not a number", what, t)
		}
		v, err := strconv.ParseUint(n.String(), 10, 63)
		if err != nil {
			return nil, p.fault("%s holds %s, not an integer of 0 or more", what, n)
		}
		out = append(out, v)
	}
}

// entry reads {"dtype": …, "shape": […], "data_offsets": [begin, end]}.
func (p *headerParser) entry(name string) (Tensor, error) {
	t := Tensor{Name: name}
	var shape, offsets []uint64
	seen := map[string]bool{}
	err := p.object(func(key string) (err error) {
		if seen[key] {
			return p.fault("%s occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			var s string
			s, err = p.text(key)
			t.DType = DType(s)
		case "shape":
			shape, err = p.numbers(key)
		case "data_offsets":
			offsets, err = p.numbers(key)
		default:
			return p.fault("unknown key %q", key)
		}
		return err
	})
	if err != nil {
		return t, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return t, p.fault("%s is missing", key)
		}
	}
	return t, p.fill(&t, shape, offsets)
}

func (p *headerParser) fill(t *Tensor, shape, offsets []uint64) error {
	width, ok := bitsOf[t.DType]
	if !ok {
		return p.fault("unknown dtype %q", t.DType)
	}
	if len(offsets) != 2 {
		return p.fault("data_offsets has %d numbers, not 2", len(offsets))
	}
	if offsets[1] < offsets[0] {
		return p.fault("its end %d is before its begin %d", offsets[1], offsets[0])
	}
	size := width
	for _, d := range shape {
		hi, lo := bits.Mul64(size, d)
		if hi != 0 {
			return p.fault("the product of its shape %v overflows", shape)
		}
		size = lo
		t.Shape = append(t.Shape, int(d))
	}
	if have := offsets[1] - offsets[0]; size%8 != 0 || size/8 != have {
		return p.fault("shape %v of %s needs %d bytes, the offsets give %d", shape, t.DType, size/8, have)
	}
	t.Offset, t.Bytes = int64(offsets[0]), int64(offsets[1]-offsets[0])
	return nil
}
