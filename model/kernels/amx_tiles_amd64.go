//go:build !purego

package kernels

import (
	"sync"
	"unsafe"
)

// Sizes of the tiled product, in bytes. None of them changes a bit of a result:
// every output is summed 32 k at a time in the order of k.
const (
	tileGroup  = 1 << 20  // panels of B that stay in the second-level cache while row panels pass
	tileStream = 32 << 10 // how far ahead B is fetched when it comes from memory
)

// tilePass is the number of blocks of k in one pass of a row panel that is not the
// first, so that 32 or 24 KiB of A stay in the first-level cache.
func tilePass(parts int) int {
	if parts == 3 {
		return 4
	}
	return 16
}

// tileBlock is the bytes of 32 k of a panel of B.
const tileBlock = quad * panel * 2

// tileRow is the bytes of a row of a tile.
const tileRow = 64

// tileConfig is the operand of LDTILECFG.
type tileConfig [64]byte

// configure lays tiles out for a row panel of h rows and a panel of w columns:
// sums in tiles 0 to 3, A in 4 and 5, B in 6 and 7.
func (c *tileConfig) configure(h, w int) {
	*c = tileConfig{0: 1}
	set := func(tile, rows, bytes int) {
		if rows > 0 && bytes > 0 {
			c[16+2*tile], c[48+tile] = byte(bytes), byte(rows)
		}
	}
	for r := range 2 {
		rows := min(max(h-16*r, 0), 16)
		for j := range 2 {
			set(2*r+j, rows, 4*min(max(w-16*j, 0), 16))
		}
		set(4+r, rows, tileRow)
		set(6+r, 16, 4*min(max(w-16*r, 0), 16))
	}
}

// tileCall is what one call of an AMX kernel computes: a row panel of A times
// panels of B, over some blocks of 32 k. The assembly reads it. Lengths are in bytes.
type tileCall struct {
	config    *tileConfig
	steps     int            // blocks of k
	a         unsafe.Pointer // [block][part][row][32]
	partStep  int            // from one part of A to the next
	b         unsafe.Pointer // orderTiles
	panels    int            // of B
	panelStep int            // from the last block of a panel to the first of the next
	in        tileSums       // sums so far; nil for zeros
	out       tileSums
	ahead     uintptr // what to prefetch; need not be mapped, and so is no pointer
}

// tileSums is where sums are in memory.
type tileSums struct {
	at    unsafe.Pointer
	row   int // to the next row
	down  int // to the second 16 rows
	right int // to the second 16 columns
	next  int // to the next panel
}

// tileKernel is an index of amxKernels.
type tileKernel int

func newTileKernel(h, w, parts int, stream bool) tileKernel {
	k := tileKernel((h-1)/16*8 + (w-1)/16*4)
	if parts == 3 {
		k += 2
	}
	if stream {
		k++
	}
	return k
}

// tileWork is what a worker needs for a tiled product.
type tileWork struct {
	call   tileCall
	config tileConfig
	sums   []float32 // unfinished sums, tile by tile
}

// tileRun is what a product by AMX has more.
type tileRun struct {
	pass int // blocks of k in one pass of tiles; 0: the usual number
}

var tileWorks = sync.Pool{New: func() any { return new(tileWork) }}

// splitTiles computes a product in a TDPBF16PS kind with AMX: it converts the rows
// of x to row panels of tiles, then runs them.
func (p *Pool) splitTiles(g gemmRun, x []float32, ldx, parts int) {
	blocks, m := (g.k+quad-1)/quad, g.m
	buf := leftPool.Get().(*[]float32)
	defer leftPool.Put(buf)
	size := m * blocks * parts * tileRow / 4
	if cap(*buf) < size {
		*buf = alignedF32(size * 5 / 4)
	}
	left := at(*buf)
	p.tileLeft(left, x, ldx, m, g.k, parts)
	g.form, g.x, g.k, g.parts = formTiles, left, blocks*quad, parts
	if g.tile.pass == 0 {
		g.tile.pass = tilePass(parts)
	}
	p.run(g)
}

