package main

import "fmt"

// amxKernel writes one AMX kernel: a row panel of A, in one or two tiles of up to
// 16 rows, times panels of B, in one or two tiles of up to 16 columns. Sums are in
// tiles 0 to 3 (row by row), A in 4 and 5, B in 6 and 7.
type amxKernel struct {
	*file
	rows, cols int  // in tiles
	parts      int  // of A
	stream     bool // B comes from memory: prefetch it, otherwise the next block of A
}

// amxKernels lists the kernels in the order of the table that amxStubs writes.
func amxKernels(f *file) (all []amxKernel) {
	for rows := 1; rows <= 2; rows++ {
		for cols := 1; cols <= 2; cols++ {
			for _, parts := range []int{1, 3} {
				for _, stream := range []bool{false, true} {
					all = append(all, amxKernel{f, rows, cols, parts, stream})
				}
			}
		}
	}
	return all
}

func (k *amxKernel) name() string {
	return fmt.Sprintf("tilesAMX%dx%dParts%d%s", k.rows, k.cols, k.parts, map[bool]string{false: "Near", true: "Stream"}[k.stream])
}

const amxRegisters = `#include "go_asm.h"
#include "textflag.h"

// Registers of every kernel; BX has the address of the tileCall.
#define STEPS CX // blocks of 32 k left
#define A SI
#define B DX
#define IN DI // sums so far, or nil
#define OUT R9
#define PANELS R10 // of B left
#define AHEAD R11 // what to prefetch next
#define ROWA R12 // bytes of a row of A's tiles
#define ROWB R13 // and of B's
#define PART R8 // bytes from one part of A to the next
`

func amxFile(f *file) {
	f.p("%s\n%s", header, amxRegisters)
	for _, k := range amxKernels(f) {
		k.write()
	}
	tileConversion(f)
}

func (k *amxKernel) write() {
	k.p("// func %s(c *tileCall)", k.name())
	k.p("TEXT ·%s(SB), NOSPLIT, $0-8\n\tMOVQ c+0(FP), BX\n\tMOVQ tileCall_config(BX), AX", k.name())
	k.e(ldtilecfg(memory{base: "AX"}))
	for _, a := range [][2]string{{"panels", "PANELS"}, {"b", "B"}, {"partStep", "PART"}, {"ahead", "AHEAD"}} {
		k.p("\tMOVQ tileCall_%s(BX), %s", a[0], a[1])
	}
	k.p("\tMOVQ (tileCall_in+tileSums_at)(BX), IN\n\tMOVQ (tileCall_out+tileSums_at)(BX), OUT\n\tMOVQ $64, ROWA\n\tMOVQ $128, ROWB")
	k.p("panel: // one panel of B\n\tTESTQ IN, IN\n\tJZ zero")
	k.sums("in", "IN", "DI", func(t int, m memory) { k.e(tileloadd(m, t)) })
	k.p("\tMOVQ (tileCall_in+tileSums_next)(BX), AX\n\tADDQ AX, IN\n\tJMP start\nzero:")
	k.each(func(t int) { k.e(tilezero(t)) })
	k.p("start:\n\tMOVQ tileCall_steps(BX), STEPS\n\tMOVQ tileCall_a(BX), A\n\tPCALIGN $32\nblock: // 32 values of k")
	k.block()
	k.p("\tADDQ $2048, B\n\tDECQ STEPS\n\tJNZ block")
	k.sums("out", "OUT", "R9", func(t int, m memory) { k.e(tilestored(t, m)) })
	k.p("\tMOVQ (tileCall_out+tileSums_next)(BX), AX\n\tADDQ AX, OUT")
	k.p("\tMOVQ tileCall_panelStep(BX), AX\n\tADDQ AX, B\n\tDECQ PANELS\n\tJNZ panel")
	k.e(tilerelease())
	k.p("\tRET\n")
}

// each calls f for the tiles of sums in use.
func (k *amxKernel) each(f func(t int)) {
	for r := range k.rows {
		for c := range k.cols {
			f(2*r + c)
		}
	}
}

// sums calls f for the tiles of sums and where they are in memory; at, which is the
// machine's register reg, points to the first.
func (k *amxKernel) sums(side, at, reg string, f func(t int, m memory)) {
	load := func(field, to string) { k.p("\tMOVQ (tileCall_%s+tileSums_%s)(BX), %s", side, field, to) }
	load("row", "AX")
	f(0, memory{base: reg, index: "AX"})
	if k.cols == 2 {
		load("right", "A")
		k.p("\tADDQ %s, A", at)
		f(1, memory{base: "SI", index: "AX"})
	}
	if k.rows == 2 {
		load("down", "STEPS")
		if k.cols == 2 {
			k.p("\tADDQ STEPS, A")
		}
		k.p("\tADDQ %s, STEPS", at)
		f(2, memory{base: "CX", index: "AX"})
		if k.cols == 2 {
			f(3, memory{base: "SI", index: "AX"})
		}
	}
}

