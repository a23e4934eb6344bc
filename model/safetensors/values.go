package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// chunk is the number of elements converted at a time where the file can't be
// mapped, so that a buffer stays small.
const chunk = 1 << 18

// ReadF32 reads a tensor of F32, F16 or BF16 into dst as float32. A length
// that does not fit, another type and a value that is not finite are errors.
func (f *File) ReadF32(name string, dst []float32) (err error) {
	t, err := f.floats(name, len(dst))
	if err != nil {
		return err
	}
	defer f.guard(name, &err)()
	width := int64(bitsOf[t.DType] / 8)
	var buf []byte
	for at := 0; at < len(dst); at += chunk {
		part := dst[at:min(at+chunk, len(dst))]
		off := t.Offset + int64(at)*width
		if buf, err = f.bytes(off, int64(len(part))*width, buf); err != nil {
			return err
		}
		if bad := widen(part, buf, t.DType); bad >= 0 {
			return &Error{File: f.Path, Tensor: name, Offset: off + int64(bad)*width,
				Fault: fmt.Sprintf("element %d is %v", at+bad, part[bad])}
		}
		if f.mapped != nil {
			buf = nil
		}
	}
	return nil
}

// ReadBF16 reads a BF16 tensor into dst bit by bit. A length that does not
// fit, another type and a value that is not finite are errors.
func (f *File) ReadBF16(name string, dst []uint16) (err error) {
	t, err := f.floats(name, len(dst))
	if err != nil {
		return err
	}
	defer f.guard(name, &err)()
	if t.DType != BF16 {
		return &Error{File: f.Path, Tensor: name, Offset: -1, Fault: fmt.Sprintf("dtype is %s, not BF16", t.DType)}
	}
	var buf []byte
	for at := 0; at < len(dst); at += chunk {
		part := dst[at:min(at+chunk, len(dst))]
		off := t.Offset + 2*int64(at)
		if buf, err = f.bytes(off, 2*int64(len(part)), buf); err != nil {
			return err
		}
		if !copyBF16(part, buf) {
			i := slices.IndexFunc(part, func(v uint16) bool { return v&0x7f80 == 0x7f80 })
			return &Error{File: f.Path, Tensor: name, Offset: off + 2*int64(i),
				Fault: fmt.Sprintf("element %d is %v", at+i, BF16ToF32(part[i]))}
		}
		if f.mapped != nil {
			buf = nil
		}
	}
	return nil
}

// Equal tells whether two tensors have the same type, shape and bytes.
func Equal(f *File, a string, g *File, b string) (same bool, err error) {
	ta, ok := f.tensors[a]
	tb, ok2 := g.tensors[b]
	if !ok || !ok2 || ta.DType != tb.DType || !slices.Equal(ta.Shape, tb.Shape) {
		return false, nil
	}
	defer f.guard(a, &err)()
	defer g.guard(b, &err)()
	var x, y []byte
	for at := int64(0); at < ta.Bytes; at += chunk {
		n := min(chunk, ta.Bytes-at)
		if x, err = f.bytes(ta.Offset+at, n, nil); err != nil {
			return false, err
		}
		if y, err = g.bytes(tb.Offset+at, n, nil); err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}

// copyBF16 copies and tells whether every value is finite. It takes four at a
// time: adding one to an exponent of all ones carries into the sign's place.
func copyBF16(dst []uint16, src []byte) bool {
	const exponents, one, signs = 0x7f80_7f80_7f80_7f80, 0x0080_0080_0080_0080, 0x8000_8000_8000_8000
	bad, n := uint64(0), len(dst)&^3
	for i := 0; i < n; i += 4 {
		v, d := binary.LittleEndian.Uint64(src[2*i:]), dst[i:i+4:i+4]
		bad |= v&exponents + one
		d[0], d[1], d[2], d[3] = uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = binary.LittleEndian.Uint16(src[2*i:])
		bad |= uint64(dst[i]&0x7f80) + 0x80
	}
	return bad&signs == 0
}

// floats finds a tensor that is to be read as n floating-point numbers.
func (f *File) floats(name string, n int) (Tensor, error) {
	t, ok := f.tensors[name]
	if !ok {
		return t, &Error{File: f.Path, Tensor: name, Offset: -1, Fault: "not in the file"}
	}
	switch t.DType {
	case F32, F16, BF16:
	default:
		return t, &Error{File: f.Path, Tensor: name, Offset: -1,
			Fault: fmt.Sprintf("dtype %s can't be a weight (F32, F16 and BF16 can)", t.DType)}
	}
	if t.Elements() != n {
		return t, &Error{File: f.Path, Tensor: name, Offset: -1,
			Fault: fmt.Sprintf("shape %v has %d elements, %d were asked for", t.Shape, t.Elements(), n)}
	}
	return t, nil
}

// widen converts and gives the index of the first value that is not finite,
// or -1.
func widen(dst []float32, src []byte, d DType) int {
	switch d {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case BF16:
		for i := range dst {
			dst[i] = BF16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = f16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
		}
	}
	for i, v := range dst {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			return i
		}
	}
	return -1
}

// BF16ToF32 widens; it is exact.
func BF16ToF32(v uint16) float32 { return math.Float32frombits(uint32(v) << 16) }

// F32ToBF16 rounds to nearest, ties to even; NaN stays NaN.
func F32ToBF16(v float32) uint16 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// f16ToF32 widens an IEEE half; it is exact.
func f16ToF32(v uint16) float32 {
	sign, exp, frac := uint32(v>>15)<<31, uint32(v>>10&31), uint32(v&0x3ff)
	switch exp {
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case 0:
		// frac · 2⁻²⁴, which float32 holds exactly; the sign also of zero.
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*(1.0/(1<<24))))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
