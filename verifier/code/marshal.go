package code

import (
	"encoding/binary"
	"math"
	"math/big"
)

// Arguments go into the guest, and results come out, in the format of Python's
// marshal module (version 2: no references), which costs the guest next to
// nothing. Only the types of JSON are written; what else a result may be is
// read as a value equal to nothing.

// appendMarshal writes a value.
func appendMarshal(b []byte, v value) []byte {
	switch v.kind {
	case boolean:
		if v.truth {
			return append(b, 'T')
		}
		return append(b, 'F')
	case integer:
		return appendMarshalInt(b, v.int)
	case float:
		return binary.LittleEndian.AppendUint64(append(b, 'g'), math.Float64bits(v.float))
	case text:
		b = binary.LittleEndian.AppendUint32(append(b, 'u'), uint32(len(v.text)))
		return append(b, v.text...)
	case list:
		b = binary.LittleEndian.AppendUint32(append(b, '['), uint32(len(v.items)))
		for _, item := range v.items {
			b = appendMarshal(b, item)
		}
		return b
	case dict:
		b = append(b, '{')
		for _, item := range v.items {
			b = appendMarshal(b, item)
		}
		return append(b, '0')
	}
	return append(b, 'N')
}

// marshalDigit is how many bits marshal puts in a digit of a long integer.
const marshalDigit = 15

func appendMarshalInt(b []byte, n *big.Int) []byte {
	if n.IsInt64() && n.Int64() == int64(int32(n.Int64())) {
		return binary.LittleEndian.AppendUint32(append(b, 'i'), uint32(n.Int64()))
	}
	digits := (n.BitLen() + marshalDigit - 1) / marshalDigit
	size := int32(digits)
	if n.Sign() < 0 {
		size = -size
	}
	b = binary.LittleEndian.AppendUint32(append(b, 'l'), uint32(size))
	mag := n.Bytes() // most significant first
	bit := func(i int) uint32 {
		at := len(mag) - 1 - i/8
		if at < 0 {
			return 0
		}
		return uint32(mag[at])
	}
	for d := range digits {
		low := d * marshalDigit
		window := bit(low) | bit(low+8)<<8 | bit(low+16)<<16
		b = binary.LittleEndian.AppendUint16(b, uint16(window>>(low%8)&(1<<marshalDigit-1)))
	}
	return b
}

// parseMarshal reads a result.
func parseMarshal(b []byte, most int) (value, error) {
	p := marshalParser{b: b, left: most}
	v, err := p.value(0)
	if err == nil && len(p.b) > 0 {
		err = errReport
	}
	return v, err
}

type marshalParser struct {
	b    []byte
	left int // values that may still come
}

// take cuts off the next n bytes.
func (p *marshalParser) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.b)) {
		return nil, errReport
	}
	head := p.b[:n]
	p.b = p.b[n:]
	return head, nil
}

func (p *marshalParser) size() (uint64, error) {
	b, err := p.take(4)
	if err != nil {
		return 0, err
	}
	return uint64(binary.LittleEndian.Uint32(b)), nil
}

func (p *marshalParser) value(depth int) (value, error) {
	tag, err := p.take(1)
	if err != nil || depth > maxDepth+10 {
		return value{}, errReport
	}
	if p.left--; p.left < 0 {
		return value{}, errTooMany
	}
	switch tag[0] {
	case 'N':
		return value{kind: none}, nil
	case 'T', 'F':
		return value{kind: boolean, truth: tag[0] == 'T'}, nil
	case 'i':
		b, err := p.take(4)
		if err != nil {
			return value{}, err
		}
		return value{kind: integer, int: big.NewInt(int64(int32(binary.LittleEndian.Uint32(b))))}, nil
	case 'l':
		return p.long()
	case 'g':
		b, err := p.take(8)
		if err != nil {
			return value{}, err
		}
		return value{kind: float, float: math.Float64frombits(binary.LittleEndian.Uint64(b))}, nil
	case 'u', 't':
		return p.sized(text)
	case 's':
		_, err := p.sized(other)
		return value{kind: other, text: "bytes"}, err
	case '[':
		return p.items(list, depth)
	case '(':
		return p.items(tuple, depth)
	case '<', '>':
		_, err := p.items(list, depth)
		return value{kind: other, text: "set"}, err
	case '{':
		return p.dict(depth)
	}
	return value{}, errReport
}

func (p *marshalParser) long() (value, error) {
	n, err := p.size()
	if err != nil {
		return value{}, err
	}
	neg := int32(n) < 0
	if neg {
		n = uint64(-int64(int32(n)))
	}
	b, err := p.take(2 * n)
	if err != nil {
		return value{}, err
	}
	mag := make([]byte, (n*marshalDigit+7)/8+2) // least significant first
	for d := range int(n) {
		low := d * marshalDigit
		window := uint32(binary.LittleEndian.Uint16(b[2*d:])) & (1<<marshalDigit - 1) << (low % 8)
		for k := range 3 {
			if at := low/8 + k; at < len(mag) {
				mag[at] |= byte(window >> (8 * k))
			}
		}
	}
	for i, j := 0, len(mag)-1; i < j; i, j = i+1, j-1 {
		mag[i], mag[j] = mag[j], mag[i]
	}
	x := new(big.Int).SetBytes(mag)
	if neg {
		x.Neg(x)
	}
	return value{kind: integer, int: x}, nil
}

func (p *marshalParser) sized(k kind) (value, error) {
	n, err := p.size()
	if err != nil {
		return value{}, err
	}
	b, err := p.take(n)
	return value{kind: k, text: string(b)}, err
}

func (p *marshalParser) items(k kind, depth int) (value, error) {
	n, err := p.size()
	if err != nil || n > uint64(len(p.b)) {
		return value{}, errReport
	}
	if n > uint64(p.left) {
		return value{}, errTooMany
	}
	v := value{kind: k, items: make([]value, n)}
	for i := range v.items {
		if v.items[i], err = p.value(depth + 1); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (p *marshalParser) dict(depth int) (value, error) {
	v := value{kind: dict}
	for {
		if len(p.b) > 0 && p.b[0] == '0' && len(v.items)%2 == 0 {
			p.b = p.b[1:]
			return v, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
}
