package python

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"troupe/sandbox/wasi"
	"troupe/sandbox/wasm"
)

// engine is a compiled guest with the system it runs on.
type engine struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	sys      *wasi.System
}

// newEngine compiles a rewritten module, or loads its code from the cache.
func newEngine(ctx context.Context, module []byte, library []byte, compileCache string) (*engine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(compileCache)
	if err != nil {
		return nil, fmt.Errorf("compile cache: %w", err)
	}
	// Interruption by context would cost a call into Go at every loop head, and
	// debug information makes loading from the cache slow.
	cfg := wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache).
		WithCloseOnContextDone(false).WithDebugInfoEnabled(false)
	fs := wasi.NewFS()
	if err := mount(fs, library); err != nil {
		return nil, err
	}
	e := &engine{rt: wazero.NewRuntimeWithConfig(ctx, cfg), sys: wasi.NewSystem(fs)}
	if err := wasi.Instantiate(ctx, e.rt, e.sys); err != nil {
		return nil, fmt.Errorf("python guest: %w", err)
	}
	if e.compiled, err = e.rt.CompileModule(ctx, module); err != nil {
		return nil, fmt.Errorf("compile python guest: %w", err)
	}
	return e, nil
}

// machine is an instance of the guest.
type machine struct {
	*engine
	mod      api.Module
	mem      *memory
	fuel, sp api.MutableGlobal
}

// instantiate makes an instance on the given memory without starting it.
func (e *engine) instantiate(ctx context.Context, mem *memory) (*machine, error) {
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(_, _ uint64) experimental.LinearMemory { return mem }))
	mod, err := e.rt.InstantiateModule(ctx, e.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiate python guest: %w", err)
	}
	m := &machine{engine: e, mod: mod, mem: mem}
	var ok1, ok2 bool
	m.fuel, ok1 = mod.ExportedGlobal(wasm.FuelExport).(api.MutableGlobal)
	m.sp, ok2 = mod.ExportedGlobal(wasm.StackExport).(api.MutableGlobal)
	if !ok1 || !ok2 {
		return nil, errors.New("instantiate python guest: no fuel or no stack pointer")
	}
	return m, nil
}

// Compiled code and frozen images depend on all of these; a change to any of
// them makes new ones. Raise format when the preparation itself changes.
const format = "troupe python guest 2"

// stackPages is the size of the C stack that runs get. The stock guest's own
// has 512 KiB, of which a deep recursion through C needs many times more; with
// this one the engine's own stack ends first, and cleanly.
const stackPages = 2048
