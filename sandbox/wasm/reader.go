package wasm

import (
	"errors"
	"fmt"
)

var errTruncated = errors.New("unexpected end")

// reader walks over bytes. The first error sticks; reads after it give zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.at, err)
		r.at = len(r.b)
	}
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.fail(errTruncated)
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// bytes returns the next n bytes, not copied.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)-r.at) {
		r.fail(errTruncated)
		return nil
	}
	s := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return s
}

// unsigned reads a LEB128 number of at most the given bits.
func (r *reader) unsigned(bits uint) uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if shift+7 > bits && uint64(c) >= 1<<(bits-shift) {
				r.fail(errors.New("number too large"))
			}
			return v
		}
		if shift+7 >= bits {
			r.fail(errors.New("number too long"))
			return 0
		}
	}
}

func (r *reader) u32() uint32 { return uint32(r.unsigned(32)) }

// signed reads a signed LEB128 number of at most the given bits.
func (r *reader) signed(bits uint) int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if shift+7 < 64 && c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
		if shift+7 >= bits {
			r.fail(errors.New("number too long"))
			return 0
		}
	}
}

// count reads the length of a vector whose elements take at least one byte.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail(errTruncated)
		return 0
	}
	return int(n)
}

func (r *reader) name() string { return string(r.bytes(uint64(r.u32()))) }

func appendUnsigned(o []byte, v uint64) []byte {
	for v >= 0x80 {
		o = append(o, byte(v)|0x80)
		v >>= 7
	}
	return append(o, byte(v))
}

func appendSigned(o []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(o, c)
		}
		o = append(o, c|0x80)
	}
}

func appendName(o []byte, s string) []byte {
	return append(appendUnsigned(o, uint64(len(s))), s...)
}
