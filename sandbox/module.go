package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"troupe/sandbox/wasi"
	"troupe/sandbox/wasm"
)

// moduleRate is the virtual clock of modules, in ticks a second.
const moduleRate = 500e6

var errFuel = errors.New("out of fuel")

// moduleRunner runs one module, each time in a new instance.
type moduleRunner struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	sys      *wasi.System
	mem      cappedMemory // kept: clearing it costs less than taking a new one
}

// newModuleRunner compiles the module that is the first frame, or loads its code
// from the compile cache, if one is named.
func newModuleRunner(ctx context.Context, in *bufio.Reader, args []string) (runner, error) {
	b, err := readFrame(in, maxRequest)
	if err != nil {
		return nil, err
	}
	rewritten, err := wasm.Rewrite(b, wasm.Options{Fuel: true})
	if err != nil {
		return nil, err
	}
	plain := wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(false).WithDebugInfoEnabled(false)
	if len(args) > 0 {
		if cache, err := wazero.NewCompilationCacheWithDir(args[0]); err == nil {
			if r, err := compileModule(ctx, rewritten.Module, plain.WithCompilationCache(cache)); err == nil {
				return r.run, nil
			}
		}
	}
	// Without a cache, or with one that can't be read, it only takes longer.
	r, err := compileModule(ctx, rewritten.Module, plain)
	if err != nil {
		return nil, err
	}
	return r.run, nil
}

func compileModule(ctx context.Context, module []byte, cfg wazero.RuntimeConfig) (*moduleRunner, error) {
	r := &moduleRunner{rt: wazero.NewRuntimeWithConfig(ctx, cfg), sys: wasi.NewSystem(wasi.NewFS())}
	if err := wasi.Instantiate(ctx, r.rt, r.sys); err != nil {
		return nil, err
	}
	var err error
	if r.compiled, err = r.rt.CompileModule(ctx, module); err != nil {
		r.rt.Close(ctx)
		return nil, fmt.Errorf("compile module: %w", err)
	}
	return r, nil
}

// cappedMemory is a linear memory with a limit of its own for each run.
type cappedMemory struct {
	b       []byte
	max     uint64
	refused bool
}

// begin empties the memory for the next run.
func (m *cappedMemory) begin(limit uint64) {
	b := m.b[:cap(m.b)]
	clear(b[:len(m.b)])
	if len(b) > keptMemory {
		b = nil
	}
	*m = cappedMemory{b: b[:0], max: limit}
}

// keptMemory bounds what is kept between runs.
const keptMemory = 64 << 20

// Reallocate gives the memory its next length, or nil where the limit is.
func (m *cappedMemory) Reallocate(size uint64) []byte {
	switch {
	case size > m.max:
		m.refused = true
		return nil
	case size <= uint64(cap(m.b)):
		m.b = m.b[:size]
	default:
		grown := make([]byte, size, min(size+size/2, m.max))
		copy(grown, m.b)
		m.b = grown
	}
	return m.b
}

// Free keeps the memory for the next run.
func (m *cappedMemory) Free() {}

func (r *moduleRunner) run(ctx context.Context, request []byte) (Result, error) {
	m, err := decodeModule(request)
	if err != nil {
		return Result{}, err
	}
	limit := uint64(m.MemoryMB) << 20
	for _, d := range r.compiled.ExportedMemories() {
		if uint64(d.Min())<<16 > limit {
			return Result{Outcome: Memory, MemoryRefused: true, ExitCode: 137, Exception: "module wants more memory than allowed"}, nil
		}
	}
	// An allocator must not refuse what a module begins with: the engine would
	// panic. A memory that is not exported is checked here as it is made.
	var tooLarge bool
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(least, _ uint64) experimental.LinearMemory {
		tooLarge = least > limit
		r.mem.begin(max(limit, least))
		return &r.mem
	}))
	budget := int64(min(m.Fuel, 1<<62))
	var fuel api.MutableGlobal
	used := func() uint64 {
		if fuel == nil {
			return 0
		}
		return uint64(min(budget-int64(fuel.Get()), budget))
	}
	r.sys.Reset(wasi.Config{Args: append([]string{"module"}, m.Args...), Stdin: m.Stdin, MaxOutput: m.OutputKB << 10,
		Elapsed: func() int64 { return int64(float64(used()) * 1e9 / moduleRate) },
		Pay: func(ticks int64) {
			if fuel == nil {
				return
			}
			left := max(int64(fuel.Get())-ticks, -1)
			fuel.Set(uint64(left))
			if left < 0 {
				panic(errFuel)
			}
		}})
	mod, err := r.rt.InstantiateModule(ctx, r.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return Result{Outcome: Exception, ExitCode: 1, Exception: firstLine(err)}, nil
	}
	defer mod.Close(ctx)
	fuel, _ = mod.ExportedGlobal(wasm.FuelExport).(api.MutableGlobal)
	if fuel == nil || tooLarge {
		return Result{Outcome: Memory, MemoryRefused: true, ExitCode: 137, Exception: "module wants more memory than allowed"}, nil
	}
	fuel.Set(uint64(budget))
	for _, name := range []string{wasm.StartExport, "_initialize", "_start"} {
		if f := mod.ExportedFunction(name); f != nil && err == nil {
			_, err = f.Call(ctx)
		}
	}
	res := Result{Outcome: OK, Stdout: r.sys.Stdout(), Stderr: r.sys.Stderr(), Fuel: used(), MemoryRefused: r.mem.refused,
		TimeS: float64(used()) / moduleRate}
	r.judge(&res, int64(fuel.Get()) < 0, err)
	return res, nil
}

func (r *moduleRunner) judge(res *Result, spent bool, err error) {
	var exit *wasi.ExitError
	switch {
	case spent:
		res.Outcome, res.Exception = Time, "time limit exceeded"
	case err == nil:
	case errors.As(err, &exit):
		res.ExitCode = int(exit.Code & 0xff)
		if res.ExitCode != 0 {
			res.Outcome = Exit
		}
	case errors.Is(err, wasi.ErrOutput):
		res.Outcome, res.Exception = Output, "output limit exceeded"
	case r.mem.refused:
		res.Outcome, res.ExitCode, res.Exception = Memory, 137, firstLine(err)
	default:
		res.Outcome, res.ExitCode, res.Exception = Exception, 134, firstLine(err)
	}
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
