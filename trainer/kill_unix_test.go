//go:build unix

package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"troupe/internal/reexec"
)

func init() { reexec.Register("trainer-kill-test", killChild) }

// killChild plays the small world in args[0]. With a site and a count it kills
// itself when it comes to the site for the count-eth time.
func killChild(args []string) int {
	site, left := args[1], 0
	left, _ = strconv.Atoi(args[2])
	var t fatal
	w := newWorld(&t, args[0], smallConfig(), func(p *Parts) {
		p.Fail = func(at string) {
			if at != site {
				return
			}
			if left--; left == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	})
	if err := w.t.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w.db.Close()
	if err := os.WriteFile(filepath.Join(args[0], "weights"), []byte(w.weights()), 0o644); err != nil {
		return 1
	}
	return 0
}

// fatal is a testing.TB outside of a test.
type fatal struct{ testing.TB }

func (*fatal) Helper()           {}
func (*fatal) Fatal(args ...any) { fmt.Fprintln(os.Stderr, args...); os.Exit(1) }
func (*fatal) TempDir() string {
	dir, err := os.MkdirTemp("", "kill")
	if err != nil {
		panic(err)
	}
	return dir
}

// Invariant 5: a run killed at any moment, and started again until it ends, has
// the same weights, optimizer states and rows as one that was left alone.
func TestInvariant5KilledAtAnyMoment(t *testing.T) {
	whole := newWorld(t, t.TempDir(), smallConfig(), nil).play(t)
	want := whole.rows(t)
	kills := 20
	if testing.Short() {
		kills = 3
	}
	if n, err := strconv.Atoi(os.Getenv("TROUPE_KILLS")); err == nil {
		kills = n
	}
	check := func(t *testing.T, dir string) {
		t.Helper()
		w := &world{cfg: whole.cfg, dir: dir}
		sameRows(t, want, w.rows(t))
		if b, err := os.ReadFile(filepath.Join(dir, "weights")); err != nil || string(b) != whole.weights() {
			t.Errorf("weights differ (%v)", err)
		}
	}
	for _, site := range []string{"before-checkpoint", "within-checkpoint", "after-checkpoint", "after-transaction", "after-retention"} {
		for _, n := range []string{"1", "3"} {
			t.Run(site+n, func(t *testing.T) {
				dir := t.TempDir()
				if child(t, dir, site, n, 0) {
					t.Fatal("it was not killed")
				}
				if !child(t, dir, "", "0", 0) {
					t.Fatal("the second start did not end")
				}
				check(t, dir)
			})
		}
	}
	t.Run("random", func(t *testing.T) {
		started := time.Now()
		dir := t.TempDir()
		if !child(t, dir, "", "0", 0) {
			t.Fatal("it did not end by itself")
		}
		check(t, dir)
		length := time.Since(started)
		killed, runs := 0, 0
		for ; killed < kills; runs++ {
			dir := t.TempDir()
			for !child(t, dir, "", "0", time.Duration(rand.Float64()*float64(length))) {
				killed++
			}
			check(t, dir)
		}
		t.Logf("%d kills in %d runs, each resumed to the same bits", killed, runs)
	})
}

// child runs killChild, killed from outside after a while if that is not 0. It
// reports whether the run came to its end.
func child(t *testing.T, dir, site, count string, after time.Duration) bool {
	t.Helper()
	cmd, err := reexec.Command(t.Context(), "trainer-kill-test", dir, site, count)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	if err == nil {
		return true
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("child: %v", err)
	}
	return false
}
