//go:build !purego

package kernels

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// amxHere says why this machine can't run the AMX kernels itself; nil: it can.
var amxHere = AMX()

// Without AMX the emulator stands in for it, so that every test that goes through
// all families runs the AMX kernels too, where the conversions of operands can run.
func init() {
	if amxHere != nil && canEmulateAMX() {
		theTiles.unit, theTiles.refused = new(emulatedUnit), nil
	}
}

func canEmulateAMX() bool { return usable(avx512) && cpu.X86.HasAVX512BF16 }

// needEmulator skips a test where neither AMX nor its emulation works.
func needEmulator(t *testing.T) {
	t.Helper()
	if !canEmulateAMX() {
		t.Skip("the emulator of AMX needs AVX-512 and AVX-512 BF16")
	}
}

// needAMX skips a test that is only worth something on the hardware.
func needAMX(t *testing.T) {
	t.Helper()
	if amxHere != nil {
		t.Skipf("needs AMX: %v", amxHere)
	}
}

// emulatedUnit is a tile unit that emulates the kernels.
type emulatedUnit struct {
	fakeUnit
	flaw    flaw
	kernel  func(tileKernel) tileKernel // runs another one instead, if not nil
	regions func(c *tileCall) []region  // if not nil
	mu      sync.Mutex
	ran     map[tileKernel]int // calls
	dots    int
	fetched int
}

var amxEntries = sync.OnceValues(func() (entries []uintptr, err error) {
	for _, f := range amxKernels {
		entry, err := amxMachineCode(f)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
})

func (u *emulatedUnit) run(k tileKernel, c *tileCall) {
	if err := u.try(k, c); err != nil {
		panic(fmt.Sprintf("kernel %d: %v", k, err))
	}
}

func (u *emulatedUnit) try(k tileKernel, c *tileCall) error {
	entries, err := amxEntries()
	if err != nil {
		return err
	}
	if u.kernel != nil {
		k = u.kernel(k)
	}
	e := &emulator{flaw: u.flaw}
	if u.regions != nil {
		e.regions = u.regions(c)
	}
	if err := e.run(entries[k], c); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ran == nil {
		u.ran = map[tileKernel]int{}
	}
	u.ran[k]++
	u.dots += e.dots
	u.fetched += e.fetched
	return nil
}

// with makes u the tile unit while f runs.
func (u *emulatedUnit) with(f func()) {
	defer func(old tileUnit) { theTiles.unit = old }(theTiles.unit)
	theTiles.unit = u
	f()
}

// fakeUnit is a processor and an operating system that say what a test wants.
type fakeUnit struct {
	leaves            map[[2]uint32][4]uint32
	state, mask       uint64
	refused, maskless error
	asked             []string
}

func (u *fakeUnit) cpuid(leaf, sub uint32) (a, b, c, d uint32) {
	v := u.leaves[[2]uint32{leaf, sub}]
	u.asked = append(u.asked, fmt.Sprintf("cpuid %x.%x", leaf, sub))
	return v[0], v[1], v[2], v[3]
}

func (u *fakeUnit) xgetbv() uint64 {
	u.asked = append(u.asked, "xgetbv")
	return u.state
}

func (u *fakeUnit) request() error {
	u.asked = append(u.asked, "request")
	return u.refused
}

func (u *fakeUnit) permitted() (uint64, error) {
	u.asked = append(u.asked, "permitted")
	return u.mask, u.maskless
}

func (u *fakeUnit) run(tileKernel, *tileCall) { u.asked = append(u.asked, "run") }

// graniteRapids is what such a processor says in a virtual machine under Linux.
func graniteRapids() *fakeUnit {
	return &fakeUnit{
		leaves: map[[2]uint32][4]uint32{
			{0, 0}:    {0x20, 0x756e6547, 0x6c65746e, 0x49656e69},
			{1, 0}:    {0x000a0671, 0, 1<<27 | 1<<28, 0},
			{7, 0}:    {2, 1 << 16, 0, 1<<22 | 1<<24 | 1<<25},
			{7, 1}:    {1<<4 | 1<<5, 0, 0, 0},
			{0x1d, 0}: {1, 0, 0, 0},
			{0x1d, 1}: {1024<<16 | 8192, 8<<16 | 64, 16, 0},
		},
		state: 0x602e7, mask: 0x602e7,
	}
}

func TestAMXIsDetectedByFeaturesStateAndPermission(t *testing.T) {
	leaf := func(leaf, sub uint32, reg int, keep, set uint32) func(*fakeUnit) {
		return func(u *fakeUnit) {
			v := u.leaves[[2]uint32{leaf, sub}]
			v[reg] = v[reg]&keep | set
			u.leaves[[2]uint32{leaf, sub}] = v
		}
	}
	denied := errors.New("operation not permitted")
	for _, c := range []struct {
		name   string
		change func(*fakeUnit)
		want   string // "": detected
		last   string // the last thing that was asked
	}{
		{"all there", func(*fakeUnit) {}, "", "permitted"},
		{"another model number", leaf(1, 0, 0, 0, 0x000806f8), "", "permitted"},
		{"an old processor", leaf(0, 0, 0, 0, 0x1d), "no AMX", "cpuid 0.0"},
		{"exactly the last leaf", leaf(0, 0, 0, 0, 0x1e), "", "permitted"},
		{"no OSXSAVE", leaf(1, 0, 2, ^uint32(1<<27), 0), "not enabled XSAVE", "cpuid 1.0"},
		{"no tiles", leaf(7, 0, 3, ^uint32(1<<24), 0), "no AMX tiles", "cpuid 7.0"},
		{"tiles of int8 only", leaf(7, 0, 3, ^uint32(1<<22), 0), "no AMX tiles of bfloat16", "cpuid 7.0"},
		{"no AVX-512 BF16", leaf(7, 1, 0, ^uint32(1<<5), 0), "AVX-512 BF16", "cpuid 7.1"},
		{"tile configuration not kept", func(u *fakeUnit) { u.state &^= 1 << 17 }, "XCR0 is 0x402e7", "xgetbv"},
		{"tile data not kept", func(u *fakeUnit) { u.state &^= 1 << 18 }, "does not keep tile state", "xgetbv"},
		{"AVX-512 state not kept", func(u *fakeUnit) { u.state &^= 1 << 6 }, "does not keep tile state", "xgetbv"},
		{"small tiles", leaf(0x1d, 1, 0, 0, 512<<16|8192), "too small", "cpuid 1d.1"},
		{"four tiles", leaf(0x1d, 1, 1, 0, 4<<16|64), "too small", "cpuid 1d.1"},
		{"short rows", leaf(0x1d, 1, 1, 0, 8<<16|32), "too small", "cpuid 1d.1"},
		{"eight rows", leaf(0x1d, 1, 2, 0, 8), "too small", "cpuid 1d.1"},
		{"no palette", func(u *fakeUnit) { delete(u.leaves, [2]uint32{0x1d, 1}) }, "too small", "cpuid 1d.1"},
		{"permission refused", func(u *fakeUnit) { u.refused = denied }, "refuses tiles: operation not permitted", "request"},
		{"mask refused", func(u *fakeUnit) { u.maskless = denied }, "does not tell", "permitted"},
		{"granted in name only", func(u *fakeUnit) { u.mask = 0x2e7 }, "did not permit tiles (mask 0x2e7)", "permitted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := graniteRapids()
			c.change(u)
			err := detectTiles(u)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if last := u.asked[len(u.asked)-1]; last != c.last {
				t.Errorf("asked %q, the last should be %q", u.asked, c.last)
			}
		})
	}
}

