package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// ErrConflict is in the chain of errors about runs that two logs tell
// differently.
var ErrConflict = errors.New("the logs differ")

// mayDiffer reports whether equal runs may differ in a column.
func mayDiffer(table, column string) bool {
	return table == "timings" || table == "runs" && column == "host" ||
		table == "checkpoints" && column == "path" || strings.HasSuffix(column, "_at")
}

// Merged tells what Merge did.
type Merged struct {
	Added     []string // ids of runs that were new
	Completed []string // runs of which only the first part was there
	Present   []string // runs that were there already, in full
}

// Merge copies the runs of another log into this one, in one transaction. A
// run that both have must be told alike as far as both tell it: then the
// longer one stays. Anything else is a conflict, and nothing is changed.
// Merging the same log again does nothing.
func (db *DB) Merge(ctx context.Context, from string) (Merged, error) {
	var done Merged
	src, err := OpenReadOnly(from)
	if err != nil {
		return done, fmt.Errorf("merge: %w", err)
	}
	runs, err := src.Runs(ctx)
	src.Close()
	if err != nil {
		return done, explain("merge", from, err)
	}
	abs, err := filepath.Abs(from)
	if err != nil {
		return done, fmt.Errorf("merge %s: %w", from, err)
	}
	// Attaching is no part of a transaction; the single connection keeps it.
	if _, err := db.sql.ExecContext(ctx, "ATTACH ? AS other", dsn(abs, "ro")); err != nil {
		return done, explain("merge", from, err)
	}
	defer db.sql.ExecContext(context.WithoutCancel(ctx), "DETACH other")
	err = db.update(ctx, "merge "+from, true, func(tx *sql.Tx) error {
		for _, r := range runs {
			if err := mergeRun(ctx, tx, r, &done); err != nil {
				return fmt.Errorf("run %s: %w", r.ID, err)
			}
		}
		return nil
	})
	switch {
	case err == nil:
		return done, nil
	case IsDamaged(err) && !sound(ctx, from):
		return Merged{}, fmt.Errorf("merge %s: the file is damaged: %w", from, sqlite3.CORRUPT)
	}
	return Merged{}, err
}

// sound reports whether a log can be read from beginning to end.
func sound(ctx context.Context, path string) bool {
	db, err := OpenReadOnly(path)
	if err != nil {
		return false
	}
	defer db.Close()
	var verdict string
	err = db.sql.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	return err == nil && verdict == "ok"
}

func mergeRun(ctx context.Context, tx *sql.Tx, r Run, done *Merged) error {
	have, err := runByID(ctx, tx, r.ID)
	if errors.Is(err, ErrNoRun) {
		done.Added = append(done.Added, r.ID)
		return copyRun(ctx, tx, r.ID)
	}
	if err != nil {
		return err
	}
	if err := sameRun(have, r); err != nil {
		return err
	}
	ours, theirs, err := compareRows(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	if theirs <= ours {
		done.Present = append(done.Present, r.ID)
		if theirs == ours && finality[r.State] > finality[have.State] {
			return setState(ctx, tx, r.ID, r.State)
		}
		return nil
	}
	done.Completed = append(done.Completed, r.ID)
	if err := deleteRows(ctx, tx, "run = ?", r.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE run = ?", r.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM main.runs WHERE id = ?", r.ID); err != nil {
		return err
	}
	return copyRun(ctx, tx, r.ID)
}

func sameRun(a, b Run) error {
	a.State, a.Host, a.CreatedAt = b.State, b.Host, b.CreatedAt
	if a != b {
		return fmt.Errorf("%w: equal ids, but other settings", ErrConflict)
	}
	return nil
}

func copyRun(ctx context.Context, tx *sql.Tx, id string) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO main.runs SELECT * FROM other.runs WHERE id = ?", id); err != nil {
		return err
	}
	for _, table := range append([]string{"tasks"}, perIteration...) {
		q := fmt.Sprintf("INSERT INTO main.%[1]s SELECT * FROM other.%[1]s WHERE run = ?", table)
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// finality orders the states: of two equally long tellings of a run the one
// that knows how it ended is the newer.
var finality = map[string]int{Running: 0, Stopped: 1, Failed: 2, Done: 3}

// compareRows compares a run in both logs over the iterations that both have
// in full, and returns how far each goes.
func compareRows(ctx context.Context, tx *sql.Tx, id string) (ours, theirs int, err error) {
	last := func(schema string) (n int, err error) {
		err = tx.QueryRowContext(ctx, `SELECT coalesce(max(iteration), -1) FROM (
			SELECT max(iteration) AS iteration FROM `+schema+`.steps WHERE run = ?1
			UNION ALL SELECT max(iteration) FROM `+schema+`.evals WHERE run = ?1
			UNION ALL SELECT max(iteration) FROM `+schema+`.episodes WHERE run = ?1)`, id).Scan(&n)
		return n, err
	}
	if ours, err = last("main"); err != nil {
		return 0, 0, err
	}
	if theirs, err = last("other"); err != nil {
		return 0, 0, err
	}
	both := min(ours, theirs)
	for _, table := range perIteration {
		if table == "timings" {
			continue
		}
		columns, err := comparedColumns(ctx, tx, table)
		if err != nil {
			return 0, 0, err
		}
		for _, order := range [][2]string{{"main", "other"}, {"other", "main"}} {
			q := fmt.Sprintf(`SELECT iteration FROM (SELECT %[1]s FROM %[3]s.%[2]s WHERE run = ?1 AND iteration <= ?2
				EXCEPT SELECT %[1]s FROM %[4]s.%[2]s WHERE run = ?1 AND iteration <= ?2) ORDER BY 1 LIMIT 1`,
				columns, table, order[0], order[1])
			var iteration int
			switch err := tx.QueryRowContext(ctx, q, id, both).Scan(&iteration); {
			case errors.Is(err, sql.ErrNoRows):
			case err != nil:
				return 0, 0, err
			default:
				return 0, 0, fmt.Errorf("%w: table %s, iteration %d", ErrConflict, table, iteration)
			}
		}
	}
	return ours, theirs, nil
}

func comparedColumns(ctx context.Context, tx *sql.Tx, table string) (string, error) {
	names, err := collect(ctx, tx, func(rows *sql.Rows, s *string) error { return rows.Scan(s) },
		"SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return "", err
	}
	kept := names[:0]
	for _, n := range names {
		if !mayDiffer(table, n) {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, ", "), nil
}