// block adds 32 values of k. B is loaded past the first-level cache, where A's
// row panel stays; the prefetches stand between the other instructions.
func (k *amxKernel) block() {
	fetch := k.prefetches()
	slots := k.parts * (1 + k.rows + k.rows*k.cols)
	per := (len(fetch) + slots - 1) / slots
	e := func(code []int, text string) {
		k.e(code, text)
		n := min(per, len(fetch))
		for _, p := range fetch[:n] {
			k.p("\t%s", p)
		}
		fetch = fetch[n:]
	}
	for part := range k.parts {
		if part == 0 {
			e(tileloaddt1(memory{base: "DX", index: "R13"}, 6))
		}
		e(tileloadd(memory{base: "SI", index: "R12"}, 4))
		e(tdpbf16ps(6, 4, 0))
		if k.cols == 2 {
			if part == 0 {
				e(tileloaddt1(memory{base: "DX", index: "R13", disp: 64}, 7))
			}
			e(tdpbf16ps(7, 4, 1))
		}
		if k.rows == 2 {
			e(tileloadd(memory{base: "SI", index: "R12", disp: 1024}, 5))
			if k.cols == 2 {
				e(tdpbf16ps(7, 5, 3))
			}
			e(tdpbf16ps(6, 5, 2))
		}
		k.p("\tADDQ PART, A")
	}
	for _, p := range fetch {
		k.p("\t%s", p)
	}
	if k.stream {
		k.p("\tADDQ $2048, AHEAD")
	} else {
		k.p("\tADDQ $128, AHEAD")
	}
}

// prefetches lists what a block fetches ahead: its share of the next block of A, or
// all of a later block of B.
func (k *amxKernel) prefetches() (all []string) {
	lines, apart := 2, 64
	if k.stream {
		lines, apart = 16*k.cols, 128/k.cols
	}
	for l := range lines {
		all = append(all, fmt.Sprintf("PREFETCHT1 %d(AHEAD)", l*apart))
	}
	return all
}

// amxStubs declares the kernels and their table.
func amxStubs(f *file) {
	f.p("%s\npackage kernels\n\nimport \"unsafe\"\n", header)
	for _, k := range amxKernels(f) {
		f.p("//go:noescape\nfunc %s(c *tileCall)\n", k.name())
	}
	f.p("// amxKernels are indexed by tileKernel.")
	f.p("var amxKernels = [...]func(c *tileCall){")
	for _, k := range amxKernels(f) {
		f.p("%s,", k.name())
	}
	f.p("}\n")
	f.p("//go:noescape\nfunc tileBlocksAVX512(dst, x unsafe.Pointer, blocks, parts, step int)")
}

// tileConversion writes the conversion of left operands to rows of tiles.
func tileConversion(f *file) {
	f.p("// func tileBlocksAVX512(dst, x unsafe.Pointer, blocks, parts, step int)")
	f.p("// Converts blocks of 32 floats to one or three tile rows, step bytes apart, the smallest part first.")
	f.p("TEXT ·tileBlocksAVX512(SB), NOSPLIT, $0-40")
	f.p("\tMOVQ dst+0(FP), DI\n\tMOVQ x+8(FP), SI\n\tMOVQ blocks+16(FP), CX\n\tMOVQ parts+24(FP), AX\n\tMOVQ step+32(FP), R8")
	part := func(row string) {
		f.e(vcvtneps2bf16(0, 2))
		f.e(vcvtneps2bf16(1, 3))
		f.p("\tVMOVDQU Y2, (DI)%s\n\tVMOVDQU Y3, 32(DI)%[1]s", row)
	}
	f.p("\tCMPQ AX, $3\n\tJEQ three\none: // a block, one part\n\tVMOVUPS (SI), Z0\n\tVMOVUPS 64(SI), Z1")
	part("")
	f.p("\tADDQ $128, SI\n\tADDQ R8, DI\n\tDECQ CX\n\tJNZ one\n\tVZEROUPPER\n\tRET")
	f.p("three: // a block, three parts, the largest first\n\tVMOVUPS (SI), Z0\n\tVMOVUPS 64(SI), Z1")
	for _, row := range []string{"(R8*2)", "(R8*1)", ""} {
		part(row)
		if row == "" {
			break
		}
		for i := range 2 {
			f.p("\tVPMOVZXWD Y%d, Z%[1]d\n\tVPSLLD $16, Z%[1]d, Z%[1]d\n\tVSUBPS Z%[1]d, Z%[2]d, Z%[2]d // what is left", 2+i, i)
		}
	}
	f.p("\tADDQ $128, SI\n\tLEAQ (R8)(R8*2), AX\n\tADDQ AX, DI\n\tDECQ CX\n\tJNZ three\n\tVZEROUPPER\n\tRET")
}
