package main

const pairs form = "Pairs" // A and B pairs of bfloat16 for VDPBF16PS

// pairRows is the height of the tallest tile of pairs: its sums, the even and the odd
// chains and what is multiplied just fit the 32 registers.
const pairRows = 4

// pairsKernel writes a kernel of the TDPBF16PS kinds on VDPBF16PS. k counts blocks of
// 32 summed values, ldb is the number of parts of A, and tiles of the same height follow
// one another down the rows. Accumulators: even chains, odd chains, then the tile's
// sums, which stay in registers. Denormals are zeros (MXCSR).
func (k *kernel) pairsKernel(name string) {
	n := k.h * k.v
	sums := 2 * n
	k.splitBegin(name)
	k.p("tile:\n\tMOVQ A0, TILE")
	k.start(sums)
	if k.h > 1 {
		k.outputsBelow()
	}
	k.splitBlock()
	for d := range 8 {
		k.pairsAhead(d)
		k.pairsDword(d)
	}
	k.add(0, n, n)
	k.add(sums, 0, n)
	k.splitNext(64)
	for i := range k.h {
		for j := range k.v {
			k.storeTo(sums+i*k.v+j, j, "C")
		}
		k.p("\tADDQ LDC, C")
	}
	k.nextTile()
	k.p("\tVZEROUPPER\n\tLDMXCSR 0(SP)\n\tRET\n")
}

// nextTile goes on to the tile below: C is there already.
func (k *kernel) nextTile() {
	k.p("\tDECQ tiles+80(FP)\n\tJZ done")
	k.p("\tMOVQ k+0(FP), K\n\tMOVQ b+24(FP), B\n\tMOVQ TILE, A0")
	for range k.h {
		k.p("\tADDQ LDA, A0")
	}
	k.fourthRow()
	k.p("\tJMP tile\ndone:")
}

// pairsAhead prefetches at dword d: a tile without a step the stream of B itself,
// others their part of the next panel.
func (k *kernel) pairsAhead(d int) {
	own := func() {
		for l := range 4 {
			k.p("\tPREFETCHT0 %d(B)", 8192+64*(4*d+l))
		}
	}
	if k.masked || k.h == 1 {
		own()
		return
	}
	k.p("\tPREFETCHT1 (AHEAD)\n\tADDQ STEP, AHEAD\n\tTESTQ STEP, STEP\n\tJNZ shared%d", d)
	own()
	k.p("shared%d:", d)
}

// pairsDword adds dword d of both chains.
func (k *kernel) pairsDword(d int) {
	n := k.h * k.v
	b := 3 * n // registers of B, then of the broadcast pairs
	br := b + k.v
	for odd := range 2 {
		for j := range k.v {
			k.p("\tVMOVUPS %d(B), %s", (d+8*odd)*128+j*k.size, k.reg(b+j))
		}
		for i := range k.h {
			k.p("\tVPBROADCASTD %s, %s", k.rowA(i, d+8*odd), k.reg(br+i&1))
			for j := range k.v {
				k.e(vdpbf16ps(b+j, br+i&1, odd*n+i*k.v+j))
			}
		}
	}
}
