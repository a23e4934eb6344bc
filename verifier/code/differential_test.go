package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/data"
	"troupe/sandbox"
	"troupe/verifier/verdict"
)

// pair is a program with one input.
type pair struct{ name, program, input string }

// knownDifferences are the programs of the corpus that end differently in the
// guest, with the reason. Nothing else may.
var knownDifferences = map[string]string{
	"missing_file":    "the numbers of errno are WASI's (2 is 44)",
	"last_bit_of_exp": "the guest's C library is musl, whose exp, pow and sin round some results otherwise than glibc's",
}

// parse stands between a program's way to read and what it does.
const parse = `
def main():
    lines = read().split("\n")
    n = int(lines[0])
    a = list(map(int, lines[1].split()))
    write(solve(n, a, lines[2].split(), [l for l in lines[3:] if l]))
main()
`

// composed are programs put together from testdata/styles.txtar: each thing to
// do is read and written in several ways, each time on another input.
func composed(t *testing.T) []pair {
	part := map[string][][2]string{}
	for _, f := range corpus(t, "styles.txtar") {
		kind, name, _ := strings.Cut(f.Name, "/")
		part[kind] = append(part[kind], [2]string{name, string(f.Data)})
	}
	var out []pair
	for i, do := range part["do"] {
		for k := range composedWays {
			in := part["read"][(i*5+k*3)%len(part["read"])]
			w := part["write"][(i*7+k)%len(part["write"])]
			out = append(out, pair{
				name:    fmt.Sprintf("%s/%s/%s/%d", do[0], in[0], w[0], k),
				program: in[1] + w[1] + do[1] + parse,
				input:   composedInput(i*100 + k),
			})
		}
	}
	return out
}

// composedWays is how many programs are made for each thing to do.
const composedWays = 18

// composedInput is a count, that many integers, words, and some lines.
func composedInput(seed int) string {
	x := uint64(seed)*0x9E3779B97F4A7C15 + 1
	next := func(n uint64) int {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return int(x % n)
	}
	n := 4 + next(20)
	ints := make([]string, n)
	for i := range ints {
		ints[i] = strconv.Itoa(next(201) - 100)
	}
	stock := []string{"river", "stone", "a", "violet", "oak", "ember", "moon", "echo", "lantern", "fig", "quartz", "ox"}
	ws := make([]string, 3+next(6))
	for i := range ws {
		ws[i] = stock[next(uint64(len(stock)))]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n%s\n%s\n", n, strings.Join(ints, " "), strings.Join(ws, " "))
	for range next(4) {
		fmt.Fprintf(&b, "%s %d\n", stock[next(uint64(len(stock)))], next(1000))
	}
	return b.String()
}

// whole are the programs of testdata/programs.txtar.
func whole(t *testing.T) []pair {
	var out []pair
	for _, f := range corpus(t, "programs.txtar") {
		head, program, _ := strings.Cut(string(f.Data), "\n")
		in, err := strconv.Unquote(strings.TrimPrefix(head, "# in: "))
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out = append(out, pair{f.Name, program, in})
	}
	return out
}

// native runs a program as anybody would.
func native(ctx context.Context, python string, p pair) (stdout string, code int, err error) {
	cmd := exec.CommandContext(ctx, python, "-I", "-c", `import sys
src = open(3, "rb").read()
sys.argv = ["prog.py"]
exec(compile(src, "prog.py", "exec", 0, True), {"__name__": "__main__", "__builtins__": __builtins__})`)
	return runNative(cmd, p)
}

// Every program does in the guest what it does under python3: the same output
// is accepted, and what fails natively fails here.
func TestNativePythonAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compare with")
	}
	if out, err := exec.Command(python, "-c", "import sys; print(sys.version_info[:2] >= (3, 11))").Output(); err != nil || string(out) != "True\n" {
		t.Skip("python3 is older than the guest's 3.11")
	}
	pairs := append(whole(t), composed(t)...)
	if len(pairs) < 1000 {
		t.Errorf("%d pairs, want at least 1000", len(pairs))
	}
	if testing.Short() {
		short := whole(t)
		for i := 0; i < len(pairs)-len(short); i += composedWays {
			short = append(short, pairs[len(whole(t))+i])
		}
		pairs = short
	}
	worker(t).Release() // opens the pool, or skips
	var mu sync.Mutex
	differ := 0
	work := make(chan pair)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for p := range work {
				if why := differs(t, python, p); why != "" {
					mu.Lock()
					if cause, known := knownDifferences[p.name]; known {
						t.Logf("%s: %s (known: %s)", p.name, why, cause)
					} else {
						t.Errorf("%s: %s", p.name, why)
					}
					differ++
					mu.Unlock()
				}
			}
		})
	}
	for _, p := range pairs {
		work <- p
	}
	close(work)
	wg.Wait()
	agreement := 1 - float64(differ)/float64(len(pairs))
	t.Logf("%d of %d pairs agree (%.2f %%)", len(pairs)-differ, len(pairs), 100*agreement)
	if agreement < 0.998 && !testing.Short() { // few pairs, and both known differences
		t.Errorf("agreement %.4f, want at least 0.998", agreement)
	}
}

// differs says how the guest's end of a program is not the native one.
func differs(t *testing.T, python string, p pair) string {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stdout, code, err := native(ctx, python, p)
	if err != nil {
		return err.Error()
	}
	w, err := pool.Lease(ctx)
	if err != nil {
		return err.Error()
	}
	defer w.Release()
	run, err := w.Run(ctx, sandbox.Python{Program: p.program, Name: programName, Stdin: []byte(p.input), Limits: sandbox.Limits{TimeS: 10}})
	if err != nil {
		return err.Error()
	}
	if string(run.Stdout) != stdout {
		return fmt.Sprintf("guest prints %q (%s %s), python3 %q", quote(string(run.Stdout)), run.Outcome, run.Exception, quote(stdout))
	}
	task := data.Task{Tests: []data.Test{{Input: p.input, Output: stdout}}, Limits: data.Limits{TimeS: 10}}
	v, err := Program(ctx, w, task, p.program, Options{})
	if err != nil {
		return err.Error()
	}
	ok := v.Code == verdict.AC
	failed := v.Code == verdict.RE || v.Code == verdict.CE
	if code == 0 && !ok || code != 0 && !failed {
		return fmt.Sprintf("verdict %s %s, python3 exits with %d", v.Code, v.Reason, code)
	}
	return ""
}

// runNative gives the command the input and collects its end.
func runNative(cmd *exec.Cmd, p pair) (string, int, error) {
	source, err := sourceFile(p.program)
	if err != nil {
		return "", 0, err
	}
	defer source.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, source)
	cmd.Stdin = strings.NewReader(p.input)
	cmd.Env = []string{"PYTHONIOENCODING=utf-8", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), exit.ExitCode(), nil
	}
	return out.String(), 0, err
}
