package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func newDB(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func addRun(t *testing.T, db *DB, id string) {
	t.Helper()
	err := db.CreateRun(t.Context(), Run{ID: id, Config: "seed: 1\n", Workflow: "voting", Policy: "shared", Task: "math", Seed: 1<<63 + 5, Host: "here"})
	if err != nil {
		t.Fatal(err)
	}
}

func at(task string, rollout int) At {
	return At{Split: "train", Temperature: 1, Task: task, Rollout: rollout}
}

// sampleBatch has a row of every kind.
func sampleBatch(run string, iteration int) Batch {
	call := CallAt{At: at("math/1", 0), Role: "generator", Slot: 2, Turn: 1}
	return Batch{
		Run: run, Iteration: iteration,
		Steps:       []Step{{"critic/rewards/mean", .5}, {"perf/bad", math.NaN()}},
		RoleSteps:   []RoleStep{{"generator", AllSlots, "actor/grad_norm", 1.5}, {"generator", 2, "actor/grad_norm", .5}},
		Evals:       []Eval{{"held", 1, 600, .4 + float64(iteration)/100, .02}},
		EvalItems:   []EvalItem{{"held", 1, "math/9", 1, "AC"}},
		Tasks:       []Task{{ID: "math/1", Kind: "math", Text: "1+1=", Gold: "2"}},
		Episodes:    []Episode{{at("math/1", 0), 1, true, "AC", true}, {at("math/1", 1), 0, false, "IE", false}},
		Calls:       []Call{{call, []int32{1, 2}, []int32{3, 151645}, []float32{-.5, -1e-7}, "a\x00b", "primary", "stop", .7}},
		Verdicts:    []Verdict{{CallAt{At: at("math/1", 0)}, "AC", "", 1, 1, 1 << 63, true}},
		TestResults: []TestResult{{call, 3, "WA", 12, "out", "err", "line 1"}},
		Events:      []Event{{"cliff", "generator", "alarm", "down", 3}, {"note", "", "info", "x", math.Inf(1)}},
		Timings:     []Timing{{"rollout", 1.25}},
		Checkpoint:  &Checkpoint{Path: "runs/x", SHA256: "00"},
	}
}

func TestEveryKindOfRowComesBack(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	addRun(t, db, "r1")
	b := sampleBatch("r1", 3)
	if err := db.Write(ctx, b); err != nil {
		t.Fatal(err)
	}
	run, err := db.RunByID(ctx, "r1")
	if err != nil || run.Seed != 1<<63+5 || run.State != Running || run.CreatedAt == "" {
		t.Errorf("run %+v, error %v", run, err)
	}
	calls, err := db.Calls(ctx, "r1", 3)
	want := b.Calls[0]
	want.Text = "a\u2400b"
	if err != nil || len(calls) != 1 || !reflect.DeepEqual(calls[0], want) {
		t.Errorf("calls %+v, error %v", calls, err)
	}
	episodes, err := db.Episodes(ctx, "r1", 3)
	if err != nil || !reflect.DeepEqual(episodes, b.Episodes) {
		t.Errorf("episodes %+v, error %v", episodes, err)
	}
	verdicts, err := db.Verdicts(ctx, "r1", 3)
	if err != nil || !reflect.DeepEqual(verdicts, b.Verdicts) {
		t.Errorf("verdicts %+v, error %v", verdicts, err)
	}
	results, err := db.TestResults(ctx, "r1", 3)
	if err != nil || !reflect.DeepEqual(results, b.TestResults) {
		t.Errorf("test results %+v, error %v", results, err)
	}
	metrics, err := db.Metrics(ctx, "r1", 0)
	if err != nil || len(metrics) != 4 || metrics[1].Value != nil || *metrics[2].Value != 1.5 {
		t.Errorf("metrics %+v, error %v", metrics, err)
	}
	events, err := db.Events(ctx, "r1", 0)
	if err != nil || len(events) != 2 || events[1].Value != nil || events[0].Severity != "alarm" {
		t.Errorf("events %+v, error %v", events, err)
	}
	c, ok, err := db.LastCheckpoint(ctx, "r1")
	if err != nil || !ok || c.Iteration != 3 || c.SHA256 != "00" {
		t.Errorf("checkpoint %+v %v, error %v", c, ok, err)
	}
	if n, err := db.LastIteration(ctx, "r1"); n != 3 || err != nil {
		t.Errorf("last iteration %d, error %v", n, err)
	}
}

// dump is every row of every table but what may differ between equal runs.
func dump(t *testing.T, db *DB) string {
	t.Helper()
	var lines []string
	for _, name := range append([]string{"runs", "tasks"}, perIteration...) {
		if name == "timings" {
			continue
		}
		rows, err := db.sql.Query("SELECT * FROM " + name)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			v := make([]any, len(columns))
			p := make([]any, len(columns))
			for i := range v {
				p[i] = &v[i]
			}
			if err := rows.Scan(p...); err != nil {
				t.Fatal(err)
			}
			line := name
			for i, c := range columns {
				if !mayDiffer(name, c) {
					line += fmt.Sprintf(" %s=%v", c, v[i])
				}
			}
			lines = append(lines, line)
		}
		rows.Close()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestAnIterationWrittenAgainReplacesTheFirst(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	addRun(t, db, "r1")
	for i := range 4 {
		if err := db.Write(ctx, sampleBatch("r1", i)); err != nil {
			t.Fatal(err)
		}
	}
	want := dump(t, db)
	other := sampleBatch("r1", 3)
	other.Steps = append(other.Steps, Step{"left/over", 1})
	for _, b := range []Batch{other, sampleBatch("r1", 3)} {
		if err := db.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if got := dump(t, db); got != want {
		t.Errorf("after writing again:\n%s\nwant\n%s", got, want)
	}
	if err := db.Truncate(ctx, "r1", 1); err != nil {
		t.Fatal(err)
	}
	if n, _ := db.LastIteration(ctx, "r1"); n != 1 {
		t.Errorf("last iteration %d after truncation", n)
	}
	for i := 2; i < 4; i++ {
		if err := db.Write(ctx, sampleBatch("r1", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := dump(t, db); got != want {
		t.Error("a truncated and continued log differs from one written through")
	}
}

func TestAddKeepsWhatIsThere(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	addRun(t, db, "r1")
	if err := db.Write(ctx, sampleBatch("r1", 1)); err != nil {
		t.Fatal(err)
	}
	err := db.Write(ctx, Batch{Run: "r1", Iteration: 1, Add: true, Evals: []Eval{{"dev", 0, 10, .5, .1}},
		Events: []Event{{Kind: "late", Severity: "info"}}, State: Done})
	if err != nil {
		t.Fatal(err)
	}
	evals, _ := db.Evals(ctx, "r1")
	events, _ := db.Events(ctx, "r1", 0)
	if len(evals) != 2 || len(events) != 3 || events[2].Kind != "late" {
		t.Errorf("evals %+v events %+v", evals, events)
	}
	if r, _ := db.RunByID(ctx, "r1"); r.State != Done {
		t.Errorf("state %q", r.State)
	}
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	db := newDB(t)
	addRun(t, db, "r1")
	before := dump(t, db)
	b := sampleBatch("r1", 0)
	b.State = "x"
	b.Run = "missing"
	if err := db.Write(t.Context(), b); !errors.Is(err, ErrNoRun) {
		t.Errorf("error %v", err)
	}
	if dump(t, db) != before {
		t.Error("rows of a failed write are there")
	}
}

func TestCreateRunIsIdempotentAndRefusesOtherContent(t *testing.T) {
	db := newDB(t)
	addRun(t, db, "r1")
	addRun(t, db, "r1")
	err := db.CreateRun(t.Context(), Run{ID: "r1", Config: "seed: 2\n"})
	if err == nil || !strings.Contains(err.Error(), "another content") {
		t.Errorf("error %v", err)
	}
}

func TestForeignFilesAreRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "other.db")
	pool, err := sql.Open("sqlite3", "file:"+foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec("CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	pool.Close()
	text := filepath.Join(dir, "text.db")
	os.WriteFile(text, []byte(strings.Repeat("no database, just text\n", 100)), 0o644)
	for _, path := range []string{foreign, text} {
		before, _ := os.ReadFile(path)
		for name, open := range map[string]func(string) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
			db, err := open(path)
			if !errors.Is(err, ErrForeign) {
				t.Errorf("%s(%s): error %v", name, path, err)
			}
			if err == nil {
				db.Close()
			} else if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error is no single line that names the file: %v", name, err)
			}
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing", "x.db")} {
		if _, err := Open(path); err == nil {
			t.Errorf("Open(%s): no error", path)
		}
	}
	if _, err := OpenReadOnly(filepath.Join(dir, "missing.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestOddFileNames(t *testing.T) {
	for _, name := range []string{"a b.db", "50%.db", "q?mode=memory.db", "h#x.db", "ümlaut.db"} {
		path := filepath.Join(t.TempDir(), name)
		db, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		db.Close()
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestEngineVersion(t *testing.T) {
	if v := EngineVersion(); !atLeast(v, oldestEngine) {
		t.Errorf("SQLite %s is older than %v", v, oldestEngine)
	}
	for v, want := range map[string]bool{"3.51.3": true, "3.51.2": false, "3.54.1": true, "3.9.9": false, "4.0.0": true, "": false} {
		if got := atLeast(v, oldestEngine); got != want {
			t.Errorf("atLeast(%q) = %v", v, got)
		}
	}
}
