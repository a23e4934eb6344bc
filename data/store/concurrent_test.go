package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/internal/reexec"
)

func init() {
	// writer appends iterations to args[0] for ever and prints each that is
	// acknowledged.
	reexec.Register("writer", func(args []string) int {
		db, err := Open(args[0])
		if err == nil {
			err = db.CreateRun(context.Background(), Run{ID: "r", Config: "x", CreatedAt: "t"})
		}
		last := -1
		if err == nil {
			last, err = db.LastIteration(context.Background(), "r")
		}
		for i := last + 1; err == nil; i++ {
			if err = db.Write(context.Background(), sampleBatch("r", i)); err == nil {
				fmt.Println(i)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	})
}

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// TestHammer has one writer and eight readers on one file, one of them in a
// long transaction: no reader is refused, no reader sees half an iteration,
// the writer is not held up.
func TestHammer(t *testing.T) {
	db := newDB(t)
	addRun(t, db, "r")
	if err := db.Write(t.Context(), sampleBatch("r", 0)); err != nil {
		t.Fatal(err)
	}
	length := 2 * time.Second
	if testing.Short() {
		length = 300 * time.Millisecond
	}
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var reads, writes atomic.Int64
	var slowest atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; ctx.Err() == nil; i++ {
			start := time.Now()
			b := sampleBatch("r", i)
			b.Checkpoint = nil // a checkpoint waits for the disk
			if err := db.Write(context.Background(), b); err != nil {
				t.Errorf("write: %v", err)
				return
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(start))))
			writes.Add(1)
		}
	})
	for n := range 8 {
		reader, err := OpenReadOnly(db.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if n == 0 { // holds a snapshot all the time
			tx, err := reader.sql.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			var k int
			if err := tx.QueryRow("SELECT count(*) FROM steps").Scan(&k); err != nil {
				t.Fatal(err)
			}
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				var steps, roles int
				err := reader.sql.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM steps), (SELECT count(*) FROM role_steps)`).Scan(&steps, &roles)
				if err != nil || steps != roles { // two of each an iteration
					t.Errorf("read: %d and %d rows, error %v", steps, roles, err)
					return
				}
				reads.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("%d writes, slowest %v, %d reads", writes.Load(), time.Duration(slowest.Load()).Round(time.Millisecond), reads.Load())
	if writes.Load() < 5 || reads.Load() < 5 {
		t.Error("hardly anything was done")
	}
}

// TestAKilledWriterLosesNothingAcknowledged kills a writing process at random
// moments. Afterwards the file is whole, and all that was acknowledged is
// there.
func TestAKilledWriterLosesNothingAcknowledged(t *testing.T) {
	kills := 12
	if testing.Short() {
		kills = 3
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	acknowledged := 0
	for k := range kills {
		cmd, err := reexec.Command(t.Context(), "writer", path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := make(chan int)
		go func() {
			n, i := -1, 0
			for {
				if _, err := fmt.Fscan(out, &i); err != nil {
					last <- n
					return
				}
				n = i
			}
		}()
		time.Sleep(time.Duration(60+37*k%90) * time.Millisecond)
		cmd.Process.Kill()
		n := <-last
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		acknowledged = max(acknowledged, n)
		db, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var check string
		if err := db.sql.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
			t.Errorf("kill %d: integrity %q, error %v", k, check, err)
		}
		if have, err := db.LastIteration(t.Context(), "r"); n >= 0 && have < n || err != nil {
			t.Errorf("kill %d: iteration %d was acknowledged, %d is there, error %v", k, n, have, err)
		}
		db.Close()
	}
	t.Logf("%d kills, %d iterations acknowledged", kills, acknowledged+1)
}

// TestTwoWritersWaitForEachOther: two programs may write to one log.
func TestTwoWritersWaitForEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			db, err := Open(path) // all make the schema at once
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			id := fmt.Sprint("r", w)
			if err := db.CreateRun(t.Context(), Run{ID: id, Config: "x"}); err != nil {
				t.Error(err)
			}
			for i := range 10 {
				if err := db.Write(t.Context(), sampleBatch(id, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	db, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for w := range 3 {
		if n, err := db.LastIteration(t.Context(), fmt.Sprint("r", w)); n != 9 || err != nil {
			t.Errorf("run %d: last iteration %d, error %v", w, n, err)
		}
	}
}
