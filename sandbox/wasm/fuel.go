package wasm

import (
	"errors"
	"fmt"
)

// The opcodes and types that are emitted or looked for.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opCall        = 0x10
	opIndirect    = 0x11
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI64LessS    = 0x53
	opI64Sub      = 0x7d
	opI64ShrU     = 0x88
	opI64ExtendU  = 0xad
	opPrefix      = 0xfc
	opVector      = 0xfd

	typeI32   = 0x7f
	typeI64   = 0x7e
	blockVoid = 0x40
)

// bulkShift prices bulk memory operations: one tick for 64 bytes, about what
// copying them in a loop would cost.
const bulkShift = 6

// payer rewrites one function body. Every loop head pays one tick, so does the
// entry of every function that calls another (a tree of calls can run as long
// as a loop; a function without loops and calls can't), and bulk memory
// operations pay by length. Who can't pay traps; the host sees that by the
// fuel, which is then below 0.
type payer struct {
	r       reader
	fuel    uint64 // index of the fuel global
	params  uint64 // parameters of the function
	scratch uint64 // index of an i64 local of our own; the next is an i32
	out     []byte
	copied  int // how much of r.b is in out
	loops   int
	entries int
	calls   bool
	bulk    bool
}

func (f *payer) rewrite() ([]byte, error) {
	locals := f.params
	groups := f.r.count()
	start := f.r.at
	for range groups {
		locals += uint64(f.r.u32())
		if typ := f.r.byte(); typ < 0x6f && f.r.err == nil {
			return nil, fmt.Errorf("local of type %#x", typ)
		}
	}
	if f.r.err != nil {
		return nil, f.r.err
	}
	if locals > 50000 {
		return nil, errors.New("more than 50000 locals")
	}
	f.scratch = locals
	head, code := f.r.b[start:f.r.at], f.r.at
	f.copied = code
	for f.r.more() {
		f.instruction()
	}
	if f.r.err != nil {
		return nil, f.r.err
	}
	rest := append(f.out, f.r.b[f.copied:]...)
	if f.loops == 0 && !f.calls && !f.bulk {
		return f.r.b, nil
	}
	o := appendUnsigned(make([]byte, 0, len(head)+len(rest)+32), uint64(groups)+2)
	o = append(o, head...)
	o = append(o, 1, typeI64, 1, typeI32)
	if f.calls {
		f.entries++
		o = f.pay(o, func(o []byte) []byte { return append(o, opI64Const, 1) })
	}
	return append(o, rest...), nil
}

// pay appends: fuel -= price; if fuel < 0 { unreachable }.
func (f *payer) pay(o []byte, price func([]byte) []byte) []byte {
	o = appendUnsigned(append(o, opGlobalGet), f.fuel)
	o = append(price(o), opI64Sub)
	o = appendUnsigned(append(o, opLocalTee), f.scratch)
	o = appendUnsigned(append(o, opGlobalSet), f.fuel)
	o = appendUnsigned(append(o, opLocalGet), f.scratch)
	return append(o, opI64Const, 0, opI64LessS, opIf, blockVoid, opUnreachable, opEnd)
}

// flush copies what was read so far, up to (not including) position end.
func (f *payer) flush(end int) {
	f.out = append(f.out, f.r.b[f.copied:end]...)
	f.copied = end
}

// payBulk puts the payment before a bulk operation at position at, whose
// length is the top of the operand stack.
func (f *payer) payBulk(at int) {
	f.bulk = true
	f.flush(at)
	f.out = appendUnsigned(append(f.out, opLocalSet), f.scratch+1)
	f.out = f.pay(f.out, func(o []byte) []byte {
		o = appendUnsigned(append(o, opLocalGet), f.scratch+1)
		return append(o, opI64ExtendU, opI64Const, bulkShift, opI64ShrU)
	})
	f.out = appendUnsigned(append(f.out, opLocalGet), f.scratch+1)
}

// instruction reads one instruction and adds what it has to pay.
func (f *payer) instruction() {
	r := &f.r
	at := r.at
	switch op := r.byte(); {
	case op == opLoop:
		r.signed(33)
		f.flush(r.at)
		f.out = f.pay(f.out, func(o []byte) []byte { return append(o, opI64Const, 1) })
		f.loops++
	case op == opCall:
		r.u32()
		f.calls = true
	case op == opIndirect:
		r.u32()
		r.u32()
		f.calls = true
	case op == 0x02 || op == opIf:
		r.signed(33)
	case op == 0x0c || op == 0x0d || op >= 0x20 && op <= 0x26 || op == 0xd2:
		r.u32()
	case op == 0x0e: // br_table
		for range r.count() + 1 {
			r.u32()
		}
	case op == 0x1c: // select with types
		r.bytes(uint64(r.count()))
	case op >= 0x28 && op <= 0x3e: // loads and stores
		r.u32()
		r.unsigned(64)
	case op == 0x3f || op == 0x40 || op == 0xd0:
		r.byte()
	case op == opI32Const:
		r.signed(32)
	case op == opI64Const:
		r.signed(64)
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == opPrefix:
		f.prefixed(at)
	case op == opVector:
		readVector(r)
	case op <= 0x01 || op == 0x05 || op == opEnd || op == 0x0f || op == 0x1a || op == 0x1b ||
		op >= 0x45 && op <= 0xc4 || op == 0xd1:
	default:
		r.fail(fmt.Errorf("instruction %#x is not supported", op))
	}
}

// prefixed reads the rest of an instruction that began with 0xfc at at.
func (f *payer) prefixed(at int) {
	r := &f.r
	switch sub := r.u32(); {
	case sub <= 7: // saturating truncation
	case sub == 8 || sub == 10: // memory.init, memory.copy
		r.u32()
		r.u32()
		f.payBulk(at)
	case sub == 11: // memory.fill
		r.u32()
		f.payBulk(at)
	case sub == 9 || sub == 13 || sub == 16: // data.drop, elem.drop, table.size
		r.u32()
	case sub == 12 || sub == 14: // table.init, table.copy
		r.u32()
		r.u32()
		f.payBulk(at)
	case sub == 17: // table.fill
		r.u32()
		f.payBulk(at)
	default: // table.grow (15) would allocate in the host without a limit
		r.fail(fmt.Errorf("instruction 0xfc %d is not supported", sub))
	}
}

// readVector reads the rest of a SIMD instruction.
func readVector(r *reader) {
	switch sub := r.u32(); {
	case sub <= 11 || sub == 92 || sub == 93: // loads and stores
		r.u32()
		r.unsigned(64)
	case sub == 12 || sub == 13: // constant, shuffle
		r.bytes(16)
	case sub >= 21 && sub <= 34: // lane access
		r.byte()
	case sub >= 84 && sub <= 91: // lane loads and stores
		r.u32()
		r.unsigned(64)
		r.byte()
	case sub > 255:
		r.fail(fmt.Errorf("instruction 0xfd %d is not supported", sub))
	}
}
