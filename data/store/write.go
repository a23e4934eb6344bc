package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// largeTests is the size from which a task's tests are not copied into the log.
const largeTests = 64 << 10

// perIteration are the tables whose rows belong to one iteration.
var perIteration = []string{
	"steps", "role_steps", "evals", "eval_items", "episodes", "calls", "verdicts",
	"test_results", "events", "checkpoints", "timings",
}

// ErrNoRun is in the chain of errors about runs that the log does not have.
var ErrNoRun = errors.New("no such run")

// ErrReadOnly is returned by writes to a log that was opened for reading.
var ErrReadOnly = errors.New("opened for reading only")

// CreateRun adds a run. If it is already there with the same content (host,
// creation time and state aside) nothing happens; another content is an error.
func (db *DB) CreateRun(ctx context.Context, r Run) error {
	if r.ID == "" {
		return errors.New("create run: no id")
	}
	if r.CreatedAt == "" {
		r.CreatedAt = now()
	}
	if r.State == "" {
		r.State = Running
	}
	return db.update(ctx, "create run "+r.ID, true, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
			r.ID, r.Config, r.Profile, r.Workflow, r.Policy, r.Task, r.Model, r.Numerics, r.Kernels,
			int64(r.Seed), r.Version, r.State, r.Host, r.CreatedAt)
		if err != nil {
			return err
		}
		have, err := runByID(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		have.State, have.Host, have.CreatedAt = r.State, r.Host, r.CreatedAt
		if have != r {
			return errors.New("the log has a run of that id with another content")
		}
		return nil
	})
}

// Write stores a batch in one transaction. After an error nothing of it is in
// the log. With a checkpoint in the batch the transaction is on the disk, not
// only with the system, when Write returns.
func (db *DB) Write(ctx context.Context, b Batch) error {
	what := fmt.Sprintf("write iteration %d of run %s", b.Iteration, b.Run)
	return db.update(ctx, what, b.Checkpoint != nil, func(tx *sql.Tx) error {
		if _, err := runByID(ctx, tx, b.Run); err != nil {
			return err
		}
		if !b.Add {
			if err := deleteRows(ctx, tx, "run = ? AND iteration = ?", b.Run, b.Iteration); err != nil {
				return err
			}
		}
		return writeBatch(ctx, tx, &b)
	})
}

// SetState notes that a run is done, stopped, failed or running again.
func (db *DB) SetState(ctx context.Context, run, state string) error {
	return db.update(ctx, "set the state of run "+run, true, func(tx *sql.Tx) error {
		return setState(ctx, tx, run, state)
	})
}

