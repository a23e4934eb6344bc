package main

import (
	"fmt"
	"slices"
)

// vec writes the body of a row kernel in one instruction set. The lanes of a
// block of sixteen elements lie in 16·4/size registers; the body is written once
// for each of them (part).
type vec struct {
	*file
	k      *rowKernel
	r      string          // register letter
	size   int             // bytes per register
	part   int             // which of the registers of a block
	masked bool            // the tail of the row
	next   int             // next free register
	here   int             // register for scalars read where they are used, or -1
	stored map[string]bool // slices the body has written
}

var pointers = []string{"SI", "DI", "DX", "BX", "R8", "R9"}

func (v *vec) parts() int       { return 64 / v.size }
func (v *vec) reg(i int) string { return fmt.Sprintf("%s%d", v.r, i) }
func (v *vec) fixed() int       { return len(v.resident()) + len(v.k.lanes)*v.parts() }
func (v *vec) lane(n string) string {
	return v.reg(len(v.resident()) + slices.Index(v.k.lanes, n)*v.parts() + v.part)
}

// resident lists the scalars kept in registers; a kernel with many of them reads
// them where they are used.
func (v *vec) resident() []string {
	if len(v.k.scalars) > 5 {
		return nil
	}
	return v.k.scalars
}

func (v *vec) scalar(n string) string { return v.reg(slices.Index(v.k.scalars, n)) }

func (v *vec) scalarHere(n string) string {
	if v.here < 0 {
		v.here = v.next
		v.next++
	}
	if v.r == "V" {
		v.p("\tFMOVS %s+%d(FP), F%d\n\tVDUP V%[3]d.S[0], V%[3]d.S4", n, v.argument(n), v.here)
		return v.reg(v.here)
	}
	v.p("\tVBROADCASTSS %s+%d(FP), %s", n, v.argument(n), v.reg(v.here))
	return v.reg(v.here)
}

// argument is the frame offset of a parameter: n, pointers, then scalars.
func (v *vec) argument(n string) int {
	return v.scalarsAt() + 4*slices.Index(v.k.scalars, n)
}

// scalarsAt is the frame offset of the first scalar; arm64 has one pointer more.
func (v *vec) scalarsAt() int {
	if v.r == "V" {
		return 16 + 8*len(v.k.slices)
	}
	return 8 + 8*len(v.k.slices)
}

func (v *vec) temp() string {
	v.next++
	return v.reg(v.next - 1)
}

func (v *vec) address(slice string) string {
	return fmt.Sprintf("%d(%s)(AX*1)", v.part*v.size, pointers[slices.Index(v.k.slices, slice)])
}

func (v *vec) load(slice string) string {
	t := v.temp()
	switch {
	case v.r == "V":
		v.p("\tFMOVQ %d(R%d), F%d", 16*v.part, 1+slices.Index(v.k.slices, slice), regNumber(t))
	case !v.masked:
		v.p("\tVMOVUPS %s, %s", v.address(slice), t)
	case v.r == "Z":
		v.p("\tVMOVUPS.Z %s, K1, %s", v.address(slice), t)
	default:
		v.p("\tVMASKMOVPS %s, Y%d, %s", v.address(slice), 14+v.part, t)
	}
	return t
}

func (v *vec) store(slice, t string) {
	if v.stored == nil {
		v.stored = map[string]bool{}
	}
	v.stored[slice] = true
	switch {
	case v.r == "V":
		v.p("\tFMOVQ F%d, %d(R%d)", regNumber(t), 16*v.part, 1+slices.Index(v.k.slices, slice))
	case !v.masked:
		v.p("\tVMOVUPS %s, %s", t, v.address(slice))
	case v.r == "Z":
		v.p("\tVMOVUPS %s, K1, %s", t, v.address(slice))
	default:
		v.p("\tVMASKMOVPS %s, Y%d, %s", t, 14+v.part, v.address(slice))
	}
}

func (v *vec) mul(d, a, b string) { v.binary("VMULPS", 0x6e20dc00, d, a, b) }
func (v *vec) add(d, a, b string) { v.binary("VADDPS", 0x4e20d400, d, a, b) }
func (v *vec) sub(d, a, b string) { v.binary("VSUBPS", 0x4ea0d400, d, a, b) }
func (v *vec) div(d, a, b string) { v.binary("VDIVPS", 0x6e20fc00, d, a, b) }

// binary writes d = a op b, for arm64 as a word.
func (v *vec) binary(op string, code uint32, d, a, b string) {
	if v.r == "V" {
		v.word(code, "F"+op[1:4], d, a, b)
		return
	}
	v.p("\t%s %s, %s, %s", op, b, a, d)
}

