package kernels

import "unsafe"

// serialFlops and serialBytes (of B) are the sizes of a product below which waking
// workers costs more than it brings; a product of both sizes is cut into items of
// about itemFlops or itemBytes, at most itemsPerWorker each, so that a worker that
// is held up leaves its share to the others.
const (
	serialFlops    = 1 << 20
	serialBytes    = 1 << 18
	itemFlops      = 1 << 24
	itemBytes      = 1 << 18
	itemsPerWorker = 4
)

// Blocking of products: rows of x and summed indices that stay in the second
// level cache while a panel of weights passes.
const (
	blockRows = 112
	blockK    = 1024
)

// Tiles of formPairs are low, so their panel must come from the first-level cache:
// half as many summed indices, and, as rows of half the bytes allow, more rows for
// each time it gets there. Up to pairStream rows the time goes into reading the
// weights, which is fastest in one run.
const (
	pairRows   = 4
	pairK      = blockK / 2
	pairBlock  = 256
	pairStream = 3 * pairRows
)

// form is what a product's tiles multiply.
type form int

const (
	formRows   form = iota // rows of x by rows of float32 in B
	formOuter              // columns of x by rows of float32 in B: GradW
	formWiden              // rows of x by pairs of bfloat16
	formChains             // TDPBF16PS order by chains of multiply-adds
	formPairs              // TDPBF16PS order by VDPBF16PS
	formTiles              // TDPBF16PS order by itself
)

// gemmRun is one product in hand: y[m, n] (+)= x·B, cut into items of row ranges
// times column ranges.
type gemmRun struct {
	form     form
	acc      bool
	m, n, k  int
	y, x     unsafe.Pointer
	ldy, ldx int // in bytes
	b        unsafe.Pointer
	ldb      int // bytes between rows of b, when b isn't packed
	packed   bool
	parts    int // of the left operand, in the TDPBF16PS kinds
	tile     tileRun
	then     []Addend // at panels' starts
	rowStep  int
	rowItems int
	colStep  int
}

// MatMul computes y[m, N] = x[m, K]·Wᵀ, or adds it to y if acc is set. The addends
// follow, in their order.
func (p *Pool) MatMul(y []float32, ldy int, x []float32, ldx, m int, w *Matrix, acc bool, then ...Addend) {
	p.product(y, ldy, x, ldx, m, &w.w, w.kind, acc, then)
}

// MatMulT computes dx[m, K] = dy[m, N]·W, or adds it to dx if acc is set. The addends
// follow, in their order.
func (p *Pool) MatMulT(dx []float32, lddx int, dy []float32, lddy, m int, w *Matrix, acc bool, then ...Addend) {
	p.product(dx, lddx, dy, lddy, m, w.transposed(), w.kind, acc, then)
}

// GradW adds dyᵀ·x to dw: dw[n, k] += Σ_r dy[r, n]·x[r, k], rows r = 0 … m-1 in
// order. dw is dense.
func (p *Pool) GradW(dw []float32, dy []float32, lddy int, x []float32, ldx, m, n, k int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	checkRows("GradW: dw", len(dw), k, n, k)
	checkRows("GradW: dy", len(dy), lddy, m, n)
	checkRows("GradW: x", len(x), ldx, m, k)
	p.run(gemmRun{
		form: formOuter, acc: true, m: n, n: k, k: m,
		y: unsafe.Pointer(unsafe.SliceData(dw)), ldy: 4 * k,
		x: unsafe.Pointer(unsafe.SliceData(dy)), ldx: 4 * lddy,
		b: unsafe.Pointer(unsafe.SliceData(x)), ldb: 4 * ldx,
	})
}

func (p *Pool) product(y []float32, ldy int, x []float32, ldx, m int, w *operand, kind Numerics, acc bool, then []Addend) {
	if m == 0 || w.n == 0 {
		return
	}
	checkRows("product: output", len(y), ldy, m, w.n)
	checkRows("product: input", len(x), ldx, m, w.k)
	g := packedRun(unsafe.Pointer(unsafe.SliceData(y)), 4*ldy, x, ldx, m, w, kind, acc)
	together := g.admit(len(y), then)
	if together {
		g.then = then
	}
	if kind == F32 {
		p.run(g)
	} else {
		p.split(g, x, ldx, kind)
	}
	if !together {
		for i := range then {
			p.run(then[i].product(&g))
		}
	}
}