// Truncate deletes what a run logged after an iteration, so that a run resumed
// from a checkpoint goes on from there.
func (db *DB) Truncate(ctx context.Context, run string, after int) error {
	what := fmt.Sprintf("truncate run %s after iteration %d", run, after)
	return db.update(ctx, what, true, func(tx *sql.Tx) error {
		if _, err := runByID(ctx, tx, run); err != nil {
			return err
		}
		if err := deleteRows(ctx, tx, "run = ? AND iteration > ?", run, after); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM tasks WHERE run = ?1 AND id NOT IN
			(SELECT task FROM episodes WHERE run = ?1 UNION SELECT task FROM eval_items WHERE run = ?1
			UNION SELECT task FROM verdicts WHERE run = ?1)`, run)
		return err
	})
}

func deleteRows(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	for _, table := range perIteration {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+where, args...); err != nil {
			return err
		}
	}
	return nil
}

func setState(ctx context.Context, tx *sql.Tx, run, state string) error {
	res, err := tx.ExecContext(ctx, "UPDATE runs SET state = ? WHERE id = ?", state, run)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err == nil && n == 0 {
		return fmt.Errorf("%w: %s", ErrNoRun, run)
	}
	return nil
}

// update runs f in one immediate transaction, synced to the disk if asked.
func (db *DB) update(ctx context.Context, what string, synced bool, f func(*sql.Tx) error) (err error) {
	if db.readOnly {
		return fmt.Errorf("%s: database %s: %w", what, db.path, ErrReadOnly)
	}
	defer func() {
		if err != nil {
			err = explain(what+":", db.path, err)
		}
	}()
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if synced {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous=full"); err != nil {
			return err
		}
		defer func() {
			_, e := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous=normal")
			err = errors.Join(err, e)
		}()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// table is what insert needs to know of one kind of rows.
type table struct {
	name string
	n    int
	row  func(i int) []any
}

func writeBatch(ctx context.Context, tx *sql.Tx, b *Batch) error {
	firstEvent := 0
	if b.Add && len(b.Events) > 0 {
		err := tx.QueryRowContext(ctx, "SELECT coalesce(max(seq)+1, 0) FROM events WHERE run = ? AND iteration = ?",
			b.Run, b.Iteration).Scan(&firstEvent)
		if err != nil {
			return err
		}
	}
	for _, t := range append(metricTables(b, firstEvent), episodeTables(b)...) {
		if err := insert(ctx, tx, "INSERT OR REPLACE", t, []any{b.Run, b.Iteration}); err != nil {
			return err
		}
	}
	tasks := table{"tasks", len(b.Tasks), func(i int) []any {
		t := &b.Tasks[i]
		return []any{t.ID, t.Kind, text(t.Text), text(t.Gold), digestTests(t.Tests)}
	}}
	if err := insert(ctx, tx, "INSERT OR IGNORE", tasks, []any{b.Run}); err != nil {
		return err
	}
	if b.State != "" {
		return setState(ctx, tx, b.Run, b.State)
	}
	return nil
}

func metricTables(b *Batch, firstEvent int) []table {
	ts := []table{
		{"steps", len(b.Steps), func(i int) []any {
			s := &b.Steps[i]
			return []any{s.Metric, finite(s.Value)}
		}},
		{"role_steps", len(b.RoleSteps), func(i int) []any {
			s := &b.RoleSteps[i]
			return []any{s.Role, s.Slot, s.Metric, finite(s.Value)}
		}},
		{"evals", len(b.Evals), func(i int) []any {
			e := &b.Evals[i]
			return []any{e.Split, e.Temperature, e.N, finite(e.Accuracy), finite(e.Stderr)}
		}},
		{"eval_items", len(b.EvalItems), func(i int) []any {
			e := &b.EvalItems[i]
			return []any{e.Split, e.Temperature, e.Task, finite(e.Correct), e.Verdict}
		}},
		{"events", len(b.Events), func(i int) []any {
			e := &b.Events[i]
			return []any{firstEvent + i, e.Kind, e.Role, e.Severity, text(e.Message), finite(e.Value)}
		}},
		{"timings", len(b.Timings), func(i int) []any {
			t := &b.Timings[i]
			return []any{t.Phase, t.Seconds}
		}},
	}
	if c := b.Checkpoint; c != nil {
		ts = append(ts, table{"checkpoints", 1, func(int) []any {
			at := c.CreatedAt
			if at == "" {
				at = now()
			}
			return []any{c.Path, c.SHA256, at}
		}})
	}
	return ts
}

func episodeTables(b *Batch) []table {
	return []table{
		{"episodes", len(b.Episodes), func(i int) []any {
			e := &b.Episodes[i]
			var reward any
			if e.Rewarded {
				reward = finite(e.Reward)
			}
			return []any{e.Split, e.Temperature, e.Task, e.Rollout, reward, e.Verdict, e.Kept}
		}},
		{"calls", len(b.Calls), func(i int) []any {
			c := &b.Calls[i]
			return append(c.key(), encodeIDs(c.PromptIDs), encodeIDs(c.IDs), encodeLogProbs(c.LogProbs),
				text(c.Text), c.Tier, c.Finish, finite(c.Advantage))
		}},
		{"verdicts", len(b.Verdicts), func(i int) []any {
			v := &b.Verdicts[i]
			return append(v.key(), v.Code, text(v.Reason), v.Passed, v.Total, int64(v.Fuel), v.Cached)
		}},
		{"test_results", len(b.TestResults), func(i int) []any {
			r := &b.TestResults[i]
			return append(r.key(), r.Test, r.Code, int64(r.Fuel), text(r.Stdout), text(r.Stderr), text(r.Detail))
		}},
	}
}

func (c *CallAt) key() []any {
	return append(make([]any, 0, 14), c.Split, c.Temperature, c.Task, c.Rollout, c.Role, c.Slot, c.Turn)
}

func insert(ctx context.Context, tx *sql.Tx, verb string, t table, key []any) error {
	if t.n == 0 {
		return nil
	}
	columns := len(key) + len(t.row(0))
	stmt, err := tx.PrepareContext(ctx, verb+" INTO "+t.name+" VALUES (?"+strings.Repeat(",?", columns-1)+")")
	if err != nil {
		return err
	}
	defer stmt.Close()
	args := make([]any, 0, columns)
	for i := range t.n {
		args = append(append(args[:0], key...), t.row(i)...)
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return fmt.Errorf("%s row %d: %w", t.name, i, err)
		}
	}
	return nil
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// finite is v, or NULL: nothing non-finite is ever saved.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// text is s without what SQLite's own functions and many clients stumble over:
// bytes that are no UTF-8, and NUL, at which C programs end a string.
func text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
}

func digestTests(tests string) string {
	if len(tests) <= largeTests {
		return text(tests)
	}
	sum := sha256.Sum256([]byte(tests))
	return fmt.Sprintf(`{"omitted_bytes":%d,"sha256":%q}`, len(tests), hex.EncodeToString(sum[:]))
}
