package mathans

import (
	"encoding/binary"
	"errors"
	"math"
)

// Question is one pair to judge in a batch.
type Question struct {
	Gold, Reply string
	Options     Options
}

// errBatch is what a damaged batch gives.
var errBatch = errors.New("math batch is damaged")

// AppendQuestions encodes a batch for the guest: every field as its length and
// its bytes.
func AppendQuestions(b []byte, qs []Question) []byte {
	b = binary.AppendUvarint(b, uint64(len(qs)))
	for _, q := range qs {
		b = appendString(appendString(b, q.Gold), q.Reply)
		var strict byte
		if q.Options.StrictInteger {
			strict = 1
		}
		b = append(b, strict)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(q.Options.Tolerance))
	}
	return b
}

// ServeBatch judges an encoded batch and encodes the results. It is what the
// guest does with its input.
func ServeBatch(in []byte) ([]byte, error) {
	d := &decoder{b: in}
	n := d.uvarint()
	out := binary.AppendUvarint(nil, n)
	for range n {
		q := Question{Gold: d.string(), Reply: d.string()}
		q.Options.StrictInteger = d.byte() == 1
		q.Options.Tolerance = math.Float64frombits(d.uint64())
		if d.bad {
			return nil, errBatch
		}
		r := Judge(q.Gold, q.Reply, q.Options)
		out = appendString(appendString(appendString(out, string(r.Outcome)), r.Extracted), r.Rule)
	}
	return out, nil
}

// ReadResults decodes the results of n questions.
func ReadResults(b []byte, n int) ([]Result, error) {
	d := &decoder{b: b}
	if d.uvarint() != uint64(n) {
		return nil, errBatch
	}
	out := make([]Result, 0, n)
	for range n {
		r := Result{Outcome: Outcome(d.string()), Extracted: d.string(), Rule: d.string()}
		switch r.Outcome {
		case Equal, Unequal, Undecided, NoAnswer, BadGold:
		default:
			d.bad = true
		}
		out = append(out, r)
	}
	if d.bad || len(d.b) > 0 {
		return nil, errBatch
	}
	return out, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads fields until one is damaged.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt32 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, min(n, 8))
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string {
	n := int(d.uvarint())
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return ""
	}
	return string(d.take(n))
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }
