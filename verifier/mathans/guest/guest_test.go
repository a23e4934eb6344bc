//go:build !wasip1

package guest_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"troupe/internal/reexec"
	"troupe/sandbox"
	"troupe/verifier/mathans"
	"troupe/verifier/mathans/guest"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// hashSources is the function of gen.go.
func hashSources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "main.go")
	sort.Strings(files)
	h := sha256.New()
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(f), len(b))
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestEmbeddedModuleIsOfTheseSources(t *testing.T) {
	if hashSources(t) != guest.Sum("sources") {
		t.Error("the math guest is older than its sources: run go generate ./verifier/mathans/guest")
	}
	wasm, err := guest.Wasm()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(wasm)); got != guest.Sum("wasm") {
		t.Errorf("embedded module has sha256 %s, mathans.sum says %s", got, guest.Sum("wasm"))
	}
}

func TestModuleIsWhatTheSourcesGive(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the guest")
	}
	if runtime.Version() != guest.Sum("toolchain") {
		t.Skipf("the module was built by %s, this is %s", guest.Sum("toolchain"), runtime.Version())
	}
	out := filepath.Join(t.TempDir(), "mathans.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "troupe/verifier/mathans/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != guest.Sum("wasm") {
		t.Errorf("a build gives sha256 %s, mathans.sum says %s", got, guest.Sum("wasm"))
	}
}

// worker leases a worker that runs only modules.
func worker(tb testing.TB) *sandbox.Worker {
	tb.Helper()
	ctx := context.Background()
	pool, err := sandbox.Open(ctx, sandbox.Options{Workers: 1, Cache: tb.TempDir(), Modules: true})
	if err != nil {
		tb.Fatal(err)
	}
	w, err := pool.Lease(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		w.Release()
		pool.Close()
	})
	return w
}

// serve has the guest judge a batch.
func serve(tb testing.TB, w *sandbox.Worker, qs []mathans.Question, memoryMB int) []mathans.Result {
	tb.Helper()
	wasm, err := guest.Wasm()
	if err != nil {
		tb.Fatal(err)
	}
	res, err := w.RunModule(context.Background(), sandbox.Module{Wasm: wasm, Stdin: mathans.AppendQuestions(nil, qs), Fuel: 1 << 40, MemoryMB: memoryMB})
	if err != nil {
		tb.Fatal(err)
	}
	if res.Outcome != sandbox.OK {
		tb.Fatalf("guest: %s %s %s", res.Outcome, res.Exception, res.Stderr)
	}
	out, err := mathans.ReadResults(res.Stdout, len(qs))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// questions are the cases of the table, each boxed.
func questions(tb testing.TB) []mathans.Question {
	tb.Helper()
	f, err := os.Open("../testdata/cases.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var qs []mathans.Question
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if c := strings.Split(sc.Text(), "\t"); len(c) == 4 && c[0] != "# gold" {
			qs = append(qs, mathans.Question{Gold: c[0], Reply: `So \boxed{` + c[1] + `}`})
		}
	}
	return qs
}

func TestGuestAgreesWithNative(t *testing.T) {
	qs := questions(t)
	if len(qs) < 400 {
		t.Fatalf("only %d questions", len(qs))
	}
	for _, u := range []string{"{", "(", "\\frac{1}{", "9^9^", "x+", "1,", "é", "\xff", "\\sum_{k=1}^{5000}", "5!", "|", "answer is ", "\\text{"} {
		s := strings.Repeat(u, 1000)
		qs = append(qs, mathans.Question{Gold: "42", Reply: "\\boxed{" + s + "}"}, mathans.Question{Gold: s, Reply: "Answer: " + s})
	}
	qs = append(qs, mathans.Question{Gold: "5050", Reply: `\boxed{100\cdot101/2}`, Options: mathans.Options{StrictInteger: true}},
		mathans.Question{Gold: `\pi`, Reply: `\boxed{3.1416}`, Options: mathans.Options{Tolerance: 1e-4}})
	got := serve(t, worker(t), qs, 64)
	for i, q := range qs {
		if want := mathans.Judge(q.Gold, q.Reply, q.Options); got[i] != want {
			t.Errorf("gold %q, reply %q: guest %v, native %v", q.Gold, q.Reply[:min(len(q.Reply), 80)], got[i], want)
		}
	}
}

func TestGuestRejectsDamagedBatch(t *testing.T) {
	wasm, err := guest.Wasm()
	if err != nil {
		t.Fatal(err)
	}
	res, err := worker(t).RunModule(context.Background(), sandbox.Module{Wasm: wasm, Stdin: []byte{9, 1, 2}, Fuel: 1 << 32, MemoryMB: 16})
	if err != nil || res.Outcome != sandbox.Exit {
		t.Errorf("damaged batch: %v %v", res.Outcome, err)
	}
}

// benchmarkSandbox reports answers a second in batches.
func benchmarkSandbox(b *testing.B, q mathans.Question) {
	w := worker(b)
	qs := make([]mathans.Question, 1000)
	for i := range qs {
		qs[i] = q
	}
	serve(b, w, qs[:1], 64)
	start := time.Now()
	for b.Loop() {
		serve(b, w, qs, 64)
	}
	b.ReportMetric(float64(b.N*len(qs))/time.Since(start).Seconds(), "answers/s")
}

func BenchmarkSandboxInteger(b *testing.B) {
	benchmarkSandbox(b, mathans.Question{Gold: "42", Reply: strings.Repeat("Then we add the two numbers. ", 70) + `\boxed{42}`})
}

func BenchmarkSandboxRadical(b *testing.B) {
	benchmarkSandbox(b, mathans.Question{Gold: `\sqrt{12}`, Reply: `So \boxed{2\sqrt{3}}`})
}

// FuzzGuestAgrees has the guest and the native engine judge the same pairs.
func FuzzGuestAgrees(f *testing.F) {
	for i, q := range questions(f) {
		if i%10 == 0 {
			f.Add(q.Gold, q.Reply)
		}
	}
	w := worker(f)
	f.Fuzz(func(t *testing.T, gold, reply string) {
		q := mathans.Question{Gold: gold, Reply: reply}
		if got, want := serve(t, w, []mathans.Question{q}, 64)[0], mathans.Judge(gold, reply, q.Options); got != want {
			t.Errorf("gold %q, reply %q: guest %v, native %v", gold, reply, got, want)
		}
	})
}
