package sandbox

import (
	"strings"
	"testing"
)

// TestProgramsEndAsWithPython3 has one row for each way in which a program can
// end, and for each shim.
func TestProgramsEndAsWithPython3(t *testing.T) {
	p := open(t, 1)
	for _, c := range []struct {
		name, program, stdin string
		limits               Limits
		outcome              Outcome
		code                 int
		stdout               string
		stderr               string // is contained
		missing              string
	}{
		{name: "print", program: "print(1)", outcome: OK, stdout: "1\n"},
		{name: "exit code", program: "import sys; print(1); sys.exit(3)", outcome: Exit, code: 3, stdout: "1\n"},
		{name: "exit text", program: "raise SystemExit('bye')", outcome: Exit, code: 1, stderr: "bye\n"},
		{name: "exit builtin", program: "exit()", outcome: OK},
		{name: "os._exit loses buffers", program: "import os; print(1); os._exit(0)", outcome: OK},
		{name: "exception", program: "def f():\n    raise KeyError('x')\nf()", outcome: Exception, code: 1,
			stderr: "Traceback (most recent call last):\n  File \"/tmp/prog.py\", line 3, in <module>\n    f()\n  File \"/tmp/prog.py\", line 2, in f\n    raise KeyError('x')\nKeyError: 'x'\n"},
		{name: "syntax", program: "x = = 1", outcome: Syntax, code: 1, stderr: "SyntaxError: invalid syntax"},
		{name: "keyboard interrupt", program: "raise KeyboardInterrupt", outcome: Exception, code: 130},
		{name: "missing module", program: "import numpy as np", outcome: Exception, code: 1, missing: "numpy"},
		{name: "missing module, caught", program: "try:\n    import numpy\nexcept ImportError:\n    print(1)", outcome: OK, stdout: "1\n"},
		{name: "time", program: "while True: pass", limits: Limits{TimeS: 0.02}, outcome: Time},
		{name: "memory", program: "x = bytearray(10**9)", limits: Limits{MemoryMB: 64}, outcome: Memory, code: 1, stderr: "MemoryError"},
		{name: "output", program: "while True: print('x' * 100)", limits: Limits{OutputKB: 1}, outcome: Output, stdout: strings.Repeat(strings.Repeat("x", 100)+"\n", 11)[:1024]},
		{name: "deep recursion through C", program: "import sys, functools\nsys.setrecursionlimit(10**6)\n@functools.lru_cache(None)\ndef f(n): return n and f(n - 1) + 1\nprint(f(5000))", outcome: OK, stdout: "5000\n"},
		{name: "recursion limit", program: "def f(n):\n    global m\n    m = n\n    f(n + 1)\ntry: f(1)\nexcept RecursionError: print(m)", outcome: OK, stdout: "999\n"},
		{name: "deep recursion", program: "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return n and f(n - 1) + 1\nprint(f(10**5))", outcome: OK, stdout: "100000\n"},
		{name: "all of stdin", program: "import sys; print(len(sys.stdin.buffer.read()))", stdin: "a\nb\n", outcome: OK, stdout: "4\n"},
		{name: "open(0)", program: "print(open(0).read().split())", stdin: "a b", outcome: OK, stdout: "['a', 'b']\n"},
		{name: "/dev/stdin", program: "print(input()); print(open('/dev/stdin').read())", stdin: "a\nb", outcome: OK},
		{name: "end of stdin", program: "input()", outcome: Exception, code: 1, stderr: "EOFError: EOF when reading a line"},
		{name: "thread", program: "import threading, sys\nsys.setrecursionlimit(10**6); threading.stack_size(2**27)\ndef f(n): return n and f(n - 1) + 1\nt = threading.Thread(target=lambda: print(f(20000))); t.start(); t.join()", outcome: OK, stdout: "20000\n"},
		{name: "thread that fails", program: "import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); print('on')", outcome: OK, stdout: "on\n", stderr: "ZeroDivisionError"},
		{name: "sleep", program: "import time\nt = time.time(); time.sleep(0.25); print(round(time.time() - t, 2))", outcome: OK, stdout: "0.25\n"},
		{name: "sleep counts", program: "import time\ntime.sleep(10)", limits: Limits{TimeS: 1}, outcome: Time},
		{name: "signal", program: "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 0); signal.alarm(1); print(1)", outcome: OK, stdout: "1\n"},
		{name: "resource", program: "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2); print(1)", outcome: OK, stdout: "1\n"},
		{name: "digits", program: "import sys\nsys.set_int_max_str_digits(0); print(len(str(10**5000)))", outcome: OK, stdout: "5001\n"},
		{name: "multiprocessing", program: "import multiprocessing as m\nprint(m.Pool(4).map(abs, [-1, 2]), m.cpu_count())", outcome: OK, stdout: "[1, 2] 1\n"},
		{name: "futures", program: "from concurrent.futures import ThreadPoolExecutor as T\nwith T() as p: print(list(p.map(abs, [-1, 2])))", outcome: OK, stdout: "[1, 2]\n"},
		{name: "asyncio", program: "import asyncio\nasync def f(): await asyncio.sleep(0.1); return 1\nprint(asyncio.run(f()))", outcome: OK, stdout: "1\n"},
		{name: "maxsize", program: "import sys; print(sys.maxsize)", outcome: OK, stdout: "9223372036854775807\n"},
		{name: "main", program: "import __main__\nx = 1\nprint(__name__, __main__.x, __file__)", outcome: OK, stdout: "__main__ 1 /tmp/prog.py\n"},
		{name: "future import", program: "'''doc'''\nfrom __future__ import annotations\nprint(__doc__)", outcome: OK, stdout: "doc\n"},
		{name: "the end", program: "import atexit\nclass A:\n    def __del__(self): print('del')\na = A()\natexit.register(print, 'atexit')\nprint('main')", outcome: OK, stdout: "main\natexit\ndel\n"},
		{name: "unclosed file", program: "f = open(1, 'w', closefd=False); f.write('kept')", outcome: OK, stdout: "kept"},
		{name: "files in /tmp", program: "import os\nopen('a', 'w').write('x'); os.rename('a', 'b'); print(open('b').read(), os.listdir('.'))", outcome: OK, stdout: "x ['b', 'prog.py']\n"},
		{name: "unicode", program: "print(input()[::-1])", stdin: "äß€😀", outcome: OK, stdout: "😀€ßä\n"},
		{name: "latin-1 source", program: "# -*- coding: latin-1 -*-\nprint(len('\xe4'))", outcome: OK, stdout: "1\n"},
	} {
		r := runOn(t, p, Python{Program: c.program, Stdin: []byte(c.stdin), Limits: c.limits})
		if r.Outcome != c.outcome || r.ExitCode != c.code || r.MissingModule != c.missing ||
			c.stdout != "" && string(r.Stdout) != c.stdout || !strings.Contains(string(r.Stderr), c.stderr) {
			t.Errorf("%s: outcome %s, code %d, missing %q, %q\nstdout %.200q\nstderr %.500s", c.name, r.Outcome, r.ExitCode, r.MissingModule, r.Exception, r.Stdout, r.Stderr)
		}
		if c.name == "memory" && !r.MemoryRefused {
			t.Errorf("%s: the refusal is not recorded", c.name)
		}
	}
}

