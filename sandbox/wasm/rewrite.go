package wasm

import (
	"errors"
	"fmt"
)

// The exports that Rewrite adds.
const (
	FuelExport  = "troupe.fuel"  // mutable i64: what is left; below 0 the guest has trapped
	StackExport = "troupe.sp"    // the C stack pointer, global 0
	StartExport = "troupe.start" // the start function, which no longer runs by itself
)

// Options says what Rewrite does beside dropping custom sections and making
// the start function an export.
type Options struct {
	LiftData    bool // take active data segments out, for an image that already holds them
	ExportStack bool // export global 0
	Fuel        bool // make loops, functions and bulk memory operations pay
}

// Segment is an active data segment that was lifted out.
type Segment struct {
	Offset uint32
	Data   []byte // shares the module's memory
}

// Rewritten is a rewritten module.
type Rewritten struct {
	Module   []byte
	Segments []Segment
	Loops    int // loop heads that pay
	Entries  int // function entries that pay
}

// Rewrite rewrites a module. It never panics; a module it does not understand
// is an error.
func Rewrite(b []byte, opt Options) (Rewritten, error) {
	var out Rewritten
	m, err := parse(b)
	if err != nil {
		return out, fmt.Errorf("rewrite module: %w", err)
	}
	steps := []struct {
		wanted bool
		do     func(*Rewritten) error
	}{
		{opt.LiftData, m.liftData},
		{opt.ExportStack, m.exportStack},
		{true, m.exportStart},
		{opt.Fuel, m.addFuel},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		if err := s.do(&out); err != nil {
			return out, fmt.Errorf("rewrite module: %w", err)
		}
	}
	out.Module = m.bytes()
	return out, nil
}

// liftData moves the data section into out. Only active segments at constant
// offsets can be lifted: others would be needed by memory.init.
func (m *module) liftData(out *Rewritten) error {
	body, ok := m.sections[secData]
	if !ok {
		return nil
	}
	r := &reader{b: body}
	for range r.count() {
		if kind := r.u32(); kind != 0 && r.err == nil {
			return errors.New("data section: a segment is not active in memory 0")
		}
		if op := r.byte(); op != opI32Const && r.err == nil {
			return errors.New("data section: an offset is not a constant")
		}
		offset := uint32(r.signed(32))
		if op := r.byte(); op != opEnd && r.err == nil {
			return errors.New("data section: an offset is not a constant")
		}
		out.Segments = append(out.Segments, Segment{offset, r.bytes(uint64(r.u32()))})
	}
	if r.err != nil {
		return fmt.Errorf("data section: %w", r.err)
	}
	delete(m.sections, secData)
	delete(m.sections, secDataCount)
	return nil
}

func (m *module) exportStack(*Rewritten) error {
	if m.imported.globals+m.globals == 0 {
		return errors.New("no stack pointer: the module has no global")
	}
	return m.export(StackExport, 3, 0)
}

func (m *module) exportStart(*Rewritten) error {
	body, ok := m.sections[secStart]
	if !ok {
		return nil
	}
	r := &reader{b: body}
	f := r.u32()
	if r.err != nil {
		return fmt.Errorf("start section: %w", r.err)
	}
	delete(m.sections, secStart)
	return m.export(StartExport, 0, uint64(f))
}

func (m *module) export(name string, kind byte, index uint64) error {
	e := append(appendName(nil, name), kind)
	return m.appendTo(secExport, appendUnsigned(e, index))
}

// addFuel adds the fuel global and rewrites every function body.
func (m *module) addFuel(out *Rewritten) error {
	fuel := uint64(m.imported.globals + m.globals)
	// (global (mut i64) (i64.const 0))
	if err := m.appendTo(secGlobal, []byte{typeI64, 1, opI64Const, 0, opEnd}); err != nil {
		return err
	}
	if err := m.export(FuelExport, 3, fuel); err != nil {
		return err
	}
	code, ok := m.sections[secCode]
	if !ok {
		return nil
	}
	r := &reader{b: code}
	n := r.count()
	if r.err != nil {
		return fmt.Errorf("code section: %w", r.err)
	}
	if n != len(m.functions) {
		return fmt.Errorf("code section: %d bodies for %d functions", n, len(m.functions))
	}
	o := appendUnsigned(make([]byte, 0, len(code)+len(code)/4), uint64(n))
	for i := range n {
		body := r.bytes(uint64(r.u32()))
		if r.err != nil {
			return fmt.Errorf("code section: %w", r.err)
		}
		f := payer{r: reader{b: body}, fuel: fuel, params: uint64(m.params[m.functions[i]])}
		paid, err := f.rewrite()
		if err != nil {
			return fmt.Errorf("function %d: %w", m.imported.functions+i, err)
		}
		out.Loops += f.loops
		out.Entries += f.entries
		o = appendUnsigned(o, uint64(len(paid)))
		o = append(o, paid...)
	}
	m.sections[secCode] = o
	return nil
}
