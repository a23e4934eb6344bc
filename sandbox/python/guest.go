package python

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"

	"troupe/sandbox/wasi"
)

// Guest is a guest that stands ready. It runs one program at a time.
type Guest struct {
	*machine
	img    *image
	rate   float64 // ticks a reference second
	budget int64   // of the call under way
	codes  map[[32]byte]*code
	kept   int // bytes of codes
}

// Load makes a guest from what Prepare left in dir.
func Load(ctx context.Context, dir, compileCache string, rate float64) (*Guest, error) {
	img, module, library, err := readImage(dir)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(ctx, module, library, compileCache)
	if err != nil {
		return nil, err
	}
	mem, err := newMemory(img.Total)
	if err != nil {
		return nil, err
	}
	copy(mem.space, img.memory)
	m, err := e.instantiate(ctx, mem)
	if err != nil {
		return nil, err
	}
	return &Guest{machine: m, img: img, rate: rate, codes: map[[32]byte]*code{}}, nil
}

// Job is one run of one program; see the sandbox's Python.
type Job struct {
	Program, Name string
	Args          []string
	Stdin         []byte
	Harness       string
	Data          []byte
	Fuel          uint64
	Memory        uint64 // bytes above the image
	Output        int
	Seed          uint64
}

// The fates of a program, as boot.py numbers them, and those the host sees.
const (
	FateOK = iota
	FateException
	FateExit
	FateSyntax
	FateMemory
	FateInterrupt
	FateLostOutput
	FateLeft // exit code 0, but by SystemExit: a harness is not reached
	FateFuel
	FateOutput
	FateCrash // the interpreter died, natively by a signal
)

// End is how a run ended. The slices are valid until the next run.
type End struct {
	Fate           int
	Code           int // exit code
	Stdout, Stderr []byte
	Report         []byte
	Fuel           uint64
	Refused        bool // a growth of memory was refused
	Missing        string
	Message        string
	Harness        bool
}

// cleared is how much of the C stack's top is cleared by hand: programs
// always use it, and a page fault costs more than clearing the page.
const cleared = 256 << 10

// rewind brings the guest back to the frozen state.
func (g *Guest) rewind(cfg wasi.Config, fuel uint64, memory uint64) error {
	used := g.mem.size
	if err := g.mem.shrink(g.mod.Memory(), g.img.Total); err != nil {
		return err
	}
	copy(g.mem.space, g.img.memory)
	discard(g.mem.space[g.img.Hot : g.img.Total-cleared])
	clear(g.mem.space[g.img.Total-cleared : g.img.Total])
	if used > g.img.Total {
		discard(g.mem.space[g.img.Total:used])
	}
	g.mem.max = min(g.img.Total+memory, uint64(len(g.mem.space)))
	g.mem.refused = false
	g.sp.Set(g.img.SP)
	g.budget = int64(min(fuel, 1<<62))
	g.fuel.Set(uint64(g.budget))
	cfg.Elapsed, cfg.Spend, cfg.Pay, cfg.Open = g.elapsed, g.spend, g.pay, g.img.Open
	g.sys.Reset(cfg)
	return nil
}

// used is the fuel spent since the rewind.
func (g *Guest) used() uint64 { return uint64(min(g.budget-int64(g.fuel.Get()), g.budget)) }

// elapsed is the virtual time since the rewind, in nanoseconds.
func (g *Guest) elapsed() int64 { return int64(float64(g.used()) * 1e9 / g.rate) }

var errFuel = errors.New("out of fuel")

// spend makes the guest pay for sleeping: a time limit is one for sleepers too.
func (g *Guest) spend(ns int64) {
	left, price := float64(int64(g.fuel.Get())), float64(ns)*g.rate/1e9
	if price > left {
		g.fuel.Set(uint64(1<<64 - 1))
		panic(errFuel)
	}
	g.fuel.Set(uint64(int64(left - price)))
}

// pay takes ticks for work of the host.
func (g *Guest) pay(ticks int64) {
	left := int64(g.fuel.Get()) - ticks
	if left < 0 {
		left = -1
	}
	g.fuel.Set(uint64(left))
	if left < 0 {
		panic(errFuel)
	}
}

// frames packs what a function of boot.py reads: each part with its length.
func frames(parts ...[]byte) []byte {
	n := 0
	for _, p := range parts {
		n += 4 + len(p)
	}
	o := make([]byte, 0, n)
	for _, p := range parts {
		o = binary.LittleEndian.AppendUint32(o, uint32(len(p)))
		o = append(o, p...)
	}
	return o
}

var vectorcall = []api.ValueType{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}

// call calls a function of boot.py and tells its fate.
func (g *Guest) call(ctx context.Context, function uint32, job []byte) (int, error) {
	g.sys.Tell(job)
	f := table.LookupFunction(g.mod, 0, g.img.Slot, vectorcall, vectorcall[:1])
	r, err := f.Call(ctx, uint64(function), 0, 0, 0)
	if err != nil {
		return 0, err
	}
	object := uint32(r[0])
	if n := (object - g.img.Zero) / g.img.Stride; object >= g.img.Zero && n < 256 {
		return int(n), nil
	}
	return FateException, nil // an exception that boot.py could not catch
}

