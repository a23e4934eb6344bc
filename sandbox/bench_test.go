//go:build unix

package sandbox

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const trivial = "n = int(input())\na = list(map(int, input().split()))\nprint(sum(a) * n)\n"

// cpuSeconds is the CPU time of this process and of all its reaped children,
// and with the given pids of those that still run.
func cpuSeconds() float64 {
	var own, children syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children)
	sum := time.Duration(0)
	for _, r := range []syscall.Rusage{own, children} {
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum.Seconds()
}

// BenchmarkTrivial compares a trivial program of ten tests with a python3
// process for each test: tests a CPU second, start of the pool included.
func BenchmarkTrivial(b *testing.B) {
	const tests = 2000
	in := []byte("3\n1 2 3 4\n")
	for range b.N {
		before := cpuSeconds()
		p, err := Open(b.Context(), Options{Workers: 1, Cache: testCache(b)})
		if err != nil {
			b.Fatal(err)
		}
		runOn(b, p, Python{Program: trivial, Stdin: in})
		for range tests {
			if r := runOn(b, p, Python{Program: trivial, Stdin: in}); string(r.Stdout) != "30\n" {
				b.Fatalf("%+v", r)
			}
		}
		p.Close()
		guest := (cpuSeconds() - before) / tests
		before = cpuSeconds()
		for range 20 {
			cmd := exec.Command("python3", "-I", "-c", trivial)
			cmd.Stdin = strings.NewReader(string(in))
			if out, err := cmd.Output(); err != nil || string(out) != "30\n" {
				b.Skip("no python3 to compare with")
			}
		}
		native := (cpuSeconds() - before) / 20
		b.ReportMetric(1/guest, "tests/cpu-s")
		b.ReportMetric(native/guest, "times-python3")
	}
}

// BenchmarkReady is the CPU time from Open to the first verdict with
// everything in the cache.
func BenchmarkReady(b *testing.B) {
	for range b.N {
		before := cpuSeconds()
		p, err := Open(b.Context(), Options{Workers: 1, Cache: testCache(b)})
		if err != nil {
			b.Fatal(err)
		}
		runOn(b, p, Python{Program: trivial, Stdin: []byte("1\n1\n")})
		p.Close()
		b.ReportMetric(cpuSeconds()-before, "cpu-s")
	}
}
