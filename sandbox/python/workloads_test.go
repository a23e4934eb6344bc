package python

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// workloads are what the reference second is measured with. Each prints the
// seconds of CPU it took.
var workloads = []struct{ name, source string }{
	{"additions", "s = 0\nfor i in range(5 * 10**6): s += i"},
	{"sieve by slices", "n = 2 * 10**6\nb = bytearray([1]) * (n + 1)\nfor i in range(2, int(n**.5) + 1):\n    if b[i]: b[i*i::i] = bytes(len(range(i*i, n + 1, i)))"},
	{"sieve by loops", "n = 5 * 10**5\nb = [True] * (n + 1)\nfor i in range(2, n + 1):\n    if b[i]:\n        for j in range(i*i, n + 1, i): b[j] = False"},
	{"sort", "x = 1; a = []\nfor i in range(3 * 10**5):\n    x = (x * 1103515245 + 12345) % 2147483648\n    a.append(x)\na.sort()"},
	{"dict", "d = {}\nfor i in range(5 * 10**5): d[i * 7 % 100003] = d.get(i, 0) + 1"},
	{"strings", "s = ' '.join(str(i) for i in range(2 * 10**5))\nt = sum(map(int, s.split()))"},
	{"fib", "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(25)"},
	{"big integers", "x = 1\nfor i in range(1, 2500): x *= i\nfor i in range(300): x * x\n"},
	{"heapq", "import heapq\nh = []\nfor i in range(10**5): heapq.heappush(h, i * 7919 % 100003)\nwhile h: heapq.heappop(h)"},
	{"LCS table", "n = 700\na = [i * 31 % 26 for i in range(n)]; b = [i * 17 % 26 for i in range(n)]\np = [0] * (n + 1)\nfor x in a:\n    q = [0]\n    for j, y in enumerate(b): q.append(p[j] + 1 if x == y else max(p[j + 1], q[-1]))\n    p = q"},
	{"square roots", "import math\ns = 0.0\nfor i in range(10**6): s += math.sqrt(i)"},
	{"objects", "class P:\n    __slots__ = 'x', 'y'\n    def __init__(self, x, y): self.x = x; self.y = y\ns = 0\nfor i in range(3 * 10**5):\n    p = P(i, i + 1); s += p.x + p.y"},
}

// timed wraps a workload so that it measures itself.
func timed(source string) string {
	indented := "    " + strings.ReplaceAll(source, "\n", "\n    ")
	return "import time\ndef main():\n" + indented + "\nt = time.process_time()\nmain()\nprint(time.process_time() - t)\n"
}

// testGuest loads the pinned guest from the user's cache.
func testGuest(t testing.TB) *Guest {
	t.Helper()
	cache := os.Getenv("TROUPE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "troupe")
	}
	ctx := context.Background()
	files, err := Find(ctx, Source{}, cache, nil)
	if err != nil {
		if os.Getenv("TROUPE_OFFLINE") == "1" {
			t.Skip("TROUPE_OFFLINE=1 and no guest in the cache")
		}
		t.Fatal(err)
	}
	rate, _ := Rate(files.WasmSum)
	dir, compiled := filepath.Join(cache, "python", "prepared-"+Key(files.WasmSum, files.LibSum)), filepath.Join(cache, "compiled")
	if _, err := os.Stat(dir); err != nil {
		if err := Prepare(ctx, files.Wasm, files.Lib, dir, compiled); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Load(ctx, dir, compiled, rate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.rt.Close(ctx) })
	return g
}

// BenchmarkReferenceSecond measures the ticks that stand for one second of
// native CPython, and the speed of the guest against it.
func BenchmarkReferenceSecond(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("no python3 to compare with")
	}
	g := testGuest(b)
	for range b.N {
		var logRate, logSlow float64
		for _, w := range workloads {
			native := math.Inf(1)
			for range 3 {
				native = min(native, nativeSeconds(b, timed(w.source)))
			}
			best := math.Inf(1)
			var end End
			for range 2 {
				start := time.Now()
				var err error
				end, err = g.Run(b.Context(), Job{Program: "def main():\n    " + strings.ReplaceAll(w.source, "\n", "\n    ") + "\nmain()\n", Name: "w.py", Fuel: 1 << 40, Memory: 1 << 30, Output: 1 << 20})
				if err != nil || end.Fate != FateOK {
					b.Fatalf("%s: %v %+v %s", w.name, err, end, end.Stderr)
				}
				best = min(best, time.Since(start).Seconds())
			}
			rate := float64(end.Fuel) / native
			fmt.Printf("%-16s native %.3f s, guest %.3f s, %4.1f times; %4.0f million ticks a native second, %4.0f a guest second\n", w.name, native, best, best/native, rate/1e6, float64(end.Fuel)/best/1e6)
			logRate += math.Log(rate)
			logSlow += math.Log(best / native)
		}
		n := float64(len(workloads))
		b.ReportMetric(math.Exp(logRate/n)/1e6, "Mticks/s")
		b.ReportMetric(math.Exp(logSlow/n), "times-native")
	}
}

func nativeSeconds(b *testing.B, source string) float64 {
	cmd := exec.Command("python3", "-I", "-c", source)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
	if err != nil {
		b.Fatal(err)
	}
	return v
}