// packedRun is a product with a packed operand, on an output whose rows are ldy bytes
// apart.
func packedRun(y unsafe.Pointer, ldy int, x []float32, ldx, m int, w *operand, kind Numerics, acc bool) gemmRun {
	g := gemmRun{
		acc: acc, m: m, n: w.n, k: w.k,
		y: y, ldy: ldy,
		x: unsafe.Pointer(unsafe.SliceData(x)), ldx: 4 * ldx,
		packed: true, ldb: 4 * panel,
		b: unsafe.Pointer(unsafe.SliceData(w.f)),
	}
	if w.h != nil {
		g.form, g.b = formWiden, unsafe.Pointer(unsafe.SliceData(w.in(kind.order()).h))
	}
	return g
}

// run cuts the product into items and runs them. Items never share an output,
// and each output is one chain whatever the cut.
func (p *Pool) run(g gemmRun) {
	if raceEnabled {
		g.tellReads()
	}
	workers := p.Workers()
	flops, bytes := 2*g.m*g.n*g.k, g.n*g.k*4
	if g.form >= formWiden {
		bytes /= 2
	}
	if workers == 1 || flops < serialFlops && bytes < serialBytes {
		g.block(0, g.m, 0, g.n)
		return
	}
	items := workers * max(1, min(itemsPerWorker, max(flops/itemFlops, bytes/itemBytes)/workers))
	cols := panels(g.n)
	tile := tileShapes[active].rows
	if g.form == formTiles {
		tile = panel
	}
	rowItems, colItems := 1, min(cols, items)
	if cols < 2*workers && g.m >= 2*workers*tile { // few panels, many rows
		rowItems, colItems = min(items, g.m/tile), 1
	}
	g.rowItems = rowItems
	g.rowStep = (g.m + rowItems - 1) / rowItems
	if g.form == formTiles {
		g.rowStep = panels(g.rowStep) * panel // row panels stay whole
	}
	g.colStep = (cols + colItems - 1) / colItems * panel
	p.mu.Lock()
	p.gemm = g
	p.start(rowItems*colItems, p.runGemm)
	p.gemm = gemmRun{}
	p.mu.Unlock()
}

// item runs item i of a cut product.
func (g *gemmRun) item(i int) {
	r, c := i%g.rowItems*g.rowStep, i/g.rowItems*g.colStep
	if r < g.m && c < g.n {
		g.block(r, min(r+g.rowStep, g.m), c, min(c+g.colStep, g.n))
	}
}

// block computes rows [r0, r1) and columns [c0, c1); c0 is at a panel's start.
func (g *gemmRun) block(r0, r1, c0, c1 int) {
	if raceEnabled {
		g.tellWrites(r0, r1, c0, c1)
	}
	shape := tileShapes[active]
	height, most := shape.rows, blockRows
	switch g.form {
	case formTiles:
		g.tile.run(g, r0, r1, c0, c1)
		g.addends(r0, r1, c0, c1)
		return
	case formWiden:
		height = shape.rows16
	case formChains:
		height = shape.rowsSplit
	case formPairs:
		height, most = pairRows, pairBlock
	}
	for rb := r0; rb < r1; {
		re := r1
		if r1-rb > most*3/2 {
			re = rb + most/height*height
		}
		span := blockK
		if g.form == formPairs && re-rb > pairStream {
			span = pairK
		}
		acc := g.acc
		for k0 := 0; k0 < g.k; k0 += span {
			g.columns(rb, re, c0, c1, k0, min(span, g.k-k0), height, shape.cols, acc)
			acc = true
		}
		g.addends(rb, re, c0, c1)
		rb = re
	}
}

// columns runs over the column tiles of one block of rows and summed indices.
func (g *gemmRun) columns(r0, r1, c0, c1, k0, kc, height, cols int, acc bool) {
	t := tile{k: kc, lda: g.ldx, ldb: g.ldb, ldc: g.ldy}
	if g.form >= formChains {
		t.k, t.ldb = kc/quad, g.parts
	}
	if acc {
		t.acc = 1
	}
	for c := c0; c < c1; {
		width := min(cols, c1-c)
		if cols > 16 && width < cols {
			width = min(16, width)
		}
		var b unsafe.Pointer
		j, in := c/panel, c%panel*4 // panel and bytes into its rows
		switch g.form {
		case formWiden:
			b = unsafe.Add(g.b, (j*((g.k+1)/2)+k0/2)*4*panel+in)
		case formChains, formPairs:
			b = unsafe.Add(g.b, (j*g.k+k0)*2*panel+in)
		default:
			b = unsafe.Add(g.b, k0*g.ldb+c*4)
			if g.packed {
				b = unsafe.Add(g.b, (j*g.k+k0)*4*panel+in)
			}
		}
		t.ahead = uintptr(b)
		if g.packed {
			t.ahead += g.panelBytes()
		}
		if g.form == formPairs {
			g.pairs(t, b, r0, r1, c, width, k0, kc)
		} else {
			g.rows(t, b, r0, r1, c, width, k0, kc, height)
		}
		c += width
	}
}

