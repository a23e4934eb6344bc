//go:build browser

package api

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

// TestDashboardInABrowser opens every page in headless Chromium at two widths,
// in light and dark, checks what it shows and that the console has no error,
// and leaves screenshots in TROUPE_SCREENSHOTS (or a temporary folder).
func TestDashboardInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	shots := os.Getenv("TROUPE_SCREENSHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	s := start(t, Options{DB: longRunLog(t)})
	pages := []struct {
		name, hash string
		want       []string
	}{
		{"runs", "#/", []string{"voting", "running", "#/run/run0"}},
		{"run", "#/run/run0", []string{"Evaluations", "actor/grad_norm", "<polyline", "fell below", "generator"}},
		{"episodes", "#/run/run0/episodes/10", []string{"AC", "boxed{85}", "&lt;script&gt;"}},
		{"grid", "#/grid", []string{"ceiling", "gain (points)", "80.0 %"}},
		{"compare", "#/compare/run0/run1", []string{"first", "second", "<polyline"}},
	}
	for _, p := range pages {
		for _, width := range []int{1280, 390} {
			for _, dark := range []bool{false, true} {
				args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000",
					"--enable-logging=stderr", "--v=0", fmt.Sprintf("--window-size=%d,900", width)}
				if dark {
					args = append(args, "--blink-settings=preferredColorScheme=0")
				}
				url := "http://" + s.Addr() + "/" + p.hash
				png := filepath.Join(shots, fmt.Sprintf("%s-%d-dark=%v.png", p.name, width, dark))
				cmd := exec.Command(chromium, append(args, "--screenshot="+png, url)...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				log, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v: %s", p.name, err, log)
				}
				for line := range strings.Lines(string(log)) {
					if strings.Contains(line, "CONSOLE") {
						t.Errorf("%s: %s", p.name, line)
					}
				}
			}
		}
		dom := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom", "http://"+s.Addr()+"/"+p.hash)
		dom.Env = append(os.Environ(), "HOME="+t.TempDir())
		html, err := dom.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range p.want {
			if !strings.Contains(string(html), w) {
				t.Errorf("%s lacks %q", p.name, w)
			}
		}
		if strings.Contains(string(html), "<script>alert") {
			t.Errorf("%s: text of a run became markup", p.name)
		}
	}
}

// longRunLog is two runs of 60 iterations with the metrics a person looks at.
func longRunLog(t *testing.T) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	roles := []string{"generator", "aggregator"}
	for n, policy := range []string{"shared", "isolated"} {
		id := fmt.Sprint("run", n)
		if err := w.CreateRun(t.Context(), store.Run{ID: id, Config: "workflow: voting\npolicy: " + policy + "\n", Workflow: "voting", Policy: policy,
			Task: "math", Model: "tiny-s", Seed: 1, State: store.Running}); err != nil {
			t.Fatal(err)
		}
		for i := range 61 {
			x := float64(i) / 60
			b := store.Batch{Run: id, Iteration: i, Steps: []store.Step{{Metric: "reward/mean", Value: .4 + .4*x}}}
			for k, r := range roles {
				for m, name := range []string{"actor/grad_norm", "actor/ppl_base", "actor/entropy", "actor/amplification", "actor/mass_share", "actor/capture", "actor/lr"} {
					b.RoleSteps = append(b.RoleSteps, store.RoleStep{Role: r, Slot: store.AllSlots, Metric: name, Value: 1 + x*float64(m) + .2*math.Sin(float64(i*(k+2)+n))})
				}
			}
			if i%10 == 0 {
				for _, temp := range []float64{0, 1} {
					b.Evals = append(b.Evals, store.Eval{Split: "held", Temperature: temp, N: 600, Accuracy: .5 + .3*x, Stderr: .02})
				}
				at := store.At{Split: "train", Temperature: 1, Task: "arithmetic/47+38", Rollout: 0}
				b.Episodes = []store.Episode{{At: at, Reward: 1, Rewarded: true, Verdict: "AC", Kept: true}}
				for k, text := range []string{`47+38 is \boxed{85}`, `<script>alert(1)</script> \boxed{1}`} {
					b.Calls = append(b.Calls, store.Call{CallAt: store.CallAt{At: at, Role: roles[k], Turn: k}, PromptIDs: []int32{1}, IDs: []int32{2},
						LogProbs: []float32{-1}, Text: text, Tier: "primary", Finish: "stop", Advantage: .7})
				}
			}
			if i == 40 {
				b.Events = []store.Event{{Kind: "conformance", Role: "aggregator", Severity: "alarm", Message: "primary-tier parse rate fell below 0.9", Value: .87}}
			}
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
