//go:build !purego

package kernels

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// stressTime is how long each family works under stress; TROUPE_STRESS says
// another time, such as 60s.
func stressTime(t *testing.T) time.Duration {
	s := os.Getenv("TROUPE_STRESS")
	if s == "" {
		return time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("TROUPE_STRESS: %v", err)
	}
	return d
}

// Kernels run assembly for microseconds without a safe point. Meanwhile the
// collector runs all the time, stacks grow and move, every thread gets signals,
// and there are more threads than processors: no bit may change.
func TestKernelsUnderGCAndSignals(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes seconds")
	}
	for _, name := range []string{"avx512", "amx"} {
		t.Run(name, func(t *testing.T) {
			if name == "amx" {
				needAMX(t)
			}
			restore, err := Use(name)
			if err != nil {
				t.Skip(err)
			}
			defer restore()
			stressKernels(t, stressTime(t))
		})
	}
}

// stressCase is a product and what it must give.
type stressCase struct {
	name    string
	x, want []float32
	m       int
	w       *Matrix
}

// newStressCase takes the reference from the portable order of sums.
func newStressCase(r *rand.Rand, m, n, k int, kind Numerics) stressCase {
	c := stressCase{name: fmt.Sprintf("%dx%dx%d %v", m, n, k, kind), x: normal(r, m*k), want: make([]float32, m*n), m: m}
	h := make([]uint16, n*k)
	for i, v := range normal(r, n*k) {
		h[i] = BF16(v)
	}
	c.w = PackNumerics(h, n, k, kind)
	if kind == F32 {
		wide := make([]float32, n*k)
		WidenBF16(wide, h)
		chainMatMul(c.want, n, c.x, k, m, wide, n, k, false)
		return c
	}
	portableProduct(c.want, c.x, c.w.w.in(orderBlocks), m, kind.parts(), false)
	return c
}

func stressKernels(t *testing.T, d time.Duration) {
	r := rand.New(rand.NewPCG(7, 7))
	var cases []stressCase
	for _, s := range [][3]int{{32, 128, 512}, {8, 128, 512}, {45, 96, 256}, {33, 64, 544}, {1, 256, 1024}, {17, 64, 256}, {64, 40, 2048}, {70, 64, 1024}, {24, 70, 500}} {
		for _, kind := range []Numerics{F32, F32x3, BF16Products} {
			cases = append(cases, newStressCase(r, s[0], s[1], s[2], kind))
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * runtime.NumCPU()))
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // fails if the tests are profiled: signals come anyhow
		defer pprof.StopCPUProfile()
	}
	var stop atomic.Bool
	var compared, signals atomic.Int64
	var wg sync.WaitGroup
	for w := range runtime.NumCPU() {
		wg.Go(func() { compareUnderStress(t, rand.New(rand.NewPCG(9, uint64(w))), cases, &stop, &compared) })
	}
	wg.Go(func() { litter(&stop) })
	wg.Go(func() {
		for !stop.Load() {
			signals.Add(signalEveryThread(t))
			time.Sleep(200 * time.Microsecond)
		}
	})
	wg.Go(func() {
		for !stop.Load() {
			runtime.GC()
			time.Sleep(3 * time.Millisecond)
		}
	})
	time.Sleep(d)
	stop.Store(true)
	wg.Wait()
	if compared.Load() == 0 || signals.Load() == 0 {
		t.Errorf("%d values compared, %d signals", compared.Load(), signals.Load())
	}
	t.Logf("%d values compared under %d signals", compared.Load(), signals.Load())
}

// compareUnderStress repeats random cases.
func compareUnderStress(t *testing.T, r *rand.Rand, cases []stressCase, stop *atomic.Bool, compared *atomic.Int64) {
	for !stop.Load() && !t.Failed() {
		c := &cases[r.IntN(len(cases))]
		got := make([]float32, len(c.want))
		(*Pool)(nil).MatMul(got, c.w.N, c.x, c.w.K, c.m, c.w, false)
		for i, v := range c.want {
			if got[i] != v {
				t.Errorf("%s: value %d is %x, want %x", c.name, i, got[i], v)
				return
			}
		}
		compared.Add(int64(len(got)))
		if r.IntN(50) == 0 {
			runtime.Gosched()
		}
	}
}

// litter makes garbage and grows stacks.
func litter(stop *atomic.Bool) {
	var keep [][]byte
	for !stop.Load() {
		keep = keep[:0]
		for range 200 {
			keep = append(keep, make([]byte, rand.IntN(64<<10)))
		}
		deepen(rand.IntN(500))
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(keep)
}

func deepen(n int) int {
	var frame [256]byte
	if n == 0 {
		return int(frame[3])
	}
	frame[n%256] = byte(n)
	return deepen(n-1) + int(frame[n%256])
}

// signalEveryThread sends what the runtime interrupts goroutines with.
func signalEveryThread(t *testing.T) (sent int64) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
		return 0
	}
	for _, e := range threads {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if syscall.Tgkill(os.Getpid(), id, syscall.SIGURG) == nil { // a thread may just have ended
			sent++
		}
	}
	return sent
}