// A unit that gives other bits, or runs other kernels, must be refused.
func TestAMXSelfTestRefusesWrongKernels(t *testing.T) {
	arithmeticOnly(t)
	needEmulator(t)
	units := map[string]*emulatedUnit{"exact": {}}
	for f, name := range map[flaw]string{oneChain: "one chain", oddFirst: "VDPBF16PS", chainFromSum: "chains from the sum",
		keepDenormals: "denormals kept", doubleSums: "rounded once"} {
		units[name] = &emulatedUnit{flaw: f}
	}
	units["one part for three"] = &emulatedUnit{kernel: func(k tileKernel) tileKernel { return k &^ 2 }}
	units["half the columns"] = &emulatedUnit{kernel: func(k tileKernel) tileKernel { return k &^ 4 }}
	units["half the rows"] = &emulatedUnit{kernel: func(k tileKernel) tileKernel { return k &^ 8 }}
	for name, u := range units {
		t.Run(name, func(t *testing.T) {
			var err error
			u.with(func() { err = testTiles() })
			if (err == nil) != (name == "exact") {
				t.Errorf("%v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "self-test failed") {
				t.Errorf("%v", err)
			}
			if name == "exact" && len(u.ran) != len(amxKernels) {
				t.Errorf("ran kernels %v of %d", maps.Collect(maps.All(u.ran)), len(amxKernels))
			}
		})
	}
}

// Each kernel that computes one wrong value somewhere must be refused.
func TestAMXSelfTestSeesEveryKernel(t *testing.T) {
	arithmeticOnly(t)
	needEmulator(t)
	for k := range tileKernel(len(amxKernels)) {
		u := &spoilingUnit{kernel: k}
		func() {
			defer func(old tileUnit) { theTiles.unit = old }(theTiles.unit)
			theTiles.unit = u
			if err := testTiles(); err == nil {
				t.Errorf("kernel %d is not compared", k)
			}
		}()
	}
}

// spoilingUnit changes the last bit of one output of one kernel.
type spoilingUnit struct {
	emulatedUnit
	kernel tileKernel
}

func (u *spoilingUnit) run(k tileKernel, c *tileCall) {
	u.emulatedUnit.run(k, c)
	if k == u.kernel {
		*(*uint32)(unsafe.Add(c.out.at, 4)) ^= 1
	}
}
