package main

import "fmt"

// kernel writes one tile kernel for amd64.
type kernel struct {
	*file
	form   form
	h      int    // rows
	v      int    // vectors per row
	size   int    // bytes per vector
	r      string // register letter: Z or Y
	masked bool   // the last (512: only) vector or the whole row is partial
	free   int    // first register after the accumulators
}

const amd64Registers = `#include "textflag.h"

// Registers of every tile kernel.
#define K CX // steps left
#define A0 SI // rows 0-2 of A; A3 … A12 the next ones
#define A3 R9
#define A6 R10
#define A9 R11
#define A12 R12
#define LDA R8
#define B DX
#define LDB R13
#define LDB3 AX // 3·LDB
#define C DI
#define LDC BX
#define AHEAD R15 // what to prefetch next

// One row of a step: its value of A to all lanes, times one or two vectors of B.
#define ROW1(value, x, p, c) VBROADCASTSS value, x; VFMADD231PS p, x, c
#define ROW2(value, x, p, q, c, d) VBROADCASTSS value, x; VFMADD231PS p, x, c; VFMADD231PS q, x, d

`

func (k *kernel) begin(name string) {
	k.p("// func %s(%s)", name, signature)
	k.p("TEXT ·%s(SB), NOSPLIT, $0-80", name)
	for _, a := range [][2]string{{"k+0", "K"}, {"a+8", "A0"}, {"lda+16", "LDA"}, {"b+24", "B"}, {"ldb+32", "LDB"},
		{"c+40", "C"}, {"ldc+48", "LDC"}, {"ahead+64", "AHEAD"}} {
		k.p("\tMOVQ %s(FP), %s", a[0], a[1])
	}
	k.mask()
	k.start(0)
	if k.r == "Z" && k.h > streamRows {
		k.below()
	}
}

// start loads the tile of C into the registers from first on, or clears them.
func (k *kernel) start(first int) {
	k.p("\tMOVQ acc+56(FP), AX\n\tTESTQ AX, AX\n\tJZ zero")
	k.p("\tMOVQ C, AX")
	for i := range k.h {
		for j := range k.v {
			k.load("AX", j*k.size, k.reg(first+i*k.v+j))
		}
		k.p("\tADDQ LDC, AX")
	}
	k.p("\tJMP ready\nzero:")
	k.clear(first, k.h*k.v)
	k.p("ready:")
}

// clear sets n registers from first on to zero.
func (k *kernel) clear(first, n int) {
	for i := range n {
		k.p("\t%s %[2]s, %[2]s, %[2]s", k.xor(), k.reg(first+i))
	}
}

// streamRows is the height up to which a tile has time only to pull the stream of
// its own B.
const streamRows = 8

// farRows is the row stride of C, in bytes, from which the next tile's part of it
// is prefetched: closer rows belong to small outputs that are in the cache.
const farRows = 2048

// below prefetches the rows of C under the tile, which the next call will want.
func (k *kernel) below() {
	k.p("\tCMPQ LDC, $%d\n\tJLT near\n\tMOVQ LDC, AX\n\tIMULQ $%d, AX\n\tADDQ C, AX", farRows, k.h)
	for range k.h {
		for j := range k.v {
			k.p("\tPREFETCHT1 %d(AX)", j*k.size)
		}
		k.p("\tADDQ LDC, AX")
	}
	k.p("near:")
}

func (k *kernel) xor() string {
	if k.r == "Z" {
		return "VPXORD"
	}
	return "VXORPS"
}

func (k *kernel) reg(i int) string    { return fmt.Sprintf("%s%d", k.r, i) }
func (k *kernel) acc(i, j int) string { return k.reg(i*k.v + j) }
func (k *kernel) bases() []string     { return []string{"A0", "A3", "A6", "A9", "A12"}[:(k.h+2)/3] }

// row multiplies the value at m, through register x, by the vectors of B from
// register b on and adds to the accumulators from acc on.
func (k *kernel) row(m, x string, b, acc int) {
	if k.v == 1 {
		k.p("\tROW1(%s, %s, %s, %s)", m, x, k.reg(b), k.reg(acc))
		return
	}
	k.p("\tROW2(%s, %s, %s, %s, %s, %s)", m, x, k.reg(b), k.reg(b+1), k.reg(acc), k.reg(acc+1))
}

