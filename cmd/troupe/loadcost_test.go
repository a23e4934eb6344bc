//go:build load

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// cpu is what a process that has ended used, its children included.
func cpu(state *os.ProcessState) time.Duration { return state.UserTime() + state.SystemTime() }

// median is the middle of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// command runs the program to its end.
func command(t *testing.T, dir string, args ...string) (took time.Duration, state *os.ProcessState) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out[max(0, len(out)-500):])
	}
	return time.Since(began), cmd.ProcessState
}

// TestLoadCost compares what the verdicts on the same records cost by the
// command and over HTTP, in turns: one record a request, and batches.
func TestLoadCost(t *testing.T) {
	const programs, tests = 400, 10
	dir := t.TempDir()
	var records []string
	for n := range programs {
		var cases []map[string]string
		for i := range tests {
			cases = append(cases, map[string]string{"input": fmt.Sprint(i), "output": fmt.Sprint(i + n)})
		}
		b, _ := json.Marshal(map[string]any{"id": fmt.Sprint(n), "tests": cases,
			"program": fmt.Sprintf("n = int(input())\nseen = {}\nfor i in range(50): seen[i] = i * n\nprint(n + %d)", n)})
		records = append(records, string(b))
	}
	in := filepath.Join(dir, "in.jsonl")
	if err := os.WriteFile(in, []byte(strings.Join(records, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over := func(batch int) float64 {
		s := startServer(t, filepath.Join(dir, "runs.db"), "--workers", "2")
		if right := s.askAll(t, records, batch); right != programs {
			t.Errorf("%d of %d programs were accepted", right, programs)
		}
		_, state := s.stop(t)
		return cpu(state).Seconds()
	}
	var single, batched []float64
	for range setting(t, "TROUPE_LOAD_N", 5) {
		_, state := command(t, dir, "verify", "code", "--workers", "2", "--in", in)
		by := cpu(state).Seconds()
		ones, batches := over(1), over(100)
		t.Logf("%d tests: %.2f s of CPU by the command, %.2f over HTTP one by one, %.2f in batches", programs*tests, by, ones, batches)
		single, batched = append(single, by/ones), append(batched, by/batches)
	}
	t.Logf("verdicts per CPU second over HTTP, of the command's: %.1f %% one by one, %.1f %% in batches (medians)", 100*median(single), 100*median(batched))
	if min(median(single), median(batched)) < .9 {
		t.Error("HTTP costs more than a tenth of the throughput")
	}
}

// askAll sends records by 32 clients and counts the verdicts that are AC.
func (s *server) askAll(t *testing.T, records []string, batch int) int {
	t.Helper()
	var right, next atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for {
				from := int(next.Add(int64(batch))) - batch
				if from >= len(records) {
					return
				}
				body := "[" + strings.Join(records[from:min(from+batch, len(records))], ",") + "]"
				if batch == 1 {
					body = records[from]
				}
				r, err := http.NewRequest("POST", s.url+"/v1/verify/code", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+s.token)
				resp, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				right.Add(int64(bytes.Count(text, []byte(`"verdict":"AC","reward"`))))
			}
		})
	}
	wg.Wait()
	return int(right.Load())
}

// TestLoadReaders trains the same cell in turns alone and with eight readers:
// each follows the run and after every iteration asks for it, its curves and its
// events anew, which the dashboard does only when it is opened.
func TestLoadReaders(t *testing.T) {
	train := func(readers int) (took, used time.Duration, reads int64) {
		dir := t.TempDir()
		db := filepath.Join(dir, "runs.db")
		args := []string{"reproduce", "--cells", "voting-IP-math", "--iterations", fmt.Sprint(setting(t, "TROUPE_LOAD_ITERATIONS", 40)), "--db", db}
		if readers == 0 {
			took, state := command(t, dir, args...)
			return took, cpu(state), 0
		}
		done := make(chan int64, 1)
		stop := make(chan struct{})
		go func() { done <- readRuns(t, db, readers, stop) }()
		took, state := command(t, dir, args...)
		close(stop)
		return took, cpu(state), <-done
	}
	var wall, used []float64
	for i := range setting(t, "TROUPE_LOAD_N", 4) {
		order := []int{0, 8}
		if i%2 == 1 {
			order = []int{8, 0}
		}
		var took, busy [2]float64
		for _, readers := range order {
			w, c, reads := train(readers)
			t.Logf("%d readers: %.2f s, %.2f s of CPU by the trainer, %d reads", readers, w.Seconds(), c.Seconds(), reads)
			took[min(readers, 1)], busy[min(readers, 1)] = w.Seconds(), c.Seconds()
			if readers > 0 && reads == 0 {
				t.Error("nothing was read")
			}
		}
		wall, used = append(wall, took[1]/took[0]), append(used, busy[1]/busy[0])
	}
	t.Logf("with eight readers the trainer takes %.1f %% of the time and %.1f %% of the CPU time (medians)", 100*median(wall), 100*median(used))
	if median(used) > 1.02 {
		t.Error("readers cost the trainer more than 2 %")
	}
}

// readRuns serves a database that is being written, once it is there, to
// readers that follow its run until stop, and counts their reads.
func readRuns(t *testing.T, db string, readers int, stop <-chan struct{}) int64 {
	for _, err := os.Stat(db); err != nil; _, err = os.Stat(db) {
		select {
		case <-stop:
			return 0
		case <-time.After(20 * time.Millisecond):
		}
	}
	s := startServer(t, db, "--no-verify")
	var reads atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() { reads.Add(s.follow(t, stop)) })
	}
	wg.Wait()
	_, state := s.stop(t)
	t.Logf("the server took %.2f s of CPU", cpu(state).Seconds())
	return reads.Load()
}

// follow is one reader.
func (s *server) follow(t *testing.T, stop <-chan struct{}) (reads int64) {
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
		if err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(r)
	}
	var run string
	for run == "" {
		select {
		case <-stop:
			return 0
		case <-time.After(50 * time.Millisecond):
		}
		resp, err := get("/api/runs")
		if err != nil {
			t.Error(err)
			return 0
		}
		var list struct{ Runs []struct{ ID string } }
		if json.NewDecoder(resp.Body).Decode(&list) == nil && len(list.Runs) > 0 {
			run = list.Runs[0].ID
		}
		resp.Body.Close()
	}
	resp, err := get("/api/runs/" + run + "/stream")
	if err != nil {
		t.Error(err)
		return 0
	}
	go func() { <-stop; resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if lines.Text() != "event: iteration" {
			continue
		}
		for _, path := range []string{"", "/series", "/events"} {
			if r, err := get("/api/runs/" + run + path); err == nil {
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				reads++
			}
		}
	}
	return reads
}
