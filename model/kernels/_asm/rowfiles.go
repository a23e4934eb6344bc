package main

import (
	"fmt"
	"strings"
)

// write writes one row kernel: the loop over blocks, then the tail.
func (v *vec) write() {
	k := v.k
	args := []string{"n int"}
	for _, n := range k.slices {
		args = append(args, n+" unsafe.Pointer")
	}
	for _, n := range k.scalars {
		args = append(args, n+" float32")
	}
	v.p("// func row%s%s(%s)", k.name, v.isa(), strings.Join(args, ", "))
	v.p("// %s", k.doc)
	size := 8 + 8*len(k.slices) + 4*len(k.scalars)
	if len(k.lanes) > 0 {
		size = v.results() + 4*len(k.lanes)
	}
	v.p("TEXT ·row%s%s(SB), NOSPLIT, $0-%d", k.name, v.isa(), size)
	v.p("\tMOVQ n+0(FP), CX")
	for i, n := range k.slices {
		v.p("\tMOVQ %s+%d(FP), %s", n, 8+8*i, pointers[i])
	}
	for i, n := range v.resident() {
		v.p("\tVBROADCASTSS %s+%d(FP), %s", n, v.argument(n), v.reg(i))
	}
	v.begin()
	v.p("\tXORL AX, AX\n\tSUBQ $16, CX\n\tJLT tail\n\tPCALIGN $32\nloop: // sixteen elements")
	v.all(false)
	v.p("\tADDQ $64, AX\n\tSUBQ $16, CX\n\tJGE loop\ntail: // the last CX+16 elements\n\tADDQ $16, CX\n\tJZ done")
	if v.r == "Z" {
		v.p("\tMOVL $-1, R10\n\tBZHIL CX, R10, R10\n\tKMOVW R10, K1")
	} else {
		v.p("\tNEGQ CX\n\tLEAQ rowMasks<>+64(SB), R10\n\tVMOVDQU (R10)(CX*4), Y14\n\tVMOVDQU 32(R10)(CX*4), Y15")
	}
	v.all(true)
	v.p("done:")
	v.fold()
	v.p("\tVZEROUPPER\n\tRET\n")
}

// all writes the body for every register of a block.
func (v *vec) all(masked bool) {
	v.masked = masked
	for v.part = range v.parts() {
		v.next, v.here = v.fixed(), -1
		v.k.body(v)
		if limit := 16; v.r == "Y" && v.next > limit-2 {
			panic(fmt.Sprintf("%s: %d registers", v.k.name, v.next))
		}
	}
}

func rowsFile(r string, size int) func(*file) {
	return func(f *file) {
		v := vec{file: f, r: r, size: size}
		f.p("%s\n#include \"textflag.h\"\n", header)
		f.p("// Registers: AX byte offset, CX elements left, SI DI DX BX R8 the operands in order.\n")
		for i, c := range constants {
			f.p("DATA rows%s<>+%d(SB)/4, $%s // %s", v.isa(), 4*i, floatBits(c.value), c.name)
		}
		f.p("GLOBL rows%s<>(SB), RODATA|NOPTR, $%d\n", v.isa(), 4*len(constants))
		inf := map[string]string{"Z": "infinity", "Y": "infinity2"}[r]
		f.p("DATA %s<>+0(SB)/4, $0x7f800000\nGLOBL %[1]s<>(SB), RODATA|NOPTR, $4\n", inf)
		if r == "Y" {
			f.maskTable("rowMasks")
		}
		for i := range rowKernels {
			v.k = &rowKernels[i]
			v.write()
		}
	}
}

// rowStubs declares the row kernels of amd64 and their wrappers.
func rowStubs(f *file) {
	f.p("%s\npackage kernels\n\nimport \"unsafe\"\n", header)
	f.p("func at(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }\n")
	for _, k := range rowKernels {
		var params, call, asm, decl []string
		result, ret := "", ""
		if len(k.lanes) > 0 {
			result, ret = "("+strings.Join(k.lanes, ", ")+" float32)", "return "
		}
		for _, n := range k.slices {
			params = append(params, n+" []float32")
			call, asm, decl = append(call, n), append(asm, "at("+n+")"), append(decl, n)
		}
		ptrs := strings.Join(decl, ", ") + " unsafe.Pointer"
		if len(k.scalars) > 0 {
			ptrs += ", " + strings.Join(k.scalars, ", ") + " float32"
		}
		for _, isa := range []string{"AVX512", "AVX2"} {
			f.p("//go:noescape\nfunc row%s%s(n int, %s) %s\n", k.name, isa, ptrs, result)
		}
		for _, n := range k.scalars {
			params, call, asm = append(params, n+" float32"), append(call, n), append(asm, n)
		}
		if k.name == "Adam" || k.name == "Axpy" || k.name == "Scale" {
			continue // their wrappers are written by hand
		}
		lower := strings.ToLower(k.name[:1]) + k.name[1:]
		f.p("// row%s is %s.\nfunc row%[1]s(%[3]s) %[4]s {\nswitch active {", k.name, k.doc, strings.Join(params, ", "), result)
		for _, isa := range []string{"AVX512", "AVX2"} {
			f.p("case %s:\n%srow%s%s(len(%s), %s)", strings.ToLower(isa), ret, k.name, isa, k.slices[0], strings.Join(asm, ", "))
		}
		f.p("default:\n%s%sGeneric(%s)\n}\n}\n", ret, lower, strings.Join(call, ", "))
	}
}
