//go:build load

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Load on the verification routes: A2, A3 and A6 of docs/performance.md, and
// the cost of HTTP and of readers. TROUPE_LOAD_S is the length of A2 and A3 in
// seconds, TROUPE_LOAD_N the number of shutdowns of A6.

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("%s is %q, no positive number", name, text)
	}
	return n
}

// server is `troupe serve` in a process of its own.
type server struct {
	cmd        *exec.Cmd
	url, token string
	log        bytes.Buffer
}

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("troupe-load-%d", os.Getpid()))
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func startServer(t *testing.T, db string, args ...string) *server {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	for port := 17411; ; port++ { // a port that is free
		addr := fmt.Sprint("127.0.0.1:", port)
		if _, err := http.Get("http://" + addr); err == nil {
			continue
		}
		s.url = "http://" + addr
		s.cmd = exec.Command(path, append([]string{"serve", "--db", db, "--listen", addr}, args...)...)
		break
	}
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	for range 1200 {
		if r, err := http.Get(s.url + "/healthz"); err == nil {
			r.Body.Close()
			b, err := os.ReadFile(db + ".token")
			if err != nil {
				t.Fatal(err)
			}
			s.token = strings.TrimSpace(string(b))
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the server did not come up: %s", s.log.String())
	return nil
}

// stop sends SIGTERM and waits.
func (s *server) stop(t *testing.T) (took time.Duration, state *os.ProcessState) {
	t.Helper()
	began := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := s.cmd.Wait()
	if err != nil {
		t.Errorf("the server ended with %v: %s", err, s.log.String())
	}
	return time.Since(began), s.cmd.ProcessState
}

// residentMB is the server's own memory, workers aside.
func (s *server) residentMB(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	n, _ := strconv.Atoi(strings.Fields(rest)[0])
	return n >> 10
}

// counted is a value of the server's own metrics, summed over its labels.
func (s *server) counted(t *testing.T, name string) float64 {
	t.Helper()
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	sum := 0.0
	for line := range strings.Lines(string(b)) {
		if label, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (label == name || strings.HasPrefix(label, name+"{")) {
			v, _ := strconv.ParseFloat(value, 64)
			sum += v
		}
	}
	return sum
}

// ask sends one record and returns the status, the verdict and the wait.
func (s *server) ask(client *http.Client, record string) (status int, verdict, id string, took time.Duration) {
	began := time.Now()
	r, err := http.NewRequest("POST", s.url+"/v1/verify/code", strings.NewReader(record))
	if err != nil {
		return 0, "", "", 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", "", time.Since(began)
	}
	defer resp.Body.Close()
	var a struct{ ID, Verdict string }
	b, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(b, &a) != nil {
		return 0, "", "", time.Since(began)
	}
	return resp.StatusCode, a.Verdict, a.ID, time.Since(began)
}

// mixed is record n of the mix of A2: 70 % trivial, 20 % of some work, 10 %
// endless. Every program is different, so that none is answered from the cache.
func mixed(n int) (record, want string) {
	program, want := fmt.Sprintf("print(%d)", n), "AC"
	limit := 3.0
	switch {
	case n%10 >= 9:
		program, want, limit = fmt.Sprintf("x = %d\nwhile True: pass", n), "TLE", 0.03
	case n%10 >= 7:
		program = fmt.Sprintf("s = 0\nfor i in range(100000): s += i\nprint(%d)", n)
	}
	b, _ := json.Marshal(map[string]any{"id": fmt.Sprint(n), "program": program,
		"tests": []map[string]string{{"input": "", "output": fmt.Sprint(n)}}, "limits": map[string]any{"time_s": limit}})
	return string(b), want
}

// outcome is what a load of clients saw.
type outcome struct {
	mu       sync.Mutex
	verdicts int
	refused  int
	failed   int // neither a verdict nor a refusal
	wrong    []string
	trivial  []time.Duration
	refusals []time.Duration
}

func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

// load has clients ask for verdicts until the end of time or of done. They take
// records from one list, so that what is answered is of the mix also when most
// requests are refused.
func (s *server) load(clients int, length time.Duration, done <-chan struct{}) *outcome {
	o := &outcome{}
	var taken atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients}}
	until := time.Now().Add(length)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for time.Now().Before(until) {
				select {
				case <-done:
					return
				default:
				}
				n := int(taken.Add(1))
				record, want := mixed(n)
				status, verdict, id, took := s.ask(client, record)
				o.add(n, status, verdict, id, want, took)
				if status == 429 {
					time.Sleep(20 * time.Millisecond) // far less than Retry-After asks for
				}
			}
		})
	}
	wg.Wait()
	return o
}

