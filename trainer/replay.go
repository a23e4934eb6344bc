package trainer

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"troupe/data/store"
	"troupe/trainer/checkpoint"
)

// Replayed is what came of computing an iteration again.
type Replayed struct {
	From        int      // iteration of the checkpoint it started from; -1: from the beginning
	Rows        int      // compared
	Weights     bool     // the checkpoint's hash was compared too
	Differences []string // the first few of each table; none if all is the same, bit for bit
}

// mostDifferences bounds what a replay lists of a table.
const mostDifferences = 3

// Replay computes an iteration of a logged run again and compares every row of
// it with the log, bit for bit. The trainer writes to a database and a folder
// of its own, which must be empty; recorded is the run's log. It starts from
// the newest intact checkpoint before the iteration, found where it was written
// or below root if that is not empty, or else from the beginning.
func (t *Trainer) Replay(ctx context.Context, recorded *store.DB, root string, iteration int) (Replayed, error) {
	r := Replayed{From: -1}
	if last, err := recorded.LastIteration(ctx, t.id); err != nil {
		return r, err
	} else if iteration < 0 || iteration > last {
		return r, fmt.Errorf("run %s has iterations 0 to %d, not %d", t.id, last, iteration)
	}
	if err := t.parts.DB.CreateRun(ctx, t.row()); err != nil {
		return r, err
	}
	t.cfg.LogCalls = "all"
	var err error
	if r.From, err = t.restore(ctx, recorded, root, iteration); err != nil {
		return r, err
	}
	for it := r.From + 1; it <= iteration; it++ {
		if t.last, err = t.ended(ctx, recorded, it); err != nil {
			return r, err
		}
		t.last = t.last || it == t.cfg.Iterations
		if err := t.iterate(ctx, it); err != nil {
			return r, fmt.Errorf("iteration %d: %w", it, err)
		}
	}
	again, err := store.OpenReadOnly(t.parts.DB.Path())
	if err != nil {
		return r, err
	}
	defer again.Close()
	return r, r.compare(ctx, recorded, again, t.id, iteration)
}

// restore loads the newest checkpoint before an iteration that is still there.
func (t *Trainer) restore(ctx context.Context, recorded *store.DB, root string, before int) (int, error) {
	list, err := recorded.Checkpoints(ctx, t.id)
	if err != nil {
		return 0, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		dir := c.Path
		if root != "" {
			dir = checkpoint.Dir(root, c.Iteration)
		}
		if c.Iteration >= before {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			continue // retention has removed it
		}
		if _, err := checkpoint.Verify(dir, c.SHA256); err != nil {
			return 0, err
		}
		if err := t.load(dir); err != nil {
			return 0, err
		}
		return c.Iteration, t.rewatch(ctx, recorded, c.Iteration)
	}
	return -1, nil
}

// replayTables are compared, each with the columns that equal runs share.
var replayTables = []struct{ name, columns string }{
	{"steps", "metric, value"},
	{"role_steps", "role, slot, metric, value"},
	{"evals", "split, temperature, n, accuracy, stderr"},
	{"eval_items", "split, temperature, task, correct, verdict"},
	{"episodes", "split, temperature, task, rollout, reward, verdict, kept"},
	{"verdicts", "split, temperature, task, rollout, role, slot, turn, code, reason, passed, total, fuel, cached"},
	{"calls", "split, temperature, task, rollout, role, slot, turn, prompt_ids, ids, logprobs, text, tier, finish, advantage"},
	{"test_results", "split, temperature, task, rollout, role, slot, turn, test, code, fuel, stdout, stderr, detail"},
	{"events", "seq, kind, role, severity, message, value"},
	{"checkpoints", "sha256"},
}

// compare reads the iteration from both databases side by side.
func (r *Replayed) compare(ctx context.Context, recorded, again *store.DB, run string, iteration int) error {
	logged := true // whether the run kept this iteration's calls
	for _, table := range replayTables {
		if !logged && table.name == "test_results" {
			continue
		}
		q := fmt.Sprintf("SELECT %s FROM %s WHERE run = :run AND iteration = %d ORDER BY %s", table.columns, table.name, iteration, table.columns)
		was, err := rowsOf(ctx, recorded, q, run)
		if err != nil {
			return err
		}
		is, err := rowsOf(ctx, again, q, run)
		if err != nil {
			return err
		}
		switch {
		case table.name == "calls" && len(was) == 0:
			logged = false
			continue
		case table.name == "checkpoints":
			if len(was) == 0 || len(is) == 0 {
				continue
			}
			r.Weights = true
		}
		r.table(table.name, was, is)
	}
	return nil
}

func (r *Replayed) table(name string, was, is [][]any) {
	found := 0
	differ := func(format string, args ...any) {
		if found++; found <= mostDifferences {
			r.Differences = append(r.Differences, name+": "+fmt.Sprintf(format, args...))
		}
	}
	if len(was) != len(is) {
		differ("%d rows, the log has %d", len(is), len(was))
	}
	for i := range min(len(was), len(is)) {
		r.Rows++
		for k := range was[i] {
			if !sameValue(was[i][k], is[i][k]) {
				differ("%.200s; the log has %.200s", strings.Trim(fmt.Sprint(is[i]), "[]"), strings.Trim(fmt.Sprint(was[i]), "[]"))
				break
			}
		}
	}
}

func rowsOf(ctx context.Context, db *store.DB, query, run string) ([][]any, error) {
	rows, err := db.Query(ctx, query, run)
	if err != nil {
		return nil, err
	}
	var all [][]any
	for v := rows.Next(); v != nil; v = rows.Next() {
		row := make([]any, len(v))
		for i := range v {
			row[i] = v[i]
			if b, ok := v[i].([]byte); ok {
				row[i] = bytes.Clone(b)
			}
		}
		all = append(all, row)
	}
	return all, rows.Close()
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	}
	return a == b
}

// NewReplayer makes the trainer for a replay of a run whose config is cfg, with
// a database and a folder below scratch, which the caller removes.
func NewReplayer(cfg Config, parts Parts, scratch string) (*Trainer, error) {
	db, err := store.Open(filepath.Join(scratch, "replay.db"))
	if err != nil {
		return nil, err
	}
	parts.DB, parts.Report = db, nil
	cfg.Out = filepath.Join(scratch, "checkpoints")
	t, err := New(cfg, parts)
	if err != nil {
		db.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the replayer's database.
func (t *Trainer) Close() error { return t.parts.DB.Close() }