func TestAHarnessSeesTheProgramAndReports(t *testing.T) {
	p := open(t, 1)
	r := runOn(t, p, Python{
		Program: "def add(a, b): return a + b\nprint('top')",
		Harness: "a, b = map(int, data.split())\nreport(str(program['add'](a, b)).encode())\nreport(b'!')",
		Data:    []byte("3 4"),
	})
	if r.Outcome != OK || string(r.Report) != "7!" || !r.HarnessReached || string(r.Stdout) != "top\n" {
		t.Errorf("%+v", r)
	}
	for name, program := range map[string]string{
		"leaves early":       "import os; os._exit(0)",
		"exits":              "raise SystemExit(0)",
		"fails":              "1 / 0",
		"does not compile":   "def",
		"looks for the data": "import os\nfor fd in range(3, 200):\n    try:\n        if os.read(fd, 10): print('found')\n    except OSError: pass\nraise SystemExit",
	} {
		r := runOn(t, p, Python{Program: program, Harness: "report(b'reached')", Data: []byte("secret")})
		if r.HarnessReached || len(r.Report) != 0 || len(r.Stdout) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r = runOn(t, p, Python{Program: "import builtins, os, posix\nbuiltins.len = builtins.str = None\nposix.write = os.write = None", Harness: "report(str(len(data)).encode())", Data: []byte("abc")})
	if string(r.Report) != "3" {
		t.Errorf("patched builtins reach the harness: %+v %s", r, r.Stderr)
	}
}

// TestNothingIsCarriedOver runs pairs: one program leaves something behind, the
// next looks for it.
func TestNothingIsCarriedOver(t *testing.T) {
	p := open(t, 1)
	for name, pair := range map[string][2]string{
		"global":          {"x = 1", "print('x' in globals())"},
		"builtin":         {"import builtins; builtins.leak = 1", "import builtins; print(hasattr(builtins, 'leak'))"},
		"module":          {"import math; math.leak = 1", "import math; print(hasattr(math, 'leak'))"},
		"new module":      {"import sys, types; sys.modules['leak'] = types.ModuleType('leak')", "import sys; print('leak' in sys.modules)"},
		"file":            {"open('/tmp/leak', 'w').write('x')", "import os; print(os.path.exists('/tmp/leak'))"},
		"folder":          {"import os; os.makedirs('/tmp/a/b'); os.chdir('/tmp/a/b')", "import os; print(os.getcwd() != '/tmp')"},
		"descriptor":      {"import os; fd = os.open('/tmp/x', os.O_CREAT | os.O_RDWR)", "import os\ntry: os.fstat(7); print(True)\nexcept OSError: print(False)"},
		"closed stdin":    {"open(0).close()", "import sys; print(sys.stdin.closed)"},
		"closed stdout":   {"import sys; sys.stdout.close()", "print(False)"},
		"recursion limit": {"import sys; sys.setrecursionlimit(5000)", "import sys; print(sys.getrecursionlimit() != 1000)"},
		"environment":     {"import os; os.environ['LEAK'] = '1'", "import os; print('LEAK' in os.environ)"},
		"random":          {"import random; random.seed(1); [random.random() for i in range(9)]", "import random; print(random.random())"},
		"entropy":         {"import os; os.urandom(1000)", "import os; print(os.urandom(4))"},
		"clock":           {"import time; time.sleep(1)", "import time; print(time.time() > 1767225600.5)"},
		"memory":          {"x = [bytes(100) for i in range(10**5)]", "import gc; print(False)"},
		"atexit":          {"import atexit, os; atexit.register(print, True); os._exit(0)", "print(False)"},
		"signal handler":  {"import signal; signal.signal(2, lambda *a: print(True))", "import signal; print(signal.getsignal(2).__class__.__name__ == 'function')"},
		"warnings":        {"import warnings; warnings.simplefilter('error')", "import warnings; warnings.warn('x'); print(False)"},
		"trace":           {"import sys; sys.settrace(lambda *a: None)", "import sys; print(sys.gettrace() is not None)"},
		"decimal context": {"import decimal; decimal.getcontext().prec = 5", "import decimal; print(decimal.getcontext().prec == 5)"},
		"locale":          {"import locale; locale.setlocale(locale.LC_ALL, 'C')", "print(False)"},
		"gc off":          {"import gc; gc.disable()", "import gc; print(not gc.isenabled())"},
		"out of fuel":     {"while True: pass", "print(False)"},
		"out of memory":   {"x = 'x' * 10**9", "print(False)"},
		"dead":            {"import os; os.abort()", "print(False)"},
		"stack overflow":  {"import sys\nsys.setrecursionlimit(10**6)\nf = lambda n: max(map(f, (n,)))\nf(0)", "print(False)"},
	} {
		before := runOn(t, p, Python{Program: pair[1]})
		runOn(t, p, Python{Program: pair[0], Limits: Limits{TimeS: 0.1, MemoryMB: 64}})
		after := runOn(t, p, Python{Program: pair[1]})
		if string(before.Stdout) != string(after.Stdout) || before.Fuel != after.Fuel || after.Outcome != OK {
			t.Errorf("%s: %q (%d) before, %q (%d) after; %s", name, before.Stdout, before.Fuel, after.Stdout, after.Fuel, after.Stderr)
		}
	}
}
