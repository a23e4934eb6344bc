package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// querier is what reads need; both the pool and a transaction have it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect reads all rows of a query, each by scan.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

const runColumns = "id, config, profile, workflow, policy, task, model, numerics, kernels, seed, version, state, host, created_at"

func scanRun(rows *sql.Rows, r *Run) error {
	var seed int64
	err := rows.Scan(&r.ID, &r.Config, &r.Profile, &r.Workflow, &r.Policy, &r.Task, &r.Model, &r.Numerics,
		&r.Kernels, &seed, &r.Version, &r.State, &r.Host, &r.CreatedAt)
	r.Seed = uint64(seed)
	return err
}

func runByID(ctx context.Context, q querier, id string) (Run, error) {
	runs, err := collect(ctx, q, scanRun, "SELECT "+runColumns+" FROM runs WHERE id = ?", id)
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, fmt.Errorf("%w: %s", ErrNoRun, id)
	}
	return runs[0], nil
}

// Runs lists all runs, oldest first.
func (db *DB) Runs(ctx context.Context) ([]Run, error) {
	return collect(ctx, db.sql, scanRun, "SELECT "+runColumns+" FROM runs ORDER BY created_at, id")
}

// RunByID is one run; the error has ErrNoRun if there is none.
func (db *DB) RunByID(ctx context.Context, id string) (Run, error) {
	return runByID(ctx, db.sql, id)
}

// FindRun is the run whose id begins with prefix, if it is the only one.
func (db *DB) FindRun(ctx context.Context, prefix string) (Run, error) {
	runs, err := collect(ctx, db.sql, scanRun,
		"SELECT "+runColumns+" FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", prefix)
	switch {
	case err != nil:
		return Run{}, err
	case len(runs) == 0:
		return Run{}, fmt.Errorf("%w: %s", ErrNoRun, prefix)
	case len(runs) > 1 && runs[0].ID != prefix:
		return Run{}, fmt.Errorf("run %s: several runs begin so", prefix)
	}
	return runs[0], nil
}

// LastIteration is the newest iteration of which a run has metrics,
// evaluations or verdicts; -1 if there is none.
func (db *DB) LastIteration(ctx context.Context, run string) (int, error) {
	n := -1
	err := db.sql.QueryRowContext(ctx, `SELECT max(
		coalesce((SELECT max(iteration) FROM steps WHERE run = ?1), -1),
		coalesce((SELECT max(iteration) FROM evals WHERE run = ?1), -1),
		coalesce((SELECT max(iteration) FROM episodes WHERE run = ?1), -1))`, run).Scan(&n)
	return n, err
}

// LastCheckpoint is a run's newest checkpoint; ok is false if it has none.
func (db *DB) LastCheckpoint(ctx context.Context, run string) (c Checkpoint, ok bool, err error) {
	err = db.sql.QueryRowContext(ctx, `SELECT iteration, path, sha256, created_at FROM checkpoints
		WHERE run = ? ORDER BY iteration DESC LIMIT 1`, run).Scan(&c.Iteration, &c.Path, &c.SHA256, &c.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	return c, err == nil, err
}

// Seconds is the time that a run's iterations took, all its sessions together.
func (db *DB) Seconds(ctx context.Context, run string) (seconds float64, err error) {
	err = db.sql.QueryRowContext(ctx, "SELECT coalesce(sum(seconds), 0) FROM timings WHERE run = ?", run).Scan(&seconds)
	return seconds, err
}

// Checkpoints lists a run's checkpoints, oldest first.
func (db *DB) Checkpoints(ctx context.Context, run string) ([]Checkpoint, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, c *Checkpoint) error {
		return rows.Scan(&c.Iteration, &c.Path, &c.SHA256, &c.CreatedAt)
	}, "SELECT iteration, path, sha256, created_at FROM checkpoints WHERE run = ? ORDER BY iteration", run)
}

// EvalRow is an evaluation with its iteration.
type EvalRow struct {
	Iteration   int
	Split       string
	Temperature float64
	N           int
	Accuracy    *float64
	Stderr      *float64
}

// Evals lists a run's evaluations.
func (db *DB) Evals(ctx context.Context, run string) ([]EvalRow, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, e *EvalRow) error {
		return rows.Scan(&e.Iteration, &e.Split, &e.Temperature, &e.N, &e.Accuracy, &e.Stderr)
	}, `SELECT iteration, split, temperature, n, accuracy, stderr FROM evals WHERE run = ?
		ORDER BY split, temperature, iteration`, run)
}

// EventRow is an event with its iteration and place in it.
type EventRow struct {
	Iteration, Seq                int
	Kind, Role, Severity, Message string
	Value                         *float64
}

// Events lists a run's events from an iteration on.
func (db *DB) Events(ctx context.Context, run string, from int) ([]EventRow, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, e *EventRow) error {
		return rows.Scan(&e.Iteration, &e.Seq, &e.Kind, &e.Role, &e.Severity, &e.Message, &e.Value)
	}, `SELECT iteration, seq, kind, role, severity, message, value FROM events
		WHERE run = ? AND iteration >= ? ORDER BY iteration, seq`, run, from)
}

// Tasks lists the tasks of a run.
func (db *DB) Tasks(ctx context.Context, run string) ([]Task, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, t *Task) error {
		return rows.Scan(&t.ID, &t.Kind, &t.Text, &t.Gold, &t.Tests)
	}, "SELECT id, kind, text, gold, tests FROM tasks WHERE run = ? ORDER BY id", run)
}