func (v *vec) sqrt(d, a string) {
	if v.r == "V" {
		v.word2(0x6ea1f800, "FSQRT", d, a)
		return
	}
	v.p("\tVSQRTPS %s, %s", a, d)
}

func (v *vec) fma(d, a, b, c string)  { v.fused("VFMADD", d, a, b, c) }  // a·b + c
func (v *vec) fnma(d, a, b, c string) { v.fused("VFNMADD", d, a, b, c) } // c - a·b
func (v *vec) fms(d, a, b, c string)  { v.fused("VFMSUB", d, a, b, c) }  // a·b - c

// fused picks the form whose overwritten operand is d, which must be one of the
// operands or another register.
func (v *vec) fused(op, d, a, b, c string) {
	if v.r == "V" {
		v.neonFused(op, d, a, b, c)
		return
	}
	switch d {
	case c:
		v.p("\t%s231PS %s, %s, %s", op, b, a, d)
	case a:
		v.p("\t%s213PS %s, %s, %s", op, c, b, d)
	case b:
		v.p("\t%s213PS %s, %s, %s", op, c, a, d)
	default:
		panic("fused: the result overwrites no operand")
	}
}

func (v *vec) zero() string {
	t := v.temp()
	v.clear(t)
	return t
}

func (v *vec) clear(t string) {
	switch v.r {
	case "Z":
		v.p("\tVPXORD %[1]s, %[1]s, %[1]s", t)
	case "Y":
		v.p("\tVXORPS %[1]s, %[1]s, %[1]s", t)
	default:
		v.p("\tVEOR %[1]s.B16, %[1]s.B16, %[1]s.B16", t)
	}
}

// constants are stored as eight copies each.
var constants = []struct{ name, value string }{
	{"one", "1.0"}, {"log2e", "1.44269504"}, {"negLn2High", "-0.693359375"}, {"negLn2Low", "2.12194440e-4"},
	{"c7", "1.9875691500e-4"}, {"c6", "1.3981999507e-3"}, {"c5", "8.3334519073e-3"}, {"c4", "4.1665795894e-2"},
	{"c3", "1.6666665459e-1"}, {"c2", "5.0000001201e-1"}, {"expMin", "-87.336544"}, {"expMax", "88.72283"},
}

func (v *vec) constant(name string) string {
	t := v.temp()
	v.constantIn(name, t)
	return t
}

// constantIn loads a constant into a register.
func (v *vec) constantIn(name, t string) {
	if v.r == "V" {
		v.neonConstant(name, t)
		return
	}
	v.p("\tVBROADCASTSS %s, %s // %s", v.constAt(name), t, name)
}

func (v *vec) constAt(name string) string {
	return fmt.Sprintf("rows%s<>+%d(SB)", v.isa(), 4*constantIndex(name))
}

func (v *vec) isa() string {
	switch v.r {
	case "Z":
		return "AVX512"
	case "V":
		return "NEON"
	}
	return "AVX2"
}

// exp returns e**x in a new register and keeps x. It is Exp step by step.
func (v *vec) exp(x string) string {
	n, p, c := v.temp(), v.temp(), v.temp()
	r := v.temp()
	get := func(name string) string {
		v.constantIn(name, c)
		return c
	}
	v.mul(n, x, get("log2e"))
	switch v.r {
	case "Z":
		v.p("\tVRNDSCALEPS $8, %s, %s\n\tVMOVAPS %s, %s", n, n, x, r)
	case "Y":
		v.p("\tVROUNDPS $8, %s, %s\n\tVMOVAPS %s, %s", n, n, x, r)
	default:
		v.word2(0x4e218800, "FRINTN", n, n)
		v.move(r, x)
	}
	v.fma(r, n, get("negLn2High"), r)
	v.fma(r, n, get("negLn2Low"), r)
	v.constantIn("c7", p)
	for _, k := range []string{"c6", "c5", "c4", "c3", "c2", "one"} {
		v.fma(p, p, r, get(k))
	}
	v.fma(p, p, r, c)
	if v.r == "V" {
		v.neonExp2(p, n, r, c, x)
		v.next -= 2
		return p
	}
	if v.r == "Z" {
		v.p("\tVSCALEFPS %s, %s, %s // p·2^n", n, p, p)
		v.p("\tVCMPPS $0x11, %s, %s, K2 // x < expMin", get("expMin"), x)
		v.p("\tVPXORD %[1]s, %[1]s, K2, %[1]s", p)
		v.p("\tVCMPPS $0x1e, %s, %s, K2 // x > expMax", get("expMax"), x)
		v.p("\tVBROADCASTSS infinity<>(SB), K2, %s", p)
		v.next -= 2
		return p
	}
	v.p("\tVCVTPS2DQ %s, %s // p·2^(n>>1)·2^(n-n>>1)", n, n)
	v.p("\tVPSRAD $1, %s, %s\n\tVPSUBD %[2]s, %[1]s, %[1]s", n, r)
	v.p("\tVBROADCASTSS %s, %s // one", v.constAt("one"), c)
	v.p("\tVPSLLD $23, %s, %[1]s\n\tVPADDD %s, %[1]s, %[1]s\n\tVMULPS %[1]s, %[3]s, %[3]s", r, c, p)
	v.p("\tVPSLLD $23, %s, %[1]s\n\tVPADDD %s, %[1]s, %[1]s\n\tVMULPS %[1]s, %[3]s, %[3]s", n, c, p)
	v.p("\tVCMPPS $0x11, %s, %s, %s // x < expMin", get("expMin"), x, n)
	v.p("\tVANDNPS %s, %s, %s", p, n, p)
	v.p("\tVCMPPS $0x1e, %s, %s, %s // x > expMax", get("expMax"), x, n)
	v.p("\tVBROADCASTSS infinity2<>(SB), %s\n\tVBLENDVPS %s, %[1]s, %[3]s, %[3]s", c, n, p)
	v.next -= 2
	return p
}

