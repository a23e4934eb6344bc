//go:build !purego

package kernels

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"unsafe"
)

// Every height of a row panel and one beyond it, tails of columns and of k, one
// and three parts, sums from zero and from the output, all of k in a pass and a few
// blocks: the kernels' machine code gives the bits of the portable order and
// touches no byte that is not theirs.
func TestAMXKernelsAreThePortableOrder(t *testing.T) {
	arithmeticOnly(t)
	needEmulator(t)
	for _, shape := range []struct{ n, k, pass int }{
		{1, 1, 1}, {15, 31, 1}, {16, 32, 1}, {17, 33, 1}, {31, 64, 1}, {32, 65, 2}, {33, 96, 1}, {48, 97, 3}, {65, 130, 2}, {107, 83, 1},
	} {
		for _, parts := range []int{1, 3} {
			for _, acc := range []bool{false, true} {
				t.Run(fmt.Sprintf("%dx%d pass=%d parts=%d acc=%v", shape.n, shape.k, shape.pass, parts, acc), func(t *testing.T) {
					testAMXHeights(t, shape.n, shape.k, shape.pass, parts, acc)
				})
			}
		}
	}
}

// testAMXHeights computes the first rows of one product, for every number of rows.
func testAMXHeights(t *testing.T, n, k, pass, parts int, acc bool) {
	const rows = panel + 1
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	x, w, y := hardValues(r, rows*k, true), make([]uint16, n*k), hardValues(r, rows*n, true)
	for i, v := range hardValues(r, n*k, true) {
		w[i] = BF16(v)
	}
	pack := func(in order) operand {
		return packHalves(n, k, in, func(j, k0, k1 int, _ []uint16) (cols [][]uint16) {
			for c := j * panel; c < min((j+1)*panel, n); c++ {
				cols = append(cols, w[c*k+k0:c*k+k1])
			}
			return cols
		})
	}
	blocks, b := pack(orderBlocks), pack(orderTiles)
	want := append([]float32(nil), y...)
	portableProduct(want, x, &blocks, rows, parts, acc)
	for m := 1; m <= rows; m++ {
		p := newAMXProduct(x, &b, m, pass, parts)
		p.run(t, y, acc)
		for i := range m {
			sameBits(t, fmt.Sprintf("%d rows, row %d", m, i), p.y[i*p.ldy:][:n], want[i*n:][:n])
		}
		height := (m + 15) / 16 // in tiles, of the one or two row panels
		if dots := height * ((n + 15) / 16) * len(b.h) / panels(n) / (quad * panel) * parts; p.unit.dots != dots {
			t.Fatalf("%d rows: %d TDPBF16PS, want %d", m, p.unit.dots, dots)
		}
		if p.unit.fetched == 0 {
			t.Fatalf("%d rows: no prefetch", m)
		}
	}
}

// amxProduct is a product whose memory is known to the byte.
type amxProduct struct {
	unit emulatedUnit
	g    gemmRun
	left []float32
	y    []float32 // rows of ldy, with gaps that nobody may touch
	ldy  int
}

func newAMXProduct(x []float32, b *operand, m, pass, parts int) *amxProduct {
	blocks := b.steps() / 16
	p := &amxProduct{ldy: b.n + 5, left: alignedF32(m * blocks * parts * tileRow / 4)}
	p.y = make([]float32, m*p.ldy)
	(*Pool)(nil).tileLeft(at(p.left), x, b.k, m, b.k, parts)
	p.g = gemmRun{form: formTiles, m: m, n: b.n, k: blocks * quad, tile: tileRun{pass: pass}, parts: parts, packed: true,
		y: at(p.y), ldy: 4 * p.ldy, x: at(p.left), b: unsafe.Pointer(unsafe.SliceData(b.h))}
	p.unit.regions = func(c *tileCall) []region {
		all := []region{regionOf("left", p.left, false, true), regionOf("weight", b.h, false, true)}
		work := (*tileWork)(unsafe.Pointer(c)) // its first field
		if work.sums != nil {
			all = append(all, regionOf("sums", work.sums, true, true))
		}
		for i := range m {
			all = append(all, regionOf(fmt.Sprintf("row %d", i), p.y[i*p.ldy:][:b.n], true, false))
		}
		return all
	}
	return p
}

