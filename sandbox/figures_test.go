//go:build unix

package sandbox

import (
	"os"
	"testing"
	"time"
)

// TestFigures prints the figures of docs/performance.md that take long. It runs
// only with TROUPE_FIGURES=1.
func TestFigures(t *testing.T) {
	if os.Getenv("TROUPE_FIGURES") != "1" {
		t.Skip("TROUPE_FIGURES is not 1")
	}
	p := open(t, 1)
	w := worker(t, p)
	t.Logf("S9: resident after start: %d MiB, this process %d MiB", residentMB(t, w.pid()), residentMB(t, os.Getpid()))
	run := func(n int, program string, l Limits) Result {
		var r Result
		for range n {
			var err error
			if r, err = w.Run(t.Context(), Python{Program: program, Limits: l, Stdin: []byte("3\n1 2 3 4\n")}); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	run(2000, trivial, Limits{})
	before := residentMB(t, w.pid())
	own := residentMB(t, os.Getpid())
	start := time.Now()
	run(18000, trivial, Limits{})
	t.Logf("S9: 20000 runs: worker %d -> %d MiB, this process %d -> %d MiB, %.2f ms a run", before, residentMB(t, w.pid()), own, residentMB(t, os.Getpid()), time.Since(start).Seconds()*1000/18000)
	for name, program := range map[string]string{
		"list": "x = []\nwhile True: x.append(bytearray(10**6))", "str": "x = 'a'\nwhile True: x += x", "bytes": "x = bytes(10**9)",
		"int": "x = 1\nwhile True: x <<= 10**8", "dict": "d = {}\nwhile True: d[len(d)] = 'x' * 10000 + str(len(d))",
		"set": "s = set()\nwhile True: s.add('x' * 10000 + str(len(s)))", "join": "x = ','.join(['x' * 10**6] * 500)",
		"ljust": "'a'.ljust(10**9)", "deque": "from collections import deque\nd = deque()\nwhile True: d.append('x' * 10**5 + str(len(d)))",
		"nested": "x = ()\nwhile True: x = (x, x, bytes(10**5))", "io": "import io\nb = io.BytesIO()\nwhile True: b.write(bytes(10**6))",
		"array": "import array\na = array.array('q', [0])\nwhile True: a.extend(a)",
	} {
		peak := watch(t, w.pid())
		r := run(1, program, Limits{MemoryMB: 256})
		t.Logf("S4: %s: %s, worker peaked at %d MiB, this process at %d MiB", name, r.Outcome, peak(), residentMB(t, os.Getpid()))
	}
	for name, program := range map[string]string{
		"1 GiB": "for i in range(1024): print('x' * 2**20)", "tiny": "import os\nfor i in range(10**7): os.write(1, b'x')",
		"one line": "import sys\nfor i in range(1024): sys.stdout.write('x' * 2**20)", "stderr": "import sys\nfor i in range(200): sys.stderr.write('x' * 2**20)\nprint(1)",
	} {
		own := residentMB(t, os.Getpid())
		start := time.Now()
		r := run(1, program, Limits{OutputKB: 1024, TimeS: 2})
		t.Logf("S5: %s: %s after %.2f s, %d bytes; this process %d -> %d MiB", name, r.Outcome, time.Since(start).Seconds(), len(r.Stdout), own, residentMB(t, os.Getpid()))
	}
}

// watch samples the memory of a process until the returned function is called.
func watch(t *testing.T, pid int) (peak func() int) {
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		most := 0
		for {
			select {
			case <-stop:
				done <- most
				return
			case <-time.After(2 * time.Millisecond):
				most = max(most, residentMB(t, pid))
			}
		}
	}()
	return func() int { close(stop); return <-done }
}
