// Package sandbox runs untrusted programs, one at a time per worker process:
// Python programs in a CPython guest, and any WASI module handed to it. It
// knows nothing of tests or rewards.
//
// A guest sees no file, no environment variable, no clock, no process and no
// network of the host. Its CPU time is limited by fuel that is counted inside
// the WebAssembly code, so the same program under the same limits ends the same
// way, with the same fuel count, on any machine under any load.
package sandbox

import (
	"time"

	"troupe/sandbox/python"
)

// Options configures a Pool.
type Options struct {
	Workers int           // worker processes; 0 means one per CPU
	Cache   string        // folder for the guest, compiled code and frozen images
	Guest   python.Source // zero: the pinned guest
	Modules bool          // only RunModule will be used: no Python guest is fetched or started

	// Log gets warnings, such as hardening that the kernel lacks; nil drops them.
	Log func(format string, args ...any)
	// Progress gets the state of a download or of the first preparation: what
	// is done, how far it is, and of how much (0: unknown). It may be nil.
	Progress func(what string, done, total int64)
}

// The default limits of a run.
const (
	DefaultTimeS    = 3.0
	DefaultMemoryMB = 1024
	DefaultOutputKB = 8192
)

// Limits bounds one run. Zero fields mean the defaults.
type Limits struct {
	TimeS    float64 // reference seconds, that is seconds of native CPython
	MemoryMB int     // MiB of linear memory above the frozen image
	OutputKB int     // KiB of standard output
}

// Python is one run of one program in a freshly rewound guest.
type Python struct {
	Program string
	Name    string // the file name in tracebacks and sys.argv[0]; default "prog.py"
	Args    []string
	Stdin   []byte
	// Harness is Python source that runs after Program has ended normally, in a
	// namespace of its own where `program` is the program's globals, `data` the
	// bytes of Data and `report(bytes)` appends to Result.Report. Neither it nor
	// Data is in the guest before the program has ended.
	Harness string
	Data    []byte
	Limits  Limits
	Seed    uint64 // of os.urandom and of what is seeded from it
	// Wall overrides the wall-clock backstop, which otherwise is far above what
	// the time limit takes on a busy machine.
	Wall time.Duration
}

// Outcome is how a run ended.
type Outcome string

// The outcomes. Only Crash is not the program's doing.
const (
	OK        Outcome = "ok"
	Exit      Outcome = "exit"      // exit code other than 0 by sys.exit or os._exit
	Exception Outcome = "exception" // uncaught exception, or what would be a fatal signal
	Syntax    Outcome = "syntax"    // the program does not compile
	Time      Outcome = "time"      // out of fuel
	Memory    Outcome = "memory"    // ended by an uncaught MemoryError or an allocation it could not survive
	Output    Outcome = "output"    // more standard output than allowed
	Crash     Outcome = "crash"     // infrastructure: stopped by the backstop twice, or the worker died
)

// Result is what a run left behind.
type Result struct {
	Outcome        Outcome
	ExitCode       int    // as python3 would have it: 1 after an exception, 128+n for signal n
	Stdout         []byte // at most the output limit
	Stderr         []byte // its tail
	Report         []byte // what the harness reported
	Fuel           uint64
	TimeS          float64 // fuel in reference seconds
	MemoryRefused  bool    // a growth of memory was refused at some time
	MissingModule  string  // the module whose absence ended the program
	Exception      string  // last line of the traceback, or why the run crashed
	HarnessReached bool    // the program ended normally and the harness was started
}

// Module is one run of any WASI preview 1 module.
type Module struct {
	Wasm     []byte
	Args     []string
	Stdin    []byte
	Fuel     uint64
	MemoryMB int // MiB of linear memory in all; 0 means 256
	OutputKB int // KiB; 0 means DefaultOutputKB
	Wall     time.Duration
}