// mask makes K1 (AVX-512) or Y14 and Y15 (AVX2) select the valid columns.
func (k *kernel) mask() {
	switch {
	case !k.masked:
	case k.r == "Z":
		k.p("\tMOVQ cols+72(FP), AX\n\tMOVL $-1, R9\n\tBZHIL AX, R9, R9\n\tKMOVW R9, K1")
	default:
		k.p("\tMOVQ cols+72(FP), AX\n\tNEGQ AX\n\tLEAQ masks<>+64(SB), R9")
		k.p("\tVMOVDQU (R9)(AX*4), Y14\n\tVMOVDQU 32(R9)(AX*4), Y15")
	}
}

func (k *kernel) load(base string, off int, reg string) {
	k.loadFrom(fmt.Sprintf("%d(%s)", off, base), off/k.size, reg)
}

func (k *kernel) loadFrom(m string, j int, reg string) {
	switch {
	case !k.masked:
		k.p("\tVMOVUPS %s, %s", m, reg)
	case k.r == "Z":
		k.p("\tVMOVUPS.Z %s, K1, %s", m, reg)
	default:
		k.p("\tVMASKMOVPS %s, Y%d, %s", m, 14+j, reg)
	}
}

func (k *kernel) end() {
	for i := range k.h {
		for j := range k.v {
			k.storeTo(i*k.v+j, j, "C")
		}
		k.p("\tADDQ LDC, C")
	}
	k.p("\tVZEROUPPER\n\tRET\n")
}

// storeTo stores a register as vector j of the row at base.
func (k *kernel) storeTo(reg, j int, base string) {
	switch {
	case !k.masked:
		k.p("\tVMOVUPS %s, %d(%s)", k.reg(reg), j*k.size, base)
	case k.r == "Z":
		k.p("\tVMOVUPS %s, K1, %d(%s)", k.reg(reg), j*k.size, base)
	default:
		k.p("\tVMASKMOVPS %s, Y%d, %d(%s)", k.reg(reg), 14+j, j*k.size, base)
	}
}

// rowA is the address of element (i, k+u) of a row-major A.
func (k *kernel) rowA(i, u int) string {
	base := k.bases()[i/3]
	if i%3 == 0 {
		return fmt.Sprintf("%d(%s)", 4*u, base)
	}
	return fmt.Sprintf("%d(%s)(LDA*%d)", 4*u, base, i%3)
}

// rowB is the address of vector j in row k+u of B.
func (k *kernel) rowB(u, j int) string {
	return fmt.Sprintf("%d(B)%s", j*k.size, []string{"", "(LDB*1)", "(LDB*2)", "(LDB3*1)"}[u])
}

// body writes the loops over k: four steps at a time, then one.
func (k *kernel) body() {
	b, br := k.free, k.free+k.v // registers of B and of the broadcast values
	two := br+1 < 32 && k.r == "Z"
	if k.form != tn {
		for n, base := range k.bases()[1:] {
			k.p("\tLEAQ (%s)(LDA*2), %s\n\tADDQ LDA, %[2]s", k.bases()[n], base)
		}
	} else {
		k.p("\tLEAQ (LDA)(LDA*2), A3 // 3·LDA")
	}
	k.p("\tLEAQ (LDB)(LDB*2), LDB3")
	step := func(u int) {
		for j := range k.v {
			k.loadFrom(k.rowB(u, j), j, k.reg(b+j))
		}
		for i := range k.h {
			x := k.reg(br)
			if two && i&1 == 1 {
				x = k.reg(br + 1)
			}
			value := k.rowA(i, u)
			if k.form == tn {
				value = fmt.Sprintf("%d(A0)%s", 4*i, []string{"", "(LDA*1)", "(LDA*2)", "(A3*1)"}[u])
			}
			k.row(value, x, b, i*k.v)
		}
	}
	k.p("\tSUBQ $4, K\n\tJLT tail\n\tPCALIGN $32\nloop: // four steps of k")
	for u := range 4 {
		step(u)
		if u == 0 {
			k.ahead(4)
		}
	}
	k.advance(4)
	k.p("\tSUBQ $4, K\n\tJGE loop\ntail:\n\tADDQ $4, K\n\tJZ done\nsingle: // one step of k")
	step(0)
	k.advance(1)
	k.p("\tDECQ K\n\tJNZ single\ndone:")
}

