package verifier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/data"
	"troupe/internal/reexec"
	"troupe/sandbox"
	"troupe/verifier/code"
	"troupe/verifier/verdict"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// open opens a real pool, or skips where no guest can be had.
func open(t testing.TB, workers int) *sandbox.Pool {
	t.Helper()
	cache := os.Getenv("TROUPE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "troupe")
	}
	p, err := sandbox.Open(context.Background(), sandbox.Options{Workers: workers, Cache: cache})
	if errors.Is(err, sandbox.ErrNoGuest) && os.Getenv("TROUPE_OFFLINE") == "1" {
		t.Skip("no Python guest in the cache, and TROUPE_OFFLINE=1")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// fake is a worker that answers every program with what it is told to print,
// and counts.
type fake struct {
	runs  *atomic.Int64
	reply func(p sandbox.Python) (sandbox.Result, error)
}

func (f fake) Run(ctx context.Context, p sandbox.Python) (sandbox.Result, error) {
	f.runs.Add(1)
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	return f.reply(p)
}

func (f fake) Release() {}

// faked is a judge whose programs are their own output.
func faked(opt Options, reply func(p sandbox.Python) (sandbox.Result, error)) (*Judge, *atomic.Int64) {
	j := New(opt)
	f := fake{new(atomic.Int64), reply}
	if reply == nil {
		f.reply = func(p sandbox.Python) (sandbox.Result, error) {
			return sandbox.Result{Outcome: sandbox.OK, Stdout: []byte(p.Program), Fuel: 10}, nil
		}
	}
	j.lease = func(context.Context) (runner, error) { return f, nil }
	j.width = 4
	return j, f.runs
}

func prints(text string) data.Task {
	return data.Task{ID: text, Kind: data.Code, Tests: []data.Test{{Output: text}}}
}

func TestBatchKeepsOrderAndAsksOnce(t *testing.T) {
	j, runs := faked(Options{}, nil)
	var items []Item
	for i := range 60 {
		items = append(items, Item{Task: prints("3"), Answer: fmt.Sprintf("```\n%d\n```", i%6)})
	}
	items = append(items, Item{Task: prints("3"), Answer: "no code"}, Item{Task: data.Task{Kind: data.Code}, Answer: "```\n3\n```"},
		Item{Task: data.Task{Kind: data.Math, Gold: "12"}, Answer: `\boxed{12}`}, Item{Task: prints("3"), Answer: "3", Source: true})
	vs, err := j.VerifyBatch(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vs[:60] {
		want := verdict.WA
		if i%6 == 3 {
			want = verdict.AC
		}
		if v.Code != want || v.Cached != (i >= 6) {
			t.Errorf("item %d: %s, cached %v", i, v.Code, v.Cached)
		}
	}
	for i, want := range []verdict.Code{"NA", "IE", "AC", "AC"} {
		if vs[60+i].Code != want {
			t.Errorf("item %d: %s, want %s", 60+i, vs[60+i].Code, want)
		}
	}
	// "3\n" from a block and "3" as source are different programs.
	if n := runs.Load(); n != 7 {
		t.Errorf("%d runs, want 7", n)
	}
	s := j.Stats()
	if s.Judged != 64 || s.Cached != 54 || s.ByCode[verdict.IE] != 1 || s.Fuel != 70 || s.Tests != 7 {
		t.Errorf("stats %+v", s)
	}
}

// A verdict is cached on everything that it depends on.
func TestCacheKey(t *testing.T) {
	j, runs := faked(Options{}, nil)
	base := prints("3")
	variants := []func(*Item){
		func(*Item) {},
		func(it *Item) { it.Task.Limits.TimeS = 1 },
		func(it *Item) { it.Task.Limits.MemoryMB = 1 },
		func(it *Item) { it.Task.Checker = "def check(*a): return True" },
		func(it *Item) { it.Task.Tests = []data.Test{{Input: "x", Output: "3"}} },
		func(it *Item) { it.Task.Tests = []data.Test{{Output: "4"}} },
		func(it *Item) { it.Task.Tests = []data.Test{{Output: "3"}, {Output: "3"}} },
		func(it *Item) { it.Options = &code.Options{AllTests: true} },
		func(it *Item) { it.Options = &code.Options{Comparison: code.Comparison{FloatTol: 1}} },
		func(it *Item) { it.Options = &code.Options{Comparison: code.Comparison{Profile: code.LCB}} },
		func(it *Item) { it.Answer = "4" },
	}
	for i, change := range variants {
		it := Item{Task: base, Answer: "3", Source: true}
		change(&it)
		before := runs.Load()
		if v, err := j.One(t.Context(), it); err != nil || v.Cached {
			t.Errorf("variant %d: cached %v, %v", i, v.Cached, err)
		}
		if runs.Load() == before {
			t.Errorf("variant %d did not run", i)
		}
	}
	it := Item{Task: base, Answer: "3", Source: true}
	it.Task.ID = "another id, the same question"
	if v, _ := j.One(t.Context(), it); !v.Cached {
		t.Error("an equal question was asked again")
	}
}

func TestCacheForgetsTheOldestAndNoFailure(t *testing.T) {
	j, _ := faked(Options{CacheSize: 2}, nil)
	ask := func(p string) bool {
		v, err := j.One(t.Context(), Item{Task: prints("x"), Answer: p, Source: true})
		if err != nil {
			t.Fatal(err)
		}
		return v.Cached
	}
	ask("a")
	ask("b")
	ask("a")
	ask("c") // b goes
	if !ask("a") || ask("b") {
		t.Error("not the one used longest ago was forgotten")
	}
	failing, runs := faked(Options{}, func(sandbox.Python) (sandbox.Result, error) {
		return sandbox.Result{Outcome: sandbox.Crash, Exception: "stopped by the wall-clock backstop"}, nil
	})
	for range 2 {
		if v, _ := failing.One(t.Context(), Item{Task: prints("x"), Answer: "p", Source: true}); v.Code != verdict.IE || v.Cached || v.Rewarded() {
			t.Errorf("%+v", v)
		}
	}
	if runs.Load() != 2 {
		t.Errorf("%d runs: a stopped run must not be repeated here, and not be cached", runs.Load())
	}
}

func TestDeadWorkersCostNoVerdict(t *testing.T) {
	var n atomic.Int64
	j, _ := faked(Options{}, func(p sandbox.Python) (sandbox.Result, error) {
		switch n.Add(1) % 4 {
		case 1:
			return sandbox.Result{Outcome: sandbox.Crash, Exception: "worker died"}, nil
		case 2:
			return sandbox.Result{}, errors.New("start worker: killed")
		}
		return sandbox.Result{Outcome: sandbox.OK, Stdout: []byte(p.Program)}, nil
	})
	for i := range 8 {
		p := fmt.Sprint(i)
		v, err := j.One(t.Context(), Item{Task: prints(p), Answer: p, Source: true})
		if err != nil || v.Code != verdict.AC {
			t.Errorf("%s: %+v %v", p, v, err)
		}
	}
	if j.Stats().Retried == 0 {
		t.Error("nothing was retried")
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan bool, 100)
	j, _ := faked(Options{}, func(p sandbox.Python) (sandbox.Result, error) {
		started <- true
		<-ctx.Done()
		return sandbox.Result{}, ctx.Err()
	})
	go func() {
		<-started
		cancel()
	}()
	items := make([]Item, 50)
	for i := range items {
		items[i] = Item{Task: prints("x"), Answer: fmt.Sprint(i), Source: true}
	}
	if _, err := j.VerifyBatch(ctx, items); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestWithoutSandbox(t *testing.T) {
	j := New(Options{})
	if v, err := j.Verify(t.Context(), prints("1"), "```\nprint(1)\n```"); err != nil || v.Code != verdict.IE {
		t.Errorf("%+v %v", v, err)
	}
	if v, err := j.Verify(t.Context(), data.Task{Kind: data.Math, Gold: "3"}, "Answer: 3"); err != nil || v.Code != verdict.AC {
		t.Errorf("%+v %v", v, err)
	}
}

// Many callers, equal and different questions, a small cache.
func TestHammer(t *testing.T) {
	j, _ := faked(Options{CacheSize: 3}, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				p := fmt.Sprint((i * (g + 1)) % 7)
				v, err := j.One(t.Context(), Item{Task: prints("3"), Answer: p, Source: true})
				if err != nil || (v.Code == verdict.AC) != (p == "3") {
					t.Errorf("%s: %s %v", p, v.Code, err)
					return
				}
				j.Stats()
			}
		})
	}
	wg.Wait()
}

// Worker processes are killed while they start and while they judge: each verdict
// is the one it would have been.
func TestKilledWorkersLoseNothing(t *testing.T) {
	p := open(t, 2)
	j := New(Options{Pool: p, CacheSize: -1})
	program := func(i int) string {
		return fmt.Sprintf("x = 0\nfor i in range(int(input())):\n    x += i * %d\nprint(x)\n", i)
	}
	var items []Item
	for i := range 40 {
		n := 20000 + i
		right := i * n * (n - 1) / 2
		if i%4 == 3 {
			right++
		}
		items = append(items, Item{Task: data.Task{Kind: data.Code, Tests: []data.Test{{Input: fmt.Sprint(n), Output: fmt.Sprint(right)}}},
			Answer: program(i), Source: true})
	}
	// A worker must now and then live long enough to start, however busy the
	// machine is: the first verdict says how long that takes here.
	began := time.Now()
	if _, err := j.One(t.Context(), items[0]); err != nil {
		t.Fatal(err)
	}
	ready := time.Since(began) + 100*time.Millisecond
	calm, err := j.VerifyBatch(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	var killed atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var killer sync.WaitGroup
	killer.Go(func() {
		for turn := 0; ; turn++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(ready * time.Duration(60+turn*379%140) / 100):
				killed.Add(int64(killWorker(turn)))
			}
		}
	})
	defer killer.Wait()
	defer cancel()
	for round := 0; round < 2 || killed.Load() < 8 && round < 12; round++ {
		vs, err := j.VerifyBatch(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		for i := range vs {
			if vs[i].Code != calm[i].Code || vs[i].Fuel != calm[i].Fuel {
				t.Errorf("round %d, item %d: %s with %d ticks (%s), undisturbed %s with %d", round, i,
					vs[i].Code, vs[i].Fuel, vs[i].Reason, calm[i].Code, calm[i].Fuel)
			}
		}
	}
	t.Logf("%d workers killed, %d runs repeated by the judge", killed.Load(), j.Stats().Retried)
}

// killWorker kills one of the worker processes of this one, in turn.
func killWorker(turn int) int {
	self := fmt.Sprint(os.Getpid())
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var workers []int
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(fields) < 2 || fields[1] != self || fields[0] == "Z" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			workers = append(workers, pid)
		}
	}
	if len(workers) == 0 {
		return 0
	}
	p, err := os.FindProcess(workers[turn%len(workers)])
	if err != nil || p.Kill() != nil {
		return 0
	}
	return 1
}

// What the verdict costs beside the guest's own time.
func BenchmarkVerdict(b *testing.B) {
	p := open(b, 1)
	j := New(Options{Pool: p, CacheSize: -1})
	t := data.Task{Kind: data.Code}
	for i := range 10 {
		t.Tests = append(t.Tests, data.Test{Input: fmt.Sprintf("%d %d\n", i, i+1), Output: fmt.Sprintln(2*i + 1)})
	}
	program := "a, b = map(int, input().split())\nprint(a + b)\n"
	for b.Loop() {
		if v, err := j.One(b.Context(), Item{Task: t, Answer: program, Source: true}); err != nil || v.Code != verdict.AC {
			b.Fatal(v, err)
		}
	}
	b.ReportMetric(float64(b.N*len(t.Tests))/b.Elapsed().Seconds(), "tests/s")
}
