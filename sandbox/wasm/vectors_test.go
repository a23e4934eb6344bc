package wasm

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// Lengths of vectors that the bytes behind them can't hold, wherever the compiler
// would make room for them at once.
func TestVectorsThatDoNotFit(t *testing.T) {
	many := appendUnsigned(nil, 1<<28)
	offset := []byte{opI32Const, 0, opEnd}
	for name, s := range map[string][]byte{
		"types":               section(secType, many),
		"imports":             section(secImport, many),
		"a module's name":     section(secImport, []byte{1}, many),
		"functions":           section(secFunction, many),
		"tables":              section(secTable, many),
		"memories":            section(secMemory, many),
		"globals":             section(secGlobal, many),
		"exports":             section(secExport, many),
		"an export's name":    section(secExport, []byte{1}, many),
		"elements":            section(secElement, many),
		"a segment's indices": section(secElement, []byte{1, 0}, offset, many),
		"its expressions":     section(secElement, []byte{1, 4}, offset, many),
		"a passive segment":   section(secElement, []byte{1, 1, 0}, many),
		"bodies":              section(secCode, many),
		"data":                section(secData, many),
		"data of a segment":   section(secData, []byte{1, 0}, offset, many),
		"passive data":        section(secData, []byte{1, 1}, many),
	} {
		_, err := Rewrite(assemble(s), Options{Fuel: true})
		if err == nil || !strings.Contains(err.Error(), "unexpected end") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// What the walk over sections takes for a module must be what the compiler does.
func TestAllFormsOfSegmentsAndConstants(t *testing.T) {
	ctx := context.Background()
	index := []byte{1, 0} // of function 0
	refs := []byte{2, 0xd2, 0, opEnd, 0xd0, 0x70, opEnd}
	zero := []byte{opI32Const, 0, opEnd}
	base := [][]byte{section(secType, []byte{1, 0x60, 0, 0}), section(secFunction, []byte{1, 0}), section(secTable, []byte{1, 0x70, 0, 4}), section(secMemory, []byte{1, 0, 1})}
	code := section(secCode, []byte{1, 2, 0, opEnd})
	for form, body := range [][]byte{
		join([]byte{1, 0}, zero, index), join([]byte{1, 1, 0}, index), join([]byte{1, 2, 0}, zero, []byte{0}, index), join([]byte{1, 3, 0}, index),
		join([]byte{1, 4}, zero, refs), join([]byte{1, 5, 0x70}, refs), join([]byte{1, 6, 0}, zero, []byte{0x70}, refs), join([]byte{1, 7, 0x70}, refs),
	} {
		mustStayValid(ctx, t, fmt.Sprintf("element form %d", form), append(base, section(secElement, body), code)...)
	}
	for form, body := range [][]byte{join([]byte{1, 0}, zero, []byte{1, 'x'}), {1, 1, 1, 'x'}, join([]byte{1, 2, 0}, zero, []byte{1, 'x'})} {
		mustStayValid(ctx, t, fmt.Sprintf("data form %d", form), append(base, code, section(secData, body))...)
	}
	globals := []byte{5,
		typeI32, 0, opI32Const, 0x7f, opEnd,
		typeI64, 0, opI64Const, 0x80, 0x7f, opEnd,
		0x7d, 0, 0x43, 0, 0, 0x80, 0x3f, opEnd,
		0x7c, 0, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, opEnd,
		0x70, 0, 0xd0, 0x70, opEnd}
	mustStayValid(ctx, t, "globals", append(base, section(secGlobal, globals), code)...)
	vector := append([]byte{1, 0x7b, 0, opVector, 12}, append(make([]byte, 16), opEnd)...)
	mustStayValid(ctx, t, "vector", append(base, section(secGlobal, vector), code)...)
}

func join(parts ...[]byte) []byte {
	var o []byte
	for _, p := range parts {
		o = append(o, p...)
	}
	return o
}

func mustStayValid(ctx context.Context, t *testing.T, name string, sections ...[]byte) {
	t.Helper()
	b := assemble(sections...)
	if !compiles(ctx, b) {
		t.Errorf("%s: the module is no module", name)
		return
	}
	out, err := Rewrite(b, Options{Fuel: true})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if !compiles(ctx, out.Module) {
		t.Errorf("%s: invalid after the rewriting", name)
	}
}
