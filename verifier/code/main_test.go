package code

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"troupe/data"
	"troupe/internal/reexec"
	"troupe/sandbox"
	"troupe/verifier/verdict"
)

func TestMain(m *testing.M) {
	reexec.Main()
	code := m.Run()
	if pool != nil {
		pool.Close()
	}
	os.Exit(code)
}

var (
	pool     *sandbox.Pool
	poolErr  error
	openPool = sync.OnceFunc(func() {
		cache := os.Getenv("TROUPE_CACHE")
		if cache == "" {
			dir, err := os.UserCacheDir()
			if err != nil {
				poolErr = err
				return
			}
			cache = filepath.Join(dir, "troupe")
		}
		pool, poolErr = sandbox.Open(context.Background(), sandbox.Options{Cache: cache})
	})
)

// worker leases a worker of the real sandbox for one test.
func worker(t testing.TB) *sandbox.Worker {
	t.Helper()
	openPool()
	if errors.Is(poolErr, sandbox.ErrNoGuest) && os.Getenv("TROUPE_OFFLINE") == "1" {
		t.Skip("no Python guest in the cache, and TROUPE_OFFLINE=1")
	}
	if poolErr != nil {
		t.Fatal(poolErr)
	}
	w, err := pool.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Release)
	return w
}

// judged judges a program and fails the test on an error of the sandbox.
func judged(t *testing.T, r Runner, task data.Task, source string, opt Options) verdict.Verdict {
	t.Helper()
	v, err := Program(t.Context(), r, task, source, opt)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every case has the verdicts that are right for it.
func TestCases(t *testing.T) {
	body, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	w := worker(t)
	for line := range strings.Lines(string(body)) {
		var c struct {
			ID, Answer, Program, Why string
			FnName                   string `json:"fn_name"`
			Tests                    json.RawMessage
			Want                     []verdict.Code
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		task := data.Task{ID: c.ID, Kind: data.Code, Limits: data.Limits{TimeS: 0.5, MemoryMB: 256}}
		if task.Tests, task.Fn, err = data.ParseTests(c.Tests, c.FnName); err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		var v verdict.Verdict
		if c.Answer != "" {
			v, err = Answer(t.Context(), w, task, c.Answer, Options{})
		} else {
			v, err = Program(t.Context(), w, task, c.Program, Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.Want, v.Code) {
			t.Errorf("%s (%s): %s %s, want one of %v", c.ID, c.Why, v.Code, v.Reason, c.Want)
		}
	}
}
