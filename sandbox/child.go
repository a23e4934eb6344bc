package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"troupe/internal/reexec"
	"troupe/sandbox/python"
)

// The child processes of a pool.
const (
	childPrepare = "sandbox-prepare" // wasm lib dir compilecache
	childPython  = "sandbox-python"  // dir compilecache rate
	childModule  = "sandbox-module"  // compilecache?; the first frame is the module
)

func init() {
	reexec.Register(childPrepare, prepareMain)
	reexec.Register(childPython, func(args []string) int {
		return serve(func(ctx context.Context, _ *bufio.Reader) (runner, error) { return newPythonRunner(ctx, args) })
	})
	reexec.Register(childModule, func(args []string) int {
		return serve(func(ctx context.Context, in *bufio.Reader) (runner, error) { return newModuleRunner(ctx, in, args) })
	})
}

// prepareMain makes the prepared form of a Python guest. It has a process of
// its own because compiling takes memory that a trainer has better uses for.
func prepareMain(args []string) int {
	if len(args) != 4 {
		return 2
	}
	if err := python.Prepare(context.Background(), args[0], args[1], args[2], args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runner runs what one kind of worker runs. An error means that the worker
// can't go on.
type runner func(ctx context.Context, request []byte) (Result, error)

// serve is the main function of workers: make the runner, harden the process,
// then answer one request after another until the parent closes the pipe.
func serve(make func(context.Context, *bufio.Reader) (runner, error)) int {
	signal.Ignore(os.Interrupt) // Ctrl-C is the parent's to handle
	runtime.GOMAXPROCS(2)       // the guest's thread, and one that sees the parent go
	go followParent(os.Getppid())
	ctx := context.Background()
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	run, err := make(ctx, in)
	var hello encoder
	if err != nil {
		hello.str(err.Error())
		hello.strs(nil)
		writeFrame(os.Stdout, hello)
		return 1
	}
	// From here on a collection happens between runs only: a guest has no
	// safepoints, and a collector that waits for it would interrupt it all the
	// time.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(softMemory)
	debug.FreeOSMemory()
	hello.str("")
	hello.strs(harden())
	if err := writeFrame(os.Stdout, hello); err != nil {
		return 1
	}
	for base := heap(); ; {
		// The request is read here, not by a goroutine of its own: handing it over
		// would wake a thread that then spins, for half as long as a small run.
		request, err := readFrame(in, maxRequest)
		if err != nil {
			return 0
		}
		result, err := run(ctx, request)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := writeFrame(os.Stdout, encodeResult(result)); err != nil {
			return 1
		}
		if heap() > base+heapSlack {
			debug.FreeOSMemory()
		}
	}
}

// softMemory is where a collection happens even while a guest runs: the engine
// grows its native stack by doubling and leaves the old ones behind.
const softMemory = 256 << 20

// heapSlack is how much garbage a worker gathers before it collects.
const heapSlack = 24 << 20

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// followParent ends a worker whose parent died while a guest runs; between runs
// the end of the pipe tells. (Windows does not tell of a new parent: there the
// guest runs to the end of its fuel first.)
func followParent(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(0)
		}
	}
}

func newPythonRunner(ctx context.Context, args []string) (runner, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("worker started with %d arguments", len(args))
	}
	rate, err := strconv.ParseFloat(args[2], 64)
	if err != nil {
		return nil, err
	}
	g, err := python.Load(ctx, args[0], args[1], rate)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, request []byte) (Result, error) {
		job, err := decodeJob(request)
		if err != nil {
			return Result{}, err
		}
		end, err := g.Run(ctx, job)
		if err != nil {
			return Result{}, err
		}
		return outcome(end, rate), nil
	}, nil
}

var outcomes = map[int]Outcome{
	python.FateOK: OK, python.FateException: Exception, python.FateExit: Exit, python.FateSyntax: Syntax,
	python.FateMemory: Memory, python.FateInterrupt: Exception, python.FateLostOutput: Exit,
	python.FateFuel: Time, python.FateOutput: Output, python.FateCrash: Exception,
}

func outcome(e python.End, rate float64) Result {
	o, known := outcomes[e.Fate]
	if !known {
		o = Exception
	}
	return Result{Outcome: o, ExitCode: e.Code, Stdout: e.Stdout, Stderr: e.Stderr, Report: e.Report, Fuel: e.Fuel,
		TimeS: float64(e.Fuel) / rate, MemoryRefused: e.Refused, MissingModule: e.Missing, Exception: e.Message,
		HarnessReached: e.Harness}
}
