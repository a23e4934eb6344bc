package wasm

import "fmt"

// The compiler makes room for as many elements as a section says it has before it
// reads them. The functions below walk over the sections that the rewriting itself
// does not take apart, so that no module of a few bytes asks for all memory.

func (m *module) readGlobals(r *reader) {
	m.globals = r.count()
	for range m.globals {
		r.valueType()
		r.byte() // whether it can change
		r.constant()
	}
}

func readExports(r *reader) {
	for range r.count() {
		r.name()
		r.byte()
		r.u32()
	}
}

func readMemories(r *reader) {
	for range r.count() {
		readLimits(r)
	}
}

// readElements reads segments of all eight forms: bit 0 says passive or declared,
// bit 1 (of an active one) that the table is named, bit 2 that elements are
// expressions.
func readElements(r *reader) {
	for range r.count() {
		form := r.u32()
		if form > 7 {
			r.fail(fmt.Errorf("element segment of form %d is not supported", form))
			return
		}
		if form&1 == 0 {
			if form&2 != 0 {
				r.u32()
			}
			r.constant()
		}
		expressions := form&4 != 0
		switch {
		case form&3 == 0: // the type goes without saying
		case expressions:
			r.valueType()
		default:
			r.byte()
		}
		for range r.count() {
			if expressions {
				r.constant()
			} else {
				r.u32()
			}
		}
	}
}

func readData(r *reader) {
	for range r.count() {
		form := r.u32()
		switch {
		case form > 2:
			r.fail(fmt.Errorf("data segment of form %d is not supported", form))
			return
		case form == 2:
			r.u32()
			fallthrough
		case form == 0:
			r.constant()
		}
		r.bytes(uint64(r.u32()))
	}
}

// valueType reads a type of a value; two references have a heap type behind them.
func (r *reader) valueType() {
	if t := r.byte(); t == 0x63 || t == 0x64 {
		r.signed(33)
	}
}

// constant reads an expression that is known before the module runs.
func (r *reader) constant() {
	for r.err == nil {
		switch op := r.byte(); {
		case op == opEnd:
			return
		case op == opI32Const:
			r.signed(32)
		case op == opI64Const:
			r.signed(64)
		case op == 0x43: // f32.const
			r.bytes(4)
		case op == 0x44: // f64.const
			r.bytes(8)
		case op == opGlobalGet || op == 0xd2: // ref.func
			r.u32()
		case op == 0xd0: // ref.null
			r.signed(33)
		case op == opVector: // v128.const
			r.u32()
			r.bytes(16)
		case op >= 0x6a && op <= 0x6c || op >= 0x7c && op <= 0x7e: // sums and products
		default:
			r.fail(fmt.Errorf("opcode %#x in a constant", op))
		}
	}
}