// Run runs one program in a rewound guest. An error means that the guest can't
// be used any more.
func (g *Guest) Run(ctx context.Context, j Job) (End, error) {
	program, err := g.code(ctx, programPath(j), j.Program, j)
	if err != nil {
		return End{}, err
	}
	if program.failed != nil {
		return *program.failed, nil
	}
	var harness *code
	flags := []byte{}
	if j.Harness != "" {
		trusted := j
		trusted.Fuel, trusted.Memory = 1<<40, 256<<20
		if harness, err = g.code(ctx, "<harness>", j.Harness, trusted); err != nil {
			return End{}, err
		}
		if harness.failed != nil {
			return End{}, fmt.Errorf("harness does not compile: %s", harness.failed.Message)
		}
		flags = []byte{1}
	}
	var seed []byte
	if j.Seed != 0 {
		seed = binary.LittleEndian.AppendUint64(nil, j.Seed)
	}
	cfg := wasi.Config{Stdin: j.Stdin, MaxOutput: j.Output, Seed: j.Seed, Files: sources(j)}
	if err := g.rewind(cfg, j.Fuel-min(j.Fuel, program.fuel), j.Memory); err != nil {
		return End{}, err
	}
	argv := strings.Join(append([]string{j.Name}, j.Args...), "\x00")
	fate, err := g.call(ctx, g.img.Run, frames(flags, []byte(argv), []byte(programPath(j)), seed, program.bytes))
	end := End{}
	if err == nil && fate == FateOK && harness != nil {
		end.Harness = true
		g.sys.Report() // a program has nothing to report
		fate, err = g.call(ctx, g.img.Harness, frames(harness.bytes, j.Data))
		end.Report = g.sys.Report()
	}
	g.judge(&end, fate, err)
	if end.Harness && end.Fate == FateOK && (err != nil || fate != FateOK) {
		end.Fate = FateExit // a harness does not leave by itself: what it called did
	}
	end.Fuel += program.fuel
	end.Stderr = append(program.warnings[:len(program.warnings):len(program.warnings)], end.Stderr...)
	return end, nil
}

// programPath is where the program's file is in the guest.
func programPath(j Job) string {
	if strings.ContainsAny(j.Name, "/\x00<") {
		return j.Name
	}
	return "/tmp/" + j.Name
}

// sources puts the program where a traceback looks for its lines.
func sources(j Job) map[string][]byte {
	if strings.ContainsAny(j.Name, "/\x00<") {
		return nil
	}
	return map[string][]byte{j.Name: []byte(j.Program)}
}

// judge fills in how a call ended.
func (g *Guest) judge(end *End, fate int, err error) {
	end.Fate = fate
	end.Stdout, end.Stderr = g.sys.Stdout(), g.sys.Stderr()
	end.Fuel, end.Refused = g.used(), g.mem.refused
	note := strings.SplitN(string(g.sys.Note()), "\x00", 3)
	var exit *wasi.ExitError
	switch {
	case int64(g.fuel.Get()) < 0:
		end.Fate, end.Message = FateFuel, "time limit exceeded"
	case errors.Is(err, wasi.ErrOutput):
		end.Fate, end.Message = FateOutput, "output limit exceeded"
	case errors.Is(err, wasi.ErrReport):
		end.Fate, end.Message = FateOutput, "report limit exceeded"
	case errors.As(err, &exit):
		end.Fate, end.Code = FateExit, int(exit.Code&0xff)
		if end.Code == 0 {
			end.Fate = FateOK
		}
	case err != nil:
		end.Fate, end.Code = FateCrash, 139
		end.Message = "interpreter died: " + firstLine(err.Error())
		if end.Refused {
			end.Fate = FateMemory
		}
	case fate != FateOK && len(note) == 3:
		end.Missing, end.Message = note[1], note[2]
		end.Code = 1
		if fate == FateExit {
			fmt.Sscan(note[0], &end.Code)
		}
	}
	switch end.Fate {
	case FateLeft:
		end.Fate, end.Code, end.Message = FateOK, 0, ""
	case FateInterrupt:
		end.Code = 130
	case FateLostOutput:
		end.Code = 120
	case FateException:
		end.Code = 1
		if end.Message == "" {
			end.Message = "SystemError: interpreter state lost"
			if end.Refused {
				end.Fate, end.Message = FateMemory, "MemoryError"
			}
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// code is a program compiled by the guest, kept by the host between runs. The
// compiling runs in an interpreter of its own that is thrown away, so a run is
// the same, to the tick, whether the code was kept or not.
type code struct {
	bytes    []byte
	fuel     uint64
	warnings []byte
	failed   *End
}

// Compiled programs are kept up to these bounds: a program chooses how large its
// code and its warnings are.
const (
	keptCodes = 256
	keptBytes = 64 << 20
)

func (g *Guest) code(ctx context.Context, name, source string, j Job) (*code, error) {
	key := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%d\x00%d\x00%s", name, j.Fuel, j.Memory, source)))
	if c := g.codes[key]; c != nil {
		return c, nil
	}
	cfg := wasi.Config{MaxOutput: 1 << 16, Files: sources(j)}
	if err := g.rewind(cfg, j.Fuel, j.Memory); err != nil {
		return nil, err
	}
	fate, err := g.call(ctx, g.img.Prepare, frames([]byte(name), []byte(source)))
	var end End
	g.judge(&end, fate, err)
	end.Stderr = append([]byte(nil), end.Stderr...)
	end.Stdout = nil
	c := &code{bytes: g.sys.Report(), fuel: end.Fuel, warnings: end.Stderr}
	if end.Fate != FateOK || len(c.bytes) == 0 {
		c = &code{failed: &end}
	}
	g.keep(key, c)
	return c, nil
}

// keep keeps a compiled program; what was kept goes when it becomes too much.
func (g *Guest) keep(key [32]byte, c *code) {
	size := len(c.bytes) + len(c.warnings)
	if c.failed != nil {
		size += len(c.failed.Stderr)
	}
	if len(g.codes) >= keptCodes || g.kept+size > keptBytes {
		clear(g.codes)
		g.kept = 0
	}
	g.codes[key] = c
	g.kept += size
}
