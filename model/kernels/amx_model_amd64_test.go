//go:build !purego

package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// The decoder must take what the kernels consist of and refuse the rest.
func TestAMXDecoder(t *testing.T) {
	for _, c := range []struct {
		code []byte
		want string // text, or what the error says
	}{
		{[]byte{0xc4, 0xe2, 0x78, 0x49, 0x00}, "LDTILECFG (AX)"},
		{[]byte{0xc4, 0xe2, 0x78, 0x49, 0xc0}, "TILERELEASE"},
		{[]byte{0xc4, 0xe2, 0x7b, 0x49, 0xf8}, "TILEZERO TMM7"},
		{[]byte{0xc4, 0xa2, 0x7b, 0x4b, 0x24, 0x26}, "TILELOADD (SI)(R12*1), TMM4"},
		{[]byte{0xc4, 0xa2, 0x79, 0x4b, 0x74, 0x2a, 0x40}, "TILELOADDT1 64(DX)(R13*1), TMM6"},
		{[]byte{0xc4, 0xc2, 0x7a, 0x4b, 0x04, 0x01}, "TILESTORED TMM0, (R9)(AX*1)"},
		{[]byte{0xc4, 0xe2, 0x4a, 0x5c, 0xc4}, "TDPBF16PS TMM6, TMM4, TMM0"},
		{[]byte{0xc4, 0xe2, 0x4b, 0x5c, 0xc4}, "not known"}, // TDPBSSD
		{[]byte{0xc4, 0xe2, 0xca, 0x5c, 0xc4}, "W and L"},
		{[]byte{0xc4, 0xe1, 0x4a, 0x5c, 0xc4}, "map 1"},
		{[]byte{0xc4, 0xe2, 0x02, 0x5c, 0xc4}, "tile above 7"},
		{[]byte{0xc4, 0xe2, 0x7b, 0x4b, 0x06}, "without index"},
		{[]byte{0xc4, 0xe2, 0x73, 0x49, 0xc0}, "third operand"},
		{[]byte{0xc4, 0xe2, 0x78, 0x49, 0xc8}, "reserved"},
		{[]byte{0xc4, 0xe2, 0x78, 0x49}, "ends inside"},
		{[]byte{0x0f, 0x0b}, "not known"},         // UD2
		{[]byte{0x85, 0xff}, "not on 64 bits"},    // TESTL
		{[]byte{0x48, 0xff, 0xc0}, "group ff"},    // INCQ
		{[]byte{0x48, 0x8b, 0x04, 0x88}, "scale"}, // MOVQ (AX)(CX*4), AX
		{[]byte{0x48, 0x8b, 0x05, 0, 0, 0, 0}, "no base"},
		{[]byte{0x66, 0x89, 0xc0}, "prefix 66"},
	} {
		i, err := decodeX86(c.code)
		got := i.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && i.length != len(c.code) {
			t.Errorf("% x: %s, want %s", c.code, got, c.want)
		}
	}
}

// heap is what must not be on a goroutine's stack.
var heap []uint16