func (p *amxProduct) run(t *testing.T, y []float32, acc bool) {
	t.Helper()
	const gap = -123.5
	for i := range p.y {
		p.y[i] = gap
	}
	copyRows(p.y, p.ldy, y, p.g.n, p.g.m, p.g.n)
	p.g.acc = acc
	p.unit.with(func() { p.g.tile.run(&p.g, 0, p.g.m, 0, p.g.n) })
	for i, v := range p.y {
		if i%p.ldy >= p.g.n && v != gap {
			t.Fatalf("row %d: the gap after it is overwritten", i/p.ldy)
		}
	}
}

// The emulator must see what a kernel does beyond its memory.
func TestAMXEmulatorSeesStrayAccesses(t *testing.T) {
	needEmulator(t)
	b := packHalves(40, 64, orderTiles, func(j, k0, k1 int, buffer []uint16) (cols [][]uint16) {
		for range min(panel, 40-j*panel) {
			cols = append(cols, buffer[:k1-k0])
		}
		return cols
	})
	for _, c := range []struct {
		name   string
		change func(c *tileCall)
		want   string
	}{
		{"nothing", func(*tileCall) {}, ""},
		{"a step too many", func(c *tileCall) { c.steps++; c.panelStep -= tileBlock }, "outside of left (0 bytes"},
		{"a panel too many", func(c *tileCall) { c.panels++ }, "outside of row"},
		{"a wrong column", func(c *tileCall) { c.out.at = unsafe.Add(c.out.at, 4*10) }, "outside of row"},
		{"writes to the weight", func(c *tileCall) { c.out.at = c.b }, "writes to weight"},
		{"left not aligned", func(c *tileCall) { c.a = unsafe.Add(c.a, 32) }, "cross a cache line"},
		{"shapes that differ", func(c *tileCall) { c.config[48+4]-- }, "+="},
		{"a tile that is not there", func(c *tileCall) { c.config[48+6], c.config[16+12] = 0, 0 }, "tile 6 is not configured"},
		{"palette 0", func(c *tileCall) { c.config[0] = 0 }, "palette 0"},
		{"a long row", func(c *tileCall) { c.config[16] = 65 }, "65 bytes"},
		{"rows without bytes", func(c *tileCall) { c.config[16] = 0 }, "0 bytes"},
		{"a reserved byte", func(c *tileCall) { c.config[60] = 1 }, "reserved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newAMXProduct(make([]float32, 5*64), &b, 5, 1, 1)
			var errs []error
			func() {
				defer func(old tileUnit) { theTiles.unit = old }(theTiles.unit)
				theTiles.unit = tryingUnit{&p.unit, c.change, &errs}
				p.g.tile.run(&p.g, 0, 5, 0, panel)
			}()
			if len(errs) != 1 {
				t.Fatalf("%d calls", len(errs))
			}
			if err := errs[0]; (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// tryingUnit changes calls and keeps their errors.
type tryingUnit struct {
	*emulatedUnit
	change func(*tileCall)
	errs   *[]error
}

func (u tryingUnit) run(k tileKernel, c *tileCall) {
	u.change(c)
	*u.errs = append(*u.errs, u.try(k, c))
}

// A matrix packed for one family works with the others, only slower.
func TestMatricesServeFamiliesTheyWereNotPackedFor(t *testing.T) {
	arithmeticOnly(t)
	needEmulator(t)
	const m, n, k = 7, 45, 70
	r := rand.New(rand.NewPCG(1, 9))
	x, y, w := normal(r, m*k), normal(r, m*n), make([]uint16, n*k)
	for i, v := range normal(r, n*k) {
		w[i] = BF16(v)
	}
	for _, kind := range []Numerics{F32, F32x3, BF16Products} {
		var want []float32
		for _, packed := range Implementations() {
			restore, err := Use(packed)
			if err != nil {
				t.Fatal(err)
			}
			mat := PackNumerics(w, n, k, kind)
			for _, used := range Implementations() {
				again, err := Use(used)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float32, m*n+m*k+n*k)
				(*Pool)(nil).MatMul(got, n, x, k, m, mat, false)
				(*Pool)(nil).MatMulT(got[m*n:], k, y, n, m, mat, false)
				for c := range n {
					mat.Row(got[m*n+m*k+c*k:], c)
				}
				again()
				if want == nil {
					want = got
				}
				sameBits(t, fmt.Sprintf("%v packed for %s, used by %s", kind, packed, used), got, want)
			}
			restore()
		}
	}
}

// encodedLine is an instruction in bytes with its text.
var encodedLine = regexp.MustCompile(`^\t(BYTE .*) // ([A-Z].*)$`)

// encodedInstructions are the distinct ones of an assembly file: text to bytes.
func encodedInstructions(t *testing.T, file string) map[string][]byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]byte{}
	for s := bufio.NewScanner(f); s.Scan(); {
		m := encodedLine.FindStringSubmatch(s.Text())
		if m == nil {
			if strings.Contains(s.Text(), "BYTE") {
				t.Errorf("%s: %q says not what it is", file, s.Text())
			}
			continue
		}
		b, err := hex.DecodeString(strings.NewReplacer("BYTE $0x", "", "; ", "").Replace(m[1]))
		if err != nil {
			t.Fatalf("%s: %q: %v", file, s.Text(), err)
		}
		if old, ok := all[m[2]]; ok && string(old) != string(b) {
			t.Errorf("%s: %s is % x and % x", file, m[2], old, b)
		}
		all[m[2]] = b
	}
	return all
}

// What the assembly files say of their bytes must be what the bytes are.
func TestAMXCodeIsWhatItsCommentsSay(t *testing.T) {
	seen := map[string]bool{}
	for text, code := range encodedInstructions(t, "amx_amd64.s") {
		name, _, _ := strings.Cut(text, " ")
		seen[name] = true
		if strings.HasPrefix(name, "V") {
			continue // of AVX-512; the generator's own test checks them
		}
		i, err := decodeX86(code)
		if err != nil || i.String() != text || i.length != len(code) {
			t.Errorf("% x is %v (%v), not %s", code, i, err, text)
		}
	}
	for _, name := range strings.Fields("LDTILECFG TILERELEASE TILEZERO TILELOADD TILELOADDT1 TILESTORED TDPBF16PS VCVTNEPS2BF16") {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
}

// The hardware against the emulator, on all kernels and hard values. Only the
// payload of a NaN may differ.
func TestAMXHardwareIsAsEmulated(t *testing.T) {
	needAMX(t)
	needEmulator(t)
	r := rand.New(rand.NewPCG(2, 6))
	const n, k = 75, 150
	w := make([]uint16, n*k)
	for i := range w {
		w[i] = uint16(r.Uint32())
	}
	b := packHalves(n, k, orderTiles, func(j, k0, k1 int, _ []uint16) (cols [][]uint16) {
		for c := j * panel; c < min((j+1)*panel, n); c++ {
			cols = append(cols, w[c*k+k0:c*k+k1])
		}
		return cols
	})
	for m := 1; m <= 2*panel; m++ {
		for _, parts := range []int{1, 3} {
			x := hardValues(r, m*k, true)
			p := newAMXProduct(x, &b, m, 1, parts)
			y := hardValues(r, m*n, true)
			p.run(t, y, true)
			want := append([]float32(nil), p.y...)
			copyRows(p.y, p.ldy, y, n, m, n)
			p.g.tile.run(&p.g, 0, m, 0, n) // theTiles.unit is the hardware here
			equalOrNaN(t, fmt.Sprintf("%d rows", m), p.y, want)
		}
	}
}
