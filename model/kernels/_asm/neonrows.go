package main

import (
	"fmt"
	"slices"
	"strings"
)

// The row kernels of arm64. The assembler doesn't know most vector arithmetic, so
// it is written as words; the last, partial block is read from and written to a
// padded copy that the wrapper makes.

const neonScratch = "V31" // for fused operations that overwrite no operand

func regNumber(r string) int {
	var n int
	fmt.Sscanf(r[1:], "%d", &n)
	return n
}

// word writes a three-register instruction.
func (v *vec) word(code uint32, name, d, n, m string) {
	code |= uint32(regNumber(d) | regNumber(n)<<5 | regNumber(m)<<16)
	v.p("\tWORD $%#08x // %s %s, %s, %s", code, name, d, n, m)
}

// word2 writes a two-register instruction.
func (v *vec) word2(code uint32, name, d, n string) {
	v.p("\tWORD $%#08x // %s %s, %s", code|uint32(regNumber(d)|regNumber(n)<<5), name, d, n)
}

func (v *vec) move(d, s string) {
	if d != s {
		v.word(0x4ea01c00, "MOV", d, s, s)
	}
}

// neonFused is d = c ± a·b, or a·b - c.
func (v *vec) neonFused(op, d, a, b, c string) {
	t := d
	if d != c || op == "VFMSUB" {
		t = neonScratch
		if op == "VFMSUB" {
			v.word2(0x6ea0f800, "FNEG", t, c)
		} else {
			v.move(t, c)
		}
	}
	if op == "VFNMADD" {
		v.word(0x4ea0cc00, "FMLS", t, a, b)
	} else {
		v.word(0x4e20cc00, "FMLA", t, a, b)
	}
	v.move(d, t)
}

// neonExp2 multiplies p by 2^n in two halves and settles the ends of the range.
func (v *vec) neonExp2(p, n, r, c, x string) {
	v.word2(0x4ea1b800, "FCVTZS", n, n)
	v.word2(0x4f3f0400, "SSHR $1", r, n)
	v.word(0x6ea08400, "SUB", n, n, r)
	v.neonConstant("one", c)
	for _, half := range []string{r, n} {
		v.word2(0x4f375400, "SHL $23", half, half)
		v.word(0x4ea08400, "ADD", half, half, c)
		v.word(0x6e20dc00, "FMUL", p, p, half)
	}
	v.neonConstant("expMin", c)
	v.word(0x6ea0e400, "FCMGT", n, c, x)
	v.word(0x4e601c00, "BIC", p, p, n)
	v.neonConstant("expMax", c)
	v.word(0x6ea0e400, "FCMGT", n, x, c)
	v.neonConstant("infinity", c)
	v.word(0x6e601c00, "BSL", n, c, p)
	v.move(p, n)
}

func (v *vec) neonConstant(name, t string) {
	v.p("\tFMOVQ %d(R13), F%d // %s", 16*constantIndex(name), regNumber(t), name)
}

func constantIndex(name string) int {
	for i, c := range constants {
		if c.name == name {
			return i
		}
	}
	if name == "infinity" {
		return len(constants)
	}
	panic("no constant " + name)
}

// neonFold returns the folded sums.
func (v *vec) neonFold() {
	code, op := uint32(0x4e20d400), "FADD"
	if v.k.name == "Max" {
		code, op = 0x4e20f400, "FMAX"
	}
	for i, n := range v.k.lanes {
		lane := func(part int) string { v.part = part; return v.lane(n) }
		s := lane(0)
		v.word(code, op, s, s, lane(2))
		v.word(code, op, lane(1), lane(1), lane(3))
		v.word(code, op, s, s, lane(1))
		for _, by := range []uint32{8, 4} {
			v.word(0x6e000000|by<<11, fmt.Sprintf("EXT $%d", by), neonScratch, s, s)
			v.word(code, op, s, s, neonScratch)
		}
		v.p("\tFMOVS F%d, %s+%d(FP)", regNumber(s), n, v.results()+4*i)
	}
}