// A kernel that leaves tiles configured, uses them too early, returns elsewhere,
// writes memory from general registers or spoils the goroutine register is caught.
func TestAMXEmulatorSeesBrokenRoutines(t *testing.T) {
	prologue := []byte{0x48, 0x8b, 0x5c, 0x24, 0x08, 0x48, 0x8b, 0x03, 0xc4, 0xe2, 0x78, 0x49, 0x00} // MOVQ 8(SP), BX; MOVQ (BX), AX; LDTILECFG (AX)
	release := []byte{0xc4, 0xe2, 0x78, 0x49, 0xc0}
	routine := func(parts ...[]byte) (code []byte) {
		for _, p := range parts {
			code = append(code, p...)
		}
		return append(code, make([]byte, 16)...) // the decoder looks ahead
	}
	for _, c := range []struct {
		name, want string
		code       []byte
	}{
		{"in order", "", routine(prologue, release, []byte{0xc3})},
		{"no release", "without TILERELEASE", routine(prologue, []byte{0xc3})},
		{"released twice", "not configured", routine(prologue, release, release, []byte{0xc3})},
		{"too early", "not configured", routine([]byte{0xc4, 0xe2, 0x7b, 0x49, 0xc0, 0xc3})},
		{"same tile twice", "two operands", routine(prologue, []byte{0xc4, 0xe2, 0x5a, 0x5c, 0xc4}, release, []byte{0xc3})}, // TDPBF16PS T4, T4, T0
		{"stores", "are stored", routine([]byte{0x48, 0x89, 0x03, 0xc3})},
		{"goroutine register", "goroutine register", routine([]byte{0x4c, 0x8b, 0xf0, 0xc3})}, // MOVQ AX, R14
		{"stack moved", "stack moved", routine([]byte{0x48, 0x83, 0xec, 0xf8, 0xc3})},
		{"reads past the stack", "outside of stack", routine([]byte{0x48, 0x8b, 0x5c, 0x24, 0x40, 0xc3})},
		{"jumps away", "jumps out", routine([]byte{0xeb, 0x7f})},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := tileWorks.Get().(*tileWork) // on the heap
			defer tileWorks.Put(work)
			work.config.configure(32, 32)
			work.call = tileCall{config: &work.config}
			heap = alignedU16(32)
			code := unsafe.Slice((*byte)(unsafe.Pointer(&heap[0])), 64)
			if copy(code, c.code) < len(c.code) {
				t.Fatal("the routine is too long")
			}
			e := emulator{regions: []region{}}
			err := e.run(regionOf("code", code, false, false).at, &work.call)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// The rounding of the emulator and of the portable kernels against exact numbers.
func TestAMXRoundingIsExact(t *testing.T) {
	arithmeticOnly(t)
	smallest := new(big.Float).SetFloat64(0x1p-126)
	exactly := func(a, b, c float32) float32 {
		x := new(big.Float).SetPrec(1000).SetFloat64(float64(a))
		x.Mul(x, new(big.Float).SetPrec(1000).SetFloat64(float64(b)))
		x.Add(x, new(big.Float).SetPrec(1000).SetFloat64(float64(c)))
		x.SetPrec(24) // nearest even; the exponent has no end
		if x.Sign() != 0 && new(big.Float).Abs(x).Cmp(smallest) < 0 {
			return float32(math.Copysign(0, float64(x.Sign())))
		}
		f, _ := x.Float32()
		return f
	}
	r := rand.New(rand.NewPCG(8, 16))
	value := func() float32 {
		exponent := r.IntN(254) + 1
		if r.IntN(2) == 0 {
			exponent = r.IntN(40) + 45 // products near 2^-126
		}
		return math.Float32frombits(uint32(r.IntN(2))<<31 | uint32(exponent)<<23 | r.Uint32()&(1<<23-1))
	}
	check := func(a, b, c float32) {
		d := float64(a)*float64(b) + float64(c)
		want := exactly(a, b, c)
		for name, got := range map[string]float32{"emulator": ftz(d), "portable": round64(d)} {
			if math.Float32bits(got) != math.Float32bits(want) && !(got == 0 && want == 0 && d == 0) {
				t.Fatalf("%s: %x·%x + %x is %x, want %x", name, a, b, c, got, want)
			}
		}
	}
	for range 200_000 {
		a, b, c := FromBF16(BF16(value())), FromBF16(BF16(value())), value()
		if r.IntN(2) == 0 {
			c = math.Float32frombits(math.Float32bits(a*b)&0xff800000 | 0x00800000&r.Uint32() | r.Uint32()&7)
		}
		if f := flush(c); !math.IsInf(float64(a*b), 0) && !math.IsInf(float64(c), 0) && c == c {
			check(a, b, f)
		}
	}
	check(0x1p-126, 1, -0x1p-150)                  // one last bit below: tiny
	check(0x1p-75, 0x1p-51, 0)                     // exactly the smallest
	check(-0x1p-76, 0x1p-75, 0x1p-126)             // a tie: rounds up to the smallest
	check(-0x1.8p-76, 0x1p-75, 0x1p-126)           // below the tie: zero
	check(0x1p-76, 0x1p-75, -0x1p-126)             // the same, negative
	check(0x1.fep63, 0x1.fep63, math.MaxFloat32/2) // near the other end
}

// The parts of left operands must be the portable ones, for all tails of k and all
// heights of the last row panel.
func TestAMXLeftOperands(t *testing.T) {
	arithmeticOnly(t)
	needEmulator(t)
	r := rand.New(rand.NewPCG(4, 2))
	for _, m := range []int{1, 2, 16, 17, 31, 32, 33, 70} {
		for k := 1; k < 100; k += 3 {
			x := make([]float32, m*k)
			for i := range x {
				x[i] = float32(r.NormFloat64())
				if r.IntN(4) == 0 {
					x[i] = math.Float32frombits(r.Uint32())
				}
			}
			for _, parts := range []int{1, 3} {
				blocks := (k + quad - 1) / quad
				left := alignedF32(m * blocks * parts * tileRow / 4)
				(*Pool)(nil).tileLeft(at(left), x, k, m, k, parts)
				checkLeft(t, left, x, m, k, parts)
			}
		}
	}
}

// checkLeft compares row panels of tiles, [block][part][row][32], value by value.
func checkLeft(t *testing.T, left, x []float32, m, k, parts int) {
	t.Helper()
	blocks := (k + quad - 1) / quad
	for i := range m {
		first := i / panel * panel
		h := min(panel, m-first)
		for b := range blocks {
			for q := range parts {
				row := left[((first*blocks+b*h)*parts+q*h+i-first)*tileRow/4:][:tileRow/4]
				for d, v := range unpackPairs(row) {
					want := float32(0)
					if at := b*quad + d; at < k {
						want = splitValue(x[i*k+at], parts)[q]
					}
					equalOrNaN(t, "left", []float32{v}, []float32{want})
				}
			}
		}
	}
}
