// Package wasm rewrites WebAssembly modules, section by section, so that the
// sandbox can limit and rewind them: custom sections are dropped, data segments
// lifted out, globals exported, and every loop and function made to pay fuel.
package wasm

import (
	"bytes"
	"errors"
	"fmt"
)

// Section ids, in the order in which sections stand in a module.
const (
	secCustom    = 0
	secType      = 1
	secImport    = 2
	secFunction  = 3
	secTable     = 4
	secMemory    = 5
	secGlobal    = 6
	secExport    = 7
	secStart     = 8
	secElement   = 9
	secDataCount = 12
	secCode      = 10
	secData      = 11
)

var order = []byte{secType, secImport, secFunction, secTable, secMemory, secGlobal, secExport, secStart,
	secElement, secDataCount, secCode, secData}

var magic = []byte("\x00asm\x01\x00\x00\x00")

// module is a module taken apart as far as the rewriting needs it.
type module struct {
	sections  map[byte][]byte // bodies by id, custom sections left out
	params    []int           // number of parameters by type
	functions []uint32        // type by defined function
	imported  struct{ functions, globals int }
	globals   int // defined ones
}

// parse takes b apart. It checks what the rewriting relies on; the compiler
// validates the rest afterwards.
func parse(b []byte) (*module, error) {
	if !bytes.HasPrefix(b, magic) {
		return nil, errors.New("not a WebAssembly 1 module")
	}
	m := &module{sections: map[byte][]byte{}}
	r := &reader{b: b, at: len(magic)}
	for r.more() {
		id := r.byte()
		body := r.bytes(uint64(r.u32()))
		if r.err != nil {
			break
		}
		if id == secCustom {
			continue
		}
		if !bytes.Contains(order, []byte{id}) {
			return nil, fmt.Errorf("section %d is not supported", id)
		}
		if _, twice := m.sections[id]; twice {
			return nil, fmt.Errorf("section %d stands twice", id)
		}
		m.sections[id] = body
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, step := range []struct {
		name string
		id   byte
		read func(*reader)
	}{
		{"type", secType, m.readTypes}, {"import", secImport, m.readImports},
		{"function", secFunction, m.readFunctions}, {"table", secTable, readTables},
		{"memory", secMemory, readMemories}, {"global", secGlobal, m.readGlobals}, {"export", secExport, readExports},
		{"element", secElement, readElements}, {"data", secData, readData},
	} {
		body, ok := m.sections[step.id]
		if !ok {
			continue
		}
		r := &reader{b: body}
		if step.read(r); r.err != nil {
			return nil, fmt.Errorf("%s section: %w", step.name, r.err)
		}
	}
	return m, nil
}

func (m *module) readTypes(r *reader) {
	for range r.count() {
		if form := r.byte(); form != 0x60 && r.err == nil {
			r.fail(fmt.Errorf("type form %#x is not supported", form))
			return
		}
		n := r.count()
		r.bytes(uint64(n))
		m.params = append(m.params, n)
		r.bytes(uint64(r.count()))
	}
}

func (m *module) readImports(r *reader) {
	for range r.count() {
		r.name()
		r.name()
		switch kind := r.byte(); kind {
		case 0:
			r.u32()
			m.imported.functions++
		case 1:
			r.byte()
			readLimits(r)
		case 2:
			readLimits(r)
		case 3:
			r.bytes(2)
			m.imported.globals++
		default:
			r.fail(fmt.Errorf("import kind %d is not supported", kind))
			return
		}
	}
}

func readLimits(r *reader) (low uint64) {
	flags := r.byte()
	low = r.unsigned(64)
	if flags&1 != 0 {
		r.unsigned(64)
	}
	return low
}

func (m *module) readFunctions(r *reader) {
	for range r.count() {
		t := r.u32()
		if int(t) >= len(m.params) {
			r.fail(fmt.Errorf("function of unknown type %d", t))
			return
		}
		m.functions = append(m.functions, t)
	}
}

// maxTable bounds what a module can make the host allocate for tables.
const maxTable = 1 << 20

func readTables(r *reader) {
	n := r.count()
	if n > 16 {
		r.fail(fmt.Errorf("%d tables are too many", n))
	}
	for range n {
		r.byte()
		if low := readLimits(r); low > maxTable {
			r.fail(fmt.Errorf("table of %d elements is too large", low))
		}
	}
}

// bytes puts the module together again.
func (m *module) bytes() []byte {
	n := len(magic)
	for _, s := range m.sections {
		n += len(s) + 6
	}
	o := append(make([]byte, 0, n), magic...)
	for _, id := range order {
		if body, ok := m.sections[id]; ok {
			o = append(o, id)
			o = appendUnsigned(o, uint64(len(body)))
			o = append(o, body...)
		}
	}
	return o
}

// appendTo adds an element to a section that is a vector, making the section
// if the module has none.
func (m *module) appendTo(id byte, element []byte) error {
	body, ok := m.sections[id]
	if !ok {
		m.sections[id] = append([]byte{1}, element...)
		return nil
	}
	r := &reader{b: body}
	n := r.u32()
	if r.err != nil {
		return fmt.Errorf("section %d: %w", id, r.err)
	}
	o := appendUnsigned(make([]byte, 0, len(body)+len(element)+1), uint64(n)+1)
	o = append(o, body[r.at:]...)
	m.sections[id] = append(o, element...)
	return nil
}