func (o *outcome) add(n, status int, verdict, id, want string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch status {
	case 200:
		o.verdicts++
		if verdict != want || id != fmt.Sprint(n) {
			o.wrong = append(o.wrong, fmt.Sprintf("record %d: id %s, %s, want %s", n, id, verdict, want))
		}
		if n%10 < 7 {
			o.trivial = append(o.trivial, took)
		}
	case 429:
		o.refused++
		o.refusals = append(o.refusals, took)
	default:
		o.failed++
	}
}

// TestLoadVerification is A2 and A3: first as many clients as a trainer has,
// each of whose requests must get exactly one verdict, then eight times what
// the server takes.
func TestLoadVerification(t *testing.T) {
	s := startServer(t, filepath.Join(t.TempDir(), "runs.db"), "--workers", "2")
	length := time.Duration(setting(t, "TROUPE_LOAD_S", 20)) * time.Second
	s.load(4, time.Second, nil) // workers start
	before, memory := s.counted(t, "troupe_verdicts_total"), s.residentMB(t)
	o := s.load(32, length, nil)
	given := s.counted(t, "troupe_verdicts_total") - before
	rate := float64(o.verdicts) / length.Seconds()
	t.Logf("A2: %d requests in %v, %.0f/s: trivial ones p50 %v, p99 %v; memory %d -> %d MiB", o.verdicts, length, rate,
		quantile(o.trivial, .5), quantile(o.trivial, .99), memory, s.residentMB(t))
	if int(given) != o.verdicts || o.failed > 0 || o.refused > 0 || len(o.wrong) > 0 {
		t.Errorf("%d verdicts received, %v given, %d failed, %d refused; %v", o.verdicts, given, o.failed, o.refused, o.wrong)
	}
	before = s.counted(t, "troupe_verdicts_total")
	over := s.load(240, length/2, nil)
	given = s.counted(t, "troupe_verdicts_total") - before
	goodput := float64(over.verdicts) / (length / 2).Seconds()
	t.Logf("A3: %.0f/s (%.0f %% of A2), %d refusals, p99 %v; memory %d MiB", goodput, 100*goodput/rate, over.refused,
		quantile(over.refusals, .99), s.residentMB(t))
	if int(given) != over.verdicts || over.failed > 0 || over.refused == 0 || len(over.wrong) > 0 {
		t.Errorf("%d verdicts received, %v given, %d failed, %d refused; %v", over.verdicts, given, over.failed, over.refused, over.wrong)
	}
	if goodput < .9*rate || s.residentMB(t) > memory+64 {
		t.Errorf("overload brought %.0f/s down to %.0f/s, memory from %d to %d MiB", rate, goodput, memory, s.residentMB(t))
	}
	s.stop(t)
}

// TestLoadShutdown is A6: SIGTERM under load. Every request that had begun gets
// its one verdict or an error, the program ends with 0 within ten seconds, and
// no worker is left.
func TestLoadShutdown(t *testing.T) {
	for range setting(t, "TROUPE_LOAD_N", 2) {
		s := startServer(t, filepath.Join(t.TempDir(), "runs.db"), "--workers", "2")
		done := make(chan struct{})
		seen := make(chan *outcome, 1)
		go func() { seen <- s.load(32, time.Minute, done) }()
		time.Sleep(2 * time.Second)
		children := childrenOf(t, s.cmd.Process.Pid)
		close(done)
		took, _ := s.stop(t)
		o := <-seen
		left := 0
		for _, pid := range children {
			if syscall.Kill(pid, 0) == nil {
				left++
			}
		}
		t.Logf("A6: ended after %v; %d verdicts, %d without one, %d workers of %d left", took.Round(time.Millisecond), o.verdicts, o.failed, left, len(children))
		if took > 10*time.Second || left > 0 || len(children) == 0 || o.verdicts == 0 || len(o.wrong) > 0 || o.failed > 0 {
			t.Errorf("%d of 32 requests were lost, %d workers left, %v", o.failed, left, o.wrong)
		}
	}
}

// childrenOf lists the processes that a process has started.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var out []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		b, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(b)) {
			n, _ := strconv.Atoi(f)
			out = append(out, n)
		}
	}
	return out
}
