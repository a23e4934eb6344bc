package wasm

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// section and assemble make modules by hand.
func section(id byte, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(appendUnsigned([]byte{id}, uint64(len(body))), body...)
}

func assemble(sections ...[]byte) []byte {
	return append(append([]byte{}, magic...), bytes.Join(sections, nil)...)
}

// function is a code section with one function (param i32) (result i32) and the
// given local declarations and instructions.
func function(locals, code []byte) []byte {
	body := append(append([]byte{}, locals...), code...)
	return assemble(
		section(secType, []byte{1, 0x60, 1, typeI32, 1, typeI32}),
		section(secFunction, []byte{1, 0}),
		section(secMemory, []byte{1, 0, 1}),
		section(secExport, []byte{1, 1, 'f', 0, 0}),
		section(secCode, []byte{1}, appendUnsigned(nil, uint64(len(body))), body))
}

func code(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call compiles and calls f(arg) with the given fuel.
func call(t *testing.T, module []byte, arg uint64, fuel int64) (result uint64, left int64, err error) {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	mod, err := rt.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	g, ok := mod.ExportedGlobal(FuelExport).(api.MutableGlobal)
	if ok {
		g.Set(uint64(fuel))
	}
	r, err := mod.ExportedFunction("f").Call(ctx, arg)
	if err == nil {
		result = r[0]
	}
	if ok {
		left = int64(g.Get())
	}
	return result, left, err
}

// The function counts its argument down in a loop: (loop (br_if 0 (local.tee 0
// (i32.sub (local.get 0) (i32.const 1))))) (i32.const 7).
const countdown = "03 40 20 00 41 01 6b 22 00 0d 00 0b 41 07 0b"

func TestLoopsPay(t *testing.T) {
	out, err := Rewrite(function([]byte{0}, code(t, countdown)), Options{Fuel: true})
	if err != nil || out.Loops != 1 || out.Entries != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, c := range []struct {
		arg        uint64
		fuel, left int64
		trap       bool
	}{{1, 10, 9, false}, {10, 10, 0, false}, {11, 10, -1, true}, {1000, 10, -1, true}, {1, 0, -1, true}} {
		r, left, err := call(t, out.Module, c.arg, c.fuel)
		if (err != nil) != c.trap || left != c.left || err == nil && r != 7 {
			t.Errorf("f(%d) with fuel %d: %d, %d left, %v", c.arg, c.fuel, r, left, err)
		}
	}
}

func TestFunctionsThatCallPay(t *testing.T) {
	// f(n) = n ? f(n-1) : 7, by (if (result i32))
	b := function([]byte{0}, code(t, "20 00 04 7f 20 00 41 01 6b 10 00 05 41 07 0b 0b"))
	out, err := Rewrite(b, Options{Fuel: true})
	if err != nil || out.Entries != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	if r, left, err := call(t, out.Module, 5, 10); r != 7 || left != 4 || err != nil {
		t.Errorf("%d, %d left, %v", r, left, err)
	}
	if _, left, err := call(t, out.Module, 50, 10); left >= 0 || err == nil {
		t.Errorf("%d left, %v", left, err)
	}
}

func TestBulkOperationsPayByLength(t *testing.T) {
	for name, c := range map[string]string{
		"fill": "41 00 41 01 20 00 fc 0b 00 41 07 0b",
		"copy": "41 00 41 00 20 00 fc 0a 00 00 41 07 0b",
	} {
		// Two locals in two groups, so that the scratch ones come after them.
		out, err := Rewrite(function([]byte{2, 1, typeI64, 1, 0x7d}, code(t, c)), Options{Fuel: true})
		if err != nil {
			t.Fatal(err)
		}
		if r, left, err := call(t, out.Module, 6400, 1000); r != 7 || left != 900 || err != nil {
			t.Errorf("%s: %d, %d left, %v", name, r, left, err)
		}
		if _, left, err := call(t, out.Module, 65536, 1000); left >= 0 || err == nil {
			t.Errorf("%s: %d left, %v", name, left, err)
		}
	}
}

func TestDataIsLifted(t *testing.T) {
	b := assemble(
		section(secCustom, []byte{1, 'x', 1, 2, 3}),
		section(secMemory, []byte{1, 0, 1}),
		section(secGlobal, []byte{1, typeI32, 1, opI32Const, 5, opEnd}),
		section(secData, []byte{2, 0, opI32Const}, appendSigned(nil, 1000), []byte{opEnd, 2, 'h', 'i', 0, opI32Const, 0, opEnd, 1, '!'}))
	out, err := Rewrite(b, Options{LiftData: true, ExportStack: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Segments) != 2 || out.Segments[0].Offset != 1000 || string(out.Segments[0].Data) != "hi" || string(out.Segments[1].Data) != "!" {
		t.Errorf("segments %+v", out.Segments)
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	mod, err := rt.Instantiate(ctx, out.Module)
	if err != nil {
		t.Fatal(err)
	}
	if v := mod.ExportedGlobal(StackExport).Get(); v != 5 {
		t.Errorf("stack pointer %d", v)
	}
}

func TestAStartFunctionDoesNotRunByItself(t *testing.T) {
	b := assemble(
		section(secType, []byte{1, 0x60, 0, 0}),
		section(secFunction, []byte{1, 0}),
		section(secStart, []byte{0}),
		section(secCode, []byte{1, 3, 0, opUnreachable, opEnd}))
	out, err := Rewrite(b, Options{Fuel: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	mod, err := rt.Instantiate(ctx, out.Module)
	if err != nil {
		t.Fatal(err)
	}
	if mod.ExportedFunction(StartExport) == nil {
		t.Error("start function is lost")
	}
}

func TestModulesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		module []byte
		opt    Options
		err    string
	}{
		"empty":             {nil, Options{}, "not a WebAssembly"},
		"other version":     {[]byte("\x00asm\x02\x00\x00\x00"), Options{}, "not a WebAssembly"},
		"cut":               {function([]byte{0}, []byte{opEnd})[:18], Options{}, "unexpected end"},
		"section twice":     {assemble(section(secType, []byte{0}), section(secType, []byte{0})), Options{}, "twice"},
		"unknown section":   {assemble(section(77, []byte{0})), Options{}, "section 77"},
		"tail call":         {function([]byte{0}, []byte{0x12, 0, opEnd}), Options{Fuel: true}, "0x12"},
		"table.grow":        {function([]byte{0}, []byte{opPrefix, 15, 0, opEnd}), Options{Fuel: true}, "0xfc 15"},
		"atomics":           {function([]byte{0}, []byte{0xfe, 0, opEnd}), Options{Fuel: true}, "0xfe"},
		"exceptions":        {function([]byte{0}, []byte{0x06, 0x40, opEnd}), Options{Fuel: true}, "0x6"},
		"huge table":        {assemble(section(secTable, []byte{1, 0x70, 0}, appendUnsigned(nil, 1<<30))), Options{}, "too large"},
		"many locals":       {function(append([]byte{1}, append(appendUnsigned(nil, 1<<31), typeI64)...), []byte{opEnd}), Options{Fuel: true}, "locals"},
		"passive data":      {assemble(section(secData, []byte{1, 1, 0})), Options{LiftData: true}, "not active"},
		"data offset":       {assemble(section(secData, []byte{1, 0, opGlobalGet, 0, opEnd, 0})), Options{LiftData: true}, "not a constant"},
		"no stack pointer":  {assemble(), Options{ExportStack: true}, "no global"},
		"number too long":   {assemble([]byte{secType, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), Options{}, "too long"},
		"bodies don't fit":  {assemble(section(secType, []byte{1, 0x60, 0, 0}), section(secFunction, []byte{2, 0, 0}), section(secCode, []byte{1, 2, 0, opEnd})), Options{Fuel: true}, "1 bodies for 2"},
		"unknown type used": {assemble(section(secType, []byte{0}), section(secFunction, []byte{1, 3})), Options{}, "unknown type"},
	} {
		if _, err := Rewrite(c.module, c.opt); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, expected %q", name, err, c.err)
		}
	}
}

func TestNumbersRoundTrip(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63} {
		r := &reader{b: appendSigned(nil, v)}
		if got := r.signed(64); got != v || r.err != nil {
			t.Errorf("%d became %d, %v", v, got, r.err)
		}
		u := &reader{b: appendUnsigned(nil, uint64(v))}
		if got := u.unsigned(64); got != uint64(v) || u.err != nil {
			t.Errorf("%d became %d, %v", uint64(v), got, u.err)
		}
	}
}

// FuzzRewrite feeds malformed modules. What is accepted must stay a module that
// the engine either compiles or refuses, without a panic.
func FuzzRewrite(f *testing.F) {
	f.Add(function([]byte{0}, []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 7, 0x0b}))
	f.Add(function([]byte{1, 2, typeI64}, []byte{0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 10, 0, 0, 0x41, 7, 0x0b}))
	f.Add(assemble(section(secImport, []byte{1, 1, 'a', 1, 'b', 3, typeI32, 0}), section(secData, []byte{1, 0, opI32Const, 0, opEnd, 1, 'x'})))
	f.Add(assemble(section(secTable, []byte{1, 0x70, 1, 1, 2}), section(secStart, []byte{0})))
	f.Add(function([]byte{0}, []byte{0xfd, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x1a, 0x41, 0, 0x0b}))
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := Rewrite(b, Options{Fuel: true, LiftData: len(b)%2 == 0, ExportStack: len(b)%3 == 0})
		if err != nil {
			return
		}
		if len(out.Module) > 64*len(b)+1024 {
			t.Errorf("%d bytes became %d", len(b), len(out.Module))
		}
		before, after := compiles(ctx, b), compiles(ctx, out.Module)
		if before && !after && !bytes.Contains(b, []byte("troupe.")) {
			t.Errorf("a valid module became an invalid one")
		}
	})
}

func compiles(ctx context.Context, b []byte) bool {
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	_, err := rt.CompileModule(ctx, b)
	return err == nil
}