// sigmoid returns 1/(1+exp(-x)) in a new register and keeps x.
func (v *vec) sigmoid(x string) string {
	t := v.zero()
	v.sub(t, t, x)
	e := v.exp(t)
	v.constantIn("one", t)
	v.add(e, t, e)
	v.div(t, t, e)
	return t
}

// begin sets the lanes: zero, or the first element where the largest is wanted.
func (v *vec) begin() {
	for _, n := range v.k.lanes {
		for v.part = range v.parts() {
			if v.k.name == "Max" {
				v.p("\tVBROADCASTSS (SI), %s", v.lane(n))
			} else {
				v.clear(v.lane(n))
			}
		}
	}
}

// fold reduces the sixteen lanes of each sum, l+8, l+4, l+2, l+1, and returns them.
func (v *vec) fold() {
	op := "VADDPS"
	if v.k.name == "Max" {
		op = "VMAXPS"
	}
	t := v.fixed()
	for i, n := range v.k.lanes {
		v.part = 0
		var s int
		fmt.Sscanf(v.lane(n)[1:], "%d", &s)
		if v.r == "Z" {
			v.p("\tVEXTRACTF64X4 $1, Z%d, Y%d\n\t%s Y%[2]d, Y%[1]d, Y%[1]d", s, t, op)
		} else {
			v.p("\t%s Y%d, Y%d, Y%d", op, s+1, s, s)
		}
		v.p("\tVEXTRACTF128 $1, Y%d, X%d\n\t%s X%[2]d, X%[1]d, X%[1]d", s, t, op)
		v.p("\tVPERMILPD $1, X%d, X%d\n\t%s X%[2]d, X%[1]d, X%[1]d", s, t, op)
		v.p("\tVMOVSHDUP X%d, X%d\n\t%s X%[2]d, X%[1]d, X%[1]d", s, t, op)
		v.p("\tVMOVSS X%d, %s+%d(FP)", s, n, v.results()+4*i)
	}
}

// results is the frame offset of the first result.
func (v *vec) results() int {
	return (v.scalarsAt() + 4*len(v.k.scalars) + 7) &^ 7
}

// max keeps the larger of lane s and x; lanes beyond the row keep s.
func (v *vec) max(s, x string) {
	switch {
	case v.r == "V":
		v.word(0x4e20f400, "FMAX", s, s, x)
	case !v.masked:
		v.p("\tVMAXPS %s, %s, %s", x, s, s)
	case v.r == "Z":
		v.p("\tVMAXPS %s, %s, K1, %s", x, s, s)
	default:
		v.p("\tVBLENDVPS Y%d, %s, %s, %s\n\tVMAXPS %[4]s, %[3]s, %[3]s", 14+v.part, x, s, x)
	}
}

// valid zeroes the lanes beyond the row.
func (v *vec) valid(e string) {
	switch {
	case !v.masked:
	case v.r == "V":
		t := v.temp()
		v.p("\tFMOVQ %d(R12), F%d", 64*len(v.k.slices)+16*v.part, regNumber(t))
		v.word(0x4e201c00, "AND", e, e, t)
	case v.r == "Z":
		v.p("\tVMOVAPS.Z %s, K1, %s", e, e)
	default:
		v.p("\tVANDPS %s, Y%d, %s", e, 14+v.part, e)
	}
}
