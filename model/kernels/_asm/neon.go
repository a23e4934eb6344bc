package main

import (
	"fmt"
	"strings"
)

// neonTiles writes the tile kernels of arm64: up to four rows by up to four
// vectors of four columns. The assembler knows every instruction they need.
func neonTiles(f *file) {
	f.p("%s\n#include \"textflag.h\"\n", header)
	f.p("// Registers: R0 k, R1-R4 rows of A, R5 LDA, R6 B, R7 LDB, R8 C, R9 LDC; V0-V15 sums,\n// V16-V19 B, V20-V23 A, V24-V27 raw pairs, V28 mask of high halves.\n")
	for _, fm := range []form{nn, tn, w16} {
		for v := 4; v >= 1; v-- {
			for h := 1; h <= 4; h++ {
				neonTile(f, fm, v, h)
			}
		}
	}
}

// vectors lists n registers from V first on, as VLD1 wants them.
func vectors(first, n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("V%d.S4", first+i))
	}
	return "[" + strings.Join(s, ", ") + "]"
}

func neonTile(f *file, fm form, v, h int) {
	f.p("// func %s(%s)", name("NEON", fm, 4*v, h), signature)
	f.p("TEXT ·%s(SB), NOSPLIT, $0-80", name("NEON", fm, 4*v, h))
	f.p("\tMOVD k+0(FP), R0\n\tMOVD a+8(FP), R1\n\tMOVD lda+16(FP), R5\n\tMOVD b+24(FP), R6\n\tMOVD ldb+32(FP), R7")
	f.p("\tMOVD c+40(FP), R8\n\tMOVD ldc+48(FP), R9\n\tMOVD acc+56(FP), R10")
	for i := 1; i < h; i++ {
		if fm == tn {
			f.p("\tADD $%d, R1, R%d", 4*i, 1+i)
		} else {
			f.p("\tADD R5, R%d, R%d", i, 1+i)
		}
	}
	if fm == w16 {
		f.p("\tMOVW $0xffff0000, R10\n\tVDUP R10, V28.S4\n\tMOVD acc+56(FP), R10")
	}
	f.p("\tCBZ R10, zero\n\tMOVD R8, R11")
	for i := range h {
		f.p("\tVLD1 (R11), %s\n\tADD R9, R11, R11", vectors(4*i, v))
	}
	f.p("\tB ready\nzero:")
	for i := range h {
		for j := range v {
			f.p("\tVEOR V%[1]d.B16, V%[1]d.B16, V%[1]d.B16", 4*i+j)
		}
	}
	f.p("ready:")
	if fm == w16 {
		neonPairs(f, v, h)
	} else {
		f.p("\tCBZ R0, done\nloop: // one step of k\n\tVLD1 (R6), %s\n\tADD R7, R6, R6", vectors(16, v))
		neonStep(f, fm, v, h)
		f.p("\tSUB $1, R0, R0\n\tCBNZ R0, loop")
	}
	f.p("done:")
	for i := range h {
		f.p("\tVST1 %s, (R8)\n\tADD R9, R8, R8", vectors(4*i, v))
	}
	f.p("\tRET\n")
}

// neonStep multiplies the B vectors V16 … by one value of each row.
func neonStep(f *file, fm form, v, h int) {
	for i := range h {
		if fm == tn {
			f.p("\tVLD1R (R%d), [V%d.S4]\n\tADD R5, R%[1]d, R%[1]d", 1+i, 20+i)
		} else {
			f.p("\tVLD1R.P 4(R%d), [V%d.S4]", 1+i, 20+i)
		}
	}
	for i := range h {
		for j := range v {
			f.p("\tVFMLA V%d.S4, V%d.S4, V%d.S4", 16+j, 20+i, 4*i+j)
		}
	}
}

func neonPairs(f *file, v, h int) {
	low := func() {
		f.p("\tVLD1 (R6), %s\n\tADD R7, R6, R6", vectors(24, v))
		for j := range v {
			f.p("\tVSHL $16, V%d.S4, V%d.S4", 24+j, 16+j)
		}
		neonStep(f, w16, v, h)
	}
	f.p("\tSUBS $2, R0, R0\n\tBLT last\nloop: // a pair of k")
	low()
	for j := range v {
		f.p("\tVAND V28.B16, V%d.B16, V%d.B16", 24+j, 16+j)
	}
	neonStep(f, w16, v, h)
	f.p("\tSUBS $2, R0, R0\n\tBGE loop\nlast:\n\tADDS $2, R0, R0\n\tBEQ done // an odd k is alone in its pair")
	low()
}

// arm64Stubs declares the tile kernels of arm64 and the switches over their sizes.
func arm64Stubs(f *file) {
	f.p("%s\npackage kernels\n\nimport \"unsafe\"\n", header)
	for _, fm := range []form{nn, tn, w16} {
		for v := 1; v <= 4; v++ {
			for h := 1; h <= 4; h++ {
				f.p("//go:noescape\nfunc %s(%s)\n", name("NEON", fm, 4*v, h), signature)
			}
		}
		f.p("// tile%sNEON runs the kernel of height h and v vectors.", fm)
		f.p("func tile%sNEON(h, v int, t tile, a, b, c unsafe.Pointer) {\nswitch 4*v + h {", fm)
		for v := 1; v <= 4; v++ {
			for h := 1; h <= 4; h++ {
				f.p("case %d:\n%s(t.k, a, t.lda, b, t.ldb, c, t.ldc, t.acc, t.ahead, %d)", 4*v+h, name("NEON", fm, 4*v, h), 4*v)
			}
		}
		f.p("}\n}\n")
	}
}