// tileLeft converts m rows of k values to row panels of tiles.
func (p *Pool) tileLeft(left unsafe.Pointer, x []float32, ldx, m, k, parts int) {
	row := (k + quad - 1) / quad * parts * tileRow
	p.spread(m, rowGrain(4*k), func(_, i, j int) {
		for r := i; r < j; r++ {
			first := r &^ (panel - 1)
			step := min(panel, m-first) * tileRow
			convertTiles(unsafe.Add(left, first*row+(r-first)*tileRow), x[r*ldx:][:k], parts, step)
		}
	})
}

// convertTiles converts a row of the left operand: for each block of 32 and part,
// a row of a tile at dst; the next is step bytes on.
func convertTiles(dst unsafe.Pointer, x []float32, parts, step int) {
	n := len(x) / quad
	if n > 0 {
		tileBlocksAVX512(dst, at(x), n, parts, step)
	}
	if x = x[n*quad:]; len(x) > 0 {
		var last [quad]float32
		copy(last[:], x)
		tileBlocksAVX512(unsafe.Add(dst, n*parts*step), unsafe.Pointer(&last), 1, parts, step)
	}
}

// run computes rows [r0, r1) and columns [c0, c1) of g, which begin at panels.
func (tileRun) run(g *gemmRun, r0, r1, c0, c1 int) {
	w := tileWorks.Get().(*tileWork)
	blocks := g.k / quad
	group := max(1, tileGroup/(blocks*tileBlock)) * panel
	whole := c1 &^ (panel - 1)
	for c := c0; c < whole; c += group {
		g.tileGroup(w, r0, r1, c, min(group, whole-c)/panel, panel)
	}
	if whole = max(whole, c0); whole < c1 {
		g.tileGroup(w, r0, r1, whole, 1, c1-whole)
	}
	w.call = tileCall{} // it goes back without pointers
	tileWorks.Put(w)
}

// tileGroup runs row panels [r0, r1) over a group of panels of B from column c on,
// of the given width each. The first row panel brings B into the cache in one pass
// over all of k; the others take as much of k as keeps A in the nearest cache.
func (g *gemmRun) tileGroup(w *tileWork, r0, r1, c, count, width int) {
	blocks := g.k / quad
	for r := r0; r < r1; r += panel {
		h, stream := min(panel, r1-r), r == r0
		per := blocks
		if !stream {
			per = min(blocks, g.tile.pass)
		}
		w.config.configure(h, width)
		kernel := newTileKernel(h, width, g.parts, stream)
		for b := 0; b < blocks; b += per {
			n := min(per, blocks-b)
			w.call = tileCall{
				config: &w.config, steps: n, panels: count, partStep: h * tileRow, panelStep: (blocks - n) * tileBlock,
				a: unsafe.Add(g.x, (r*blocks+b*h)*g.parts*tileRow),
				b: unsafe.Add(g.b, (c/panel*blocks+b)*tileBlock),
			}
			w.call.ahead = uintptr(w.call.a) + uintptr(n*g.parts*h*tileRow)
			if stream {
				w.call.ahead = uintptr(w.call.b) + tileStream
			}
			output := tileSums{at: unsafe.Add(g.y, r*g.ldy+4*c), row: g.ldy, down: 16 * g.ldy, right: tileRow, next: 4 * panel}
			w.call.in, w.call.out = output, output
			if b > 0 {
				w.call.in = w.unfinished(count)
			} else if !g.acc {
				w.call.in = tileSums{}
			}
			if b+n < blocks {
				w.call.out = w.unfinished(count)
			}
			theTiles.unit.run(kernel, &w.call)
		}
	}
}

// unfinished is the place for the sums of count panels between passes over k.
func (w *tileWork) unfinished(count int) tileSums {
	if len(w.sums) < count*panel*panel {
		w.sums = alignedF32(count * panel * panel)
	}
	return tileSums{at: at(w.sums), row: tileRow, down: 2 * 16 * tileRow, right: 16 * tileRow, next: 4 * 16 * tileRow}
}