// neonWrite writes one row kernel.
func (v *vec) neonWrite() {
	k := v.k
	args := []string{"blocks int"}
	for _, n := range k.slices {
		args = append(args, n+" unsafe.Pointer")
	}
	args = append(args, "tail unsafe.Pointer")
	for _, n := range k.scalars {
		args = append(args, n+" float32")
	}
	v.p("// func row%sNEON(%s)\n// %s", k.name, strings.Join(args, ", "), k.doc)
	size := 16 + 8*len(k.slices) + 4*len(k.scalars)
	if len(k.lanes) > 0 {
		size = v.results() + 4*len(k.lanes)
	}
	v.p("TEXT ·row%sNEON(SB), NOSPLIT, $0-%d", k.name, size)
	v.p("\tMOVD blocks+0(FP), R0\n\tMOVD $rowsNEON<>(SB), R13\n\tMOVD tail+%d(FP), R12", 8+8*len(k.slices))
	for i, n := range k.slices {
		v.p("\tMOVD %s+%d(FP), R%d", n, 8+8*i, 1+i)
	}
	for i, n := range v.resident() {
		v.p("\tFMOVS %s+%d(FP), F%d\n\tVDUP V%[3]d.S[0], V%[3]d.S4", n, v.argument(n), i)
	}
	for _, n := range k.lanes {
		for v.part = range v.parts() {
			v.clear(v.lane(n))
		}
	}
	if k.name == "Max" {
		v.p("\tCMP $0, R0\n\tBEQ first\n\tMOVD R1, R11\n\tB start\nfirst:\n\tMOVD R12, R11\nstart:")
		for v.part = range v.parts() {
			v.p("\tVLD1R (R11), [%s.S4]", v.lane("s"))
		}
	}
	v.p("\tCBZ R0, rest\nloop: // sixteen elements")
	v.neonAll(false)
	for i := range k.slices {
		v.p("\tADD $64, R%d, R%[1]d", 1+i)
	}
	v.p("\tSUB $1, R0, R0\n\tCBNZ R0, loop\nrest: // the padded copies of a partial block\n\tCBZ R12, done")
	for i := range k.slices {
		v.p("\tADD $%d, R12, R%d", 64*i, 1+i)
	}
	v.neonAll(true)
	v.p("done:")
	if len(k.lanes) > 0 {
		v.neonFold()
	}
	v.p("\tRET\n")
}

func (v *vec) neonAll(masked bool) {
	v.masked = masked
	for v.part = range v.parts() {
		v.next, v.here = v.fixed(), -1
		v.k.body(v)
		if v.next > 31 {
			panic(fmt.Sprintf("%s: %d registers", v.k.name, v.next))
		}
	}
}

func neonRows(f *file) {
	v := vec{file: f, r: "V", size: 16}
	f.p("%s\n#include \"textflag.h\"\n", header)
	f.p("// Registers: R0 blocks left, R1-R6 the operands in order, R12 the padded tail, R13 constants.\n")
	all := append(slices.Clone(constants), struct{ name, value string }{"infinity", ""})
	for i, c := range all {
		bits := "0x7f800000"
		if c.value != "" {
			bits = floatBits(c.value)
		}
		for j := range 4 {
			f.p("DATA rowsNEON<>+%d(SB)/4, $%s // %s", 16*i+4*j, bits, c.name)
		}
	}
	f.p("GLOBL rowsNEON<>(SB), RODATA|NOPTR, $%d\n", 16*len(all))
	for i := range rowKernels {
		v.k = &rowKernels[i]
		v.neonWrite()
	}
}

// neonRowStubs declares the row kernels of arm64 and their wrappers.
func neonRowStubs(f *file) {
	f.p("%s\npackage kernels\n\nimport (\n\"math\"\n\"unsafe\"\n)\n", header)
	f.p("func at(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }\n")
	for _, k := range rowKernels {
		probe := vec{file: &file{}, k: &k, r: "V", size: 16}
		probe.neonAll(false)
		params, asm := []string{}, []string{}
		for _, n := range k.slices {
			params = append(params, n+" []float32")
			asm = append(asm, "at("+n+")")
		}
		asm = append(asm, "tail")
		decl := strings.Join(append(slices.Clone(k.slices), "tail"), ", ") + " unsafe.Pointer"
		scalars := k.scalars
		if len(scalars) > 0 {
			decl += ", " + strings.Join(scalars, ", ") + " float32"
		}
		result, ret := "", ""
		if len(k.lanes) > 0 {
			result, ret = "("+strings.Join(k.lanes, ", ")+" float32)", strings.Join(k.lanes, ", ")+" = "
		}
		f.p("//go:noescape\nfunc row%sNEON(blocks int, %s) %s\n", k.name, decl, result)
		for _, n := range scalars {
			params, asm = append(params, n+" float32"), append(asm, n)
		}
		f.p("// neon%s is %s.\nfunc neon%[1]s(%[3]s) %[4]s {", k.name, k.doc, strings.Join(params, ", "), result)
		f.p("n := len(%s)\nwhole := n &^ 15", k.slices[0])
		f.p("var pad [%d][16]float32\nvar tail unsafe.Pointer\nif whole < n {\ntail = unsafe.Pointer(&pad)", len(k.slices)+1)
		for i, n := range k.slices {
			f.p("copy(pad[%d][:], %s[whole:n])", i, n)
		}
		f.p("for i := range n - whole {\npad[%d][i] = math.Float32frombits(math.MaxUint32)\n}", len(k.slices))
		if k.name == "Max" {
			f.p("for i := n - whole; i < 16; i++ {\npad[0][i] = x[0]\n}")
		}
		f.p("}\n%srow%sNEON(n>>4, %s)", ret, k.name, strings.Join(asm, ", "))
		if len(probe.stored) > 0 {
			f.p("if whole < n {")
			for i, n := range k.slices {
				if probe.stored[n] {
					f.p("copy(%s[whole:n], pad[%d][:])", n, i)
				}
			}
			f.p("}")
		}
		if ret != "" {
			f.p("return %s", strings.Join(k.lanes, ", "))
		}
		f.p("}\n")
	}
}
