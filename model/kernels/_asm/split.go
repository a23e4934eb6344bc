package main

import "fmt"

const chains form = "Chains" // A floats that are bfloat16 values, even and odd k apart, B blocks

// splitBegin loads the arguments of a kernel of the TDPBF16PS kinds.
func (k *kernel) splitBegin(name string) {
	params, _ := k.form.signature()
	k.p("// func %s(%s)", name, params)
	k.p("TEXT ·%s(SB), NOSPLIT, $8-%d", name, map[form]int{chains: 80, pairs: 88}[k.form])
	k.p("\tSTMXCSR 0(SP)\n\tMOVL $0x9fc0, 4(SP)\n\tLDMXCSR 4(SP)")
	for _, a := range [][2]string{{"k+0", "K"}, {"a+8", "A0"}, {"lda+16", "LDA"}, {"b+24", "B"}, {"ldb+32", "PARTS"},
		{"c+40", "C"}, {"ldc+48", "LDC"}, {"ahead+64", "AHEAD"}} {
		k.p("\tMOVQ %s(FP), %s", a[0], a[1])
	}
	k.mask()
	if k.form == pairs && !k.masked {
		k.p("\tMOVQ cols+72(FP), STEP // all columns are valid: the argument is the step")
	}
	k.fourthRow()
}

// fourthRow sets the base of the fourth row of A, where a tile has one.
func (k *kernel) fourthRow() {
	if k.h > 3 {
		k.p("\tLEAQ (A0)(LDA*2), A3\n\tADDQ LDA, A3")
	}
}

// split writes a kernel of the TDPBF16PS kinds on multiply-adds. k counts blocks of 32
// summed values and ldb is the number of parts of A. Accumulators: even sums, then odd
// sums; the tile itself stays in memory between blocks. Denormals are zeros (MXCSR).
func (k *kernel) split(name string) {
	n := k.h * k.v
	k.splitBegin(name)
	k.p("\tMOVL $0xffff0000, AX\n\tVMOVD AX, X%d\n\tVPBROADCASTD X%[1]d, %s", k.highs(), k.reg(k.highs()))
	k.p("\tMOVQ acc+56(FP), AX\n\tTESTQ AX, AX\n\tJNZ block0\n\t%s %[2]s, %[2]s, %[2]s\n\tMOVQ C, AX", k.xor(), k.reg(0))
	for range k.h {
		for j := range k.v {
			k.storeTo(0, j, "AX")
		}
		k.p("\tADDQ LDC, AX")
	}
	k.p("block0:")
	k.outputsBelow()
	k.splitBlock()
	for d := range 8 {
		switch {
		case k.h <= 4: // thin tiles pull the stream of B itself
			for l := range 4 {
				k.p("\tPREFETCHT0 %d(B)", 8192+64*(4*d+l))
			}
		case d&1 == 0:
			k.p("\tPREFETCHT1 (AHEAD)\n\tADDQ $64, AHEAD")
		}
		k.dwords(d)
	}
	k.fold(n)
	k.splitNext(128)
	k.p("\tVZEROUPPER\n\tLDMXCSR 0(SP)\n\tRET\n")
}

// outputsBelow fetches the outputs of the tile below.
func (k *kernel) outputsBelow() {
	k.p("\tMOVQ C, AX")
	for range k.h {
		k.p("\tADDQ LDC, AX")
	}
	for range k.h {
		k.p("\tPREFETCHT0 (AX)\n\tPREFETCHT0 64(AX)\n\tADDQ LDC, AX")
	}
}

// splitBlock begins the loops over blocks and parts: both chains start from zero.
func (k *kernel) splitBlock() {
	k.p("\tPCALIGN $32\nblock: // 32 values of k\n\tMOVQ PARTS, PART")
	k.p("part: // one part of A")
	k.clear(0, 2*k.h*k.v)
}

// add adds n registers from b on to those from a on.
func (k *kernel) add(a, b, n int) {
	for i := range n {
		k.p("\tVADDPS %s, %s, %[2]s", k.reg(b+i), k.reg(a+i))
	}
}

// splitNext goes on to the next part of A, whose rows have so many bytes of it, and
// after the last to the next block.
func (k *kernel) splitNext(bytes int) {
	k.p("\tADDQ $%d, A0", bytes)
	if k.h > 3 {
		k.p("\tADDQ $%d, A3", bytes)
	}
	k.p("\tDECQ PART\n\tJNZ part\n\tADDQ $2048, B\n\tDECQ K\n\tJNZ block")
}

func (k *kernel) highs() int { return 2*k.h*k.v + k.v + 1 } // register of the high-half mask

// dwords adds dword d of both chains.
func (k *kernel) dwords(d int) {
	n := k.h * k.v
	b := 2 * n
	br := b + k.v
	for odd := range 2 {
		at := func(j int) string { return fmt.Sprintf("%d(B)", (d+8*odd)*128+j*k.size) }
		for half := range 2 {
			for j := range k.v {
				k.half(at(j), half, k.reg(b+j))
			}
			for i := range k.h {
				k.row(k.rowA(i, 2*(d+8*odd)+half), k.reg(br), b, odd*n+i*k.v)
			}
		}
	}
}

// half widens the high half (first) or the low half of the dwords at m.
func (k *kernel) half(m string, low int, reg string) {
	z := k.r == "Z"
	switch {
	case low == 0 && z:
		k.p("\tVPANDD %s, %s, %s", m, k.reg(k.highs()), reg)
	case low == 0:
		k.p("\tVPAND %s, %s, %s", m, k.reg(k.highs()), reg)
	case z:
		k.p("\tVPSLLD $16, %s, %s", m, reg)
	default:
		k.p("\tVMOVDQU %s, %s\n\tVPSLLD $16, %[2]s, %[2]s", m, reg)
	}
}

// fold adds e + o to the tile.
func (k *kernel) fold(n int) {
	k.add(0, n, n)
	k.p("\tMOVQ C, AX")
	t := k.reg(n)
	for i := range k.h {
		for j := range k.v {
			k.loadFrom(fmt.Sprintf("%d(AX)", j*k.size), j, t)
			k.p("\tVADDPS %s, %s, %s", k.acc(i, j), t, k.acc(i, j))
			k.storeTo(i*k.v+j, j, "AX")
		}
		k.p("\tADDQ LDC, AX")
	}
}

func splitFile(f *file) {
	f.p("%s\n%s#define PART R10 // parts left\n#define PARTS R13\n#define STEP R12\n#define TILE R11 // first row of the tile in A\n", header, amd64Registers)
	for v := 2; v >= 1; v-- {
		for h := 1; h <= 6; h++ {
			k := kernel{file: f, form: chains, h: h, v: v, size: 64, r: "Z", masked: v == 1}
			k.split(name("AVX512", chains, 16*v, h))
		}
	}
	for v := 2; v >= 1; v-- {
		for h := 1; h <= pairRows; h++ {
			k := kernel{file: f, form: pairs, h: h, v: v, size: 64, r: "Z", masked: v == 1}
			k.pairsKernel(name("AVX512", pairs, 16*v, h))
		}
	}
	f.maskTable("masks")
	for h := 1; h <= 3; h++ {
		k := kernel{file: f, form: chains, h: h, v: 2, size: 32, r: "Y"}
		k.split(name("AVX2", chains, 16, h))
	}
	for h := 1; h <= 2; h++ {
		k := kernel{file: f, form: chains, h: h, v: 2, size: 32, r: "Y", masked: true}
		k.split(name("AVX2", chains, 0, h))
	}
}