// ahead prefetches: low tiles, and those of bfloat16, pull the stream of B itself,
// high ones a part of the next panel: half of it, or with float32 weights whole tiles
// as much as the caller says.
func (k *kernel) ahead(steps int) {
	bytes := steps * 128
	if k.form == w16 {
		bytes /= 2
	}
	if k.form == w16 || k.form == nn && k.h <= streamRows {
		for l := 0; l < bytes; l += 64 {
			k.p("\tPREFETCHT0 %d(B)", 8192+l)
		}
	}
	if k.form != tn && k.h > streamRows {
		for l := 0; l < bytes/2; l += 64 {
			k.p("\tPREFETCHT1 %d(AHEAD)", l)
		}
		if k.form == nn && !k.masked {
			k.p("\tADDQ cols+72(FP), AHEAD // all columns are valid: the argument is the step")
		} else {
			k.p("\tADDQ $%d, AHEAD", bytes/2)
		}
	}
}

func (k *kernel) advance(n int) {
	if k.form == tn {
		k.p("\tLEAQ (A0)(LDA*%d), A0", n)
	} else {
		for _, base := range k.bases() {
			k.p("\tADDQ $%d, %s", 4*n, base)
		}
	}
	k.p("\tLEAQ (B)(LDB*%d), B", n)
}

// pairs writes the loops over pairs of k for bfloat16 weights. mask selects the
// high half of a pair, which is the odd k as it stands; the even k is shifted up.
func (k *kernel) pairs() {
	b, br := k.free, k.free+k.v
	mask := k.reg(br + 1)
	k.p("\tMOVL $0xffff0000, AX\n\tVMOVD AX, X%d", br+1)
	k.p("\tVPBROADCASTD X%d, %s", br+1, mask)
	for n, base := range k.bases()[1:] {
		k.p("\tLEAQ (%s)(LDA*2), %s\n\tADDQ LDA, %[2]s", k.bases()[n], base)
	}
	half := func(u, odd int) {
		for j := range k.v {
			w := k.reg(b + j)
			switch {
			case odd == 1 && k.r == "Z":
				k.p("\tVPANDD %s, %s, %s", k.rowB(u, j), mask, w)
			case odd == 1:
				k.p("\tVPAND %s, %s, %s", k.rowB(u, j), mask, w)
			case k.r == "Z":
				k.p("\tVPSLLD $16, %s, %s", k.rowB(u, j), w)
			default:
				k.p("\tVMOVDQU %s, %s\n\tVPSLLD $16, %[2]s, %[2]s", k.rowB(u, j), w)
			}
		}
		for i := range k.h {
			k.row(k.rowA(i, 2*u+odd), k.reg(br), b, i*k.v)
		}
	}
	k.p("\tSUBQ $4, K\n\tJLT tail\n\tPCALIGN $32\nloop: // two pairs")
	for u := range 2 {
		half(u, 0)
		if u == 0 {
			k.ahead(4)
		}
		half(u, 1)
	}
	for _, base := range k.bases() {
		k.p("\tADDQ $16, %s", base)
	}
	k.p("\tLEAQ (B)(LDB*2), B\n\tSUBQ $4, K\n\tJGE loop\ntail:\n\tADDQ $4, K\n\tJZ done\n\tCMPQ K, $2\n\tJLT last")
	half(0, 0)
	half(0, 1)
	for _, base := range k.bases() {
		k.p("\tADDQ $8, %s", base)
	}
	k.p("\tADDQ LDB, B\n\tSUBQ $2, K\n\tJZ done\nlast: // an odd k, alone in its pair")
	half(0, 0)
	k.p("done:")
}

func (k *kernel) write(name string) {
	k.begin(name)
	if k.form == w16 {
		k.pairs()
	} else {
		k.body()
	}
	k.end()
}

func avx512File(f *file) {
	f.p("%s\n%s", header, amd64Registers)
	for _, fm := range []form{nn, tn, w16} {
		for v := 2; v >= 1; v-- {
			for h := 1; h <= 14; h++ {
				if fm == w16 && h > 12 {
					break
				}
				k := kernel{file: f, form: fm, h: h, v: v, size: 64, r: "Z", masked: v == 1, free: h * v}
				k.write(name("AVX512", fm, 16*v, h))
			}
		}
	}
}

func avx2File(f *file) {
	f.p("%s\n%s", header, amd64Registers)
	f.maskTable("masks")
	for _, fm := range []form{nn, tn, w16} {
		for h := 1; h <= 6; h++ {
			k := kernel{file: f, form: fm, h: h, v: 2, size: 32, r: "Y", free: 2 * h}
			k.write(name("AVX2", fm, 16, h))
		}
		for h := 1; h <= 4; h++ {
			k := kernel{file: f, form: fm, h: h, v: 2, size: 32, r: "Y", masked: true, free: 2 * h}
			k.write(name("AVX2", fm, 0, h))
		}
	}
}