// panelBytes is the distance from a panel of B to the next.
func (g *gemmRun) panelBytes() uintptr {
	switch g.form {
	case formWiden:
		return uintptr((g.k + 1) / 2 * 4 * panel)
	case formChains, formPairs:
		return uintptr(g.k * 2 * panel)
	}
	return uintptr(g.k * 4 * panel)
}

// rows runs over the row tiles under one column tile. Heights are balanced, so
// that the last tile isn't a thin one.
func (g *gemmRun) rows(t tile, b unsafe.Pointer, r0, r1, c, width, k0, kc, height int) {
	ahead := uintptr(64 * kc) // what a tile prefetches
	switch {
	case g.form >= formChains:
		ahead = uintptr(8 * kc * g.parts)
	case g.form == formWiden:
		ahead = uintptr(32 * kc)
	}
	next, size := t.ahead, g.panelBytes()
	n := (r1 - r0 + height - 1) / height
	if g.form == formRows {
		t.step = aheadStep(n)
		ahead = uintptr(t.step * kc / 4)
	}
	base, extra := (r1-r0)/n, (r1-r0)%n
	for r := r0; r < r1; {
		h := base
		if extra > 0 {
			h++
			extra--
		}
		y := unsafe.Add(g.y, r*g.ldy+c*4)
		switch g.form {
		case formOuter:
			tileTN(h, width, t, unsafe.Add(g.x, k0*g.ldx+r*4), b, y)
		case formWiden:
			tileW16(h, width, t, unsafe.Add(g.x, r*g.ldx+k0*4), b, y)
		case formChains:
			tileChains(h, width, t, unsafe.Add(g.x, r*g.ldx+k0*g.parts*4), b, y)
		default:
			tileNN(h, width, t, unsafe.Add(g.x, r*g.ldx+k0*4), b, y)
		}
		r += h
		if t.ahead += ahead; t.ahead >= next+size {
			t.ahead = next
		}
	}
}

// pairs is rows for formPairs, whose tiles of one height are one call.
func (g *gemmRun) pairs(t tile, b unsafe.Pointer, r0, r1, c, width, k0, kc int) {
	n := (r1 - r0 + pairRows - 1) / pairRows
	t.step = pairStep(r1-r0, n, g.parts)
	base, extra := (r1-r0)/n, (r1-r0)%n
	for _, same := range [2]struct{ h, tiles int }{{base + 1, extra}, {base, n - extra}} {
		if same.tiles > 0 {
			x := unsafe.Add(g.x, r0*g.ldx+k0*g.parts*2)
			tilePairs(same.h, width, same.tiles, t, x, b, unsafe.Add(g.y, r0*g.ldy+c*4))
			r0 += same.h * same.tiles
			t.ahead += uintptr(same.tiles * t.step * kc / 4 * g.parts)
		}
	}
}

// aheadStep is how much of the next panel of float32, in bytes, each of n tiles
// fetches every four k: whole cache lines, as even a part as they allow, since reads
// that come in bursts wait for the memory. A tile fetches half at most.
func aheadStep(n int) int {
	const panelStep, line = 4 * 4 * panel, 64
	return min((panelStep/line+n-1)/n*line, panelStep/2)
}

// pairStep is aheadStep for tiles of pairs, which fetch eight times per block of a
// panel and part of the left operand. Tiles of few rows pull the stream of their own
// panel instead: step 0.
func pairStep(rows, n, parts int) int {
	const perFetch = quad * panel * 2 / 8
	if rows <= pairStream {
		return 0
	}
	return min((perFetch+n*parts-1)/(n*parts), 64)
}

// tile describes one micro-kernel call: k steps, strides in bytes. acc starts the
// chains from C instead of zero.
type tile struct {
	k, lda, ldb, ldc int
	acc              int     // 1: start from C
	ahead            uintptr // where the next panel of B begins; need not be mapped
	step             int     // through it, in bytes, between prefetches
}
