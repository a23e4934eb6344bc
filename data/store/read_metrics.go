package store

import (
	"context"
	"database/sql"
	"math"
)

// Metric is a value of steps or role_steps with its iteration. Role is empty
// and Slot AllSlots for metrics without a role; Value is nil where it was not
// finite.
type Metric struct {
	Iteration int
	Role      string
	Slot      int
	Name      string
	Value     *float64
}

// Metrics lists a run's metrics from an iteration on, in the order of
// iteration, role, slot and name.
func (db *DB) Metrics(ctx context.Context, run string, from int) ([]Metric, error) {
	return db.metrics(ctx, run, from, math.MaxInt, -1)
}

// MetricNames lists the names that a run's metrics have.
func (db *DB) MetricNames(ctx context.Context, run string) ([]string, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		`SELECT metric FROM steps WHERE run = ?1 UNION SELECT metric FROM role_steps WHERE run = ?1 ORDER BY 1`, run)
}

func (db *DB) metrics(ctx context.Context, run string, from, to, limit int) ([]Metric, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, m *Metric) error {
		return rows.Scan(&m.Iteration, &m.Role, &m.Slot, &m.Name, &m.Value)
	}, `SELECT iteration, '' AS role, -1 AS slot, metric, value FROM steps WHERE run = ?1 AND iteration BETWEEN ?2 AND ?3
		UNION ALL SELECT iteration, role, slot, metric, value FROM role_steps WHERE run = ?1 AND iteration BETWEEN ?2 AND ?3
		ORDER BY 1, 2, 3, 4 LIMIT ?4`, run, from, to, limit)
}

// MetricsPage is Metrics in pieces: whole iterations of together about limit
// rows, and the iteration at which the next piece begins, -1 at the end.
func (db *DB) MetricsPage(ctx context.Context, run string, from, limit int) (rows []Metric, next int, err error) {
	rows, err = db.metrics(ctx, run, from, math.MaxInt, limit+1)
	if err != nil || len(rows) <= limit {
		return rows, -1, err
	}
	next = rows[limit].Iteration
	cut := limit
	for cut > 0 && rows[cut-1].Iteration == next {
		cut--
	}
	if cut > 0 {
		return rows[:cut], next, nil
	}
	// One iteration alone is longer than a page.
	rows, err = db.metrics(ctx, run, next, next, -1)
	return rows, next + 1, err
}

// Series lists a run's values of some metrics, or of all where names is empty,
// from an iteration on: by metric, role and slot, then by iteration. Values of
// single slots are left out unless slots is set.
func (db *DB) Series(ctx context.Context, run string, names []string, from int, slots bool) ([]Metric, error) {
	args := []any{run, from, slots}
	chosen := ""
	for _, n := range names {
		chosen += ",?"
		args = append(args, n)
	}
	if chosen != "" {
		chosen = " AND metric IN (" + chosen[1:] + ")"
	}
	return collect(ctx, db.sql, func(rows *sql.Rows, m *Metric) error {
		return rows.Scan(&m.Iteration, &m.Role, &m.Slot, &m.Name, &m.Value)
	}, `WITH wanted AS (
		SELECT iteration, '' AS role, -1 AS slot, metric, value FROM steps WHERE run = ?1 AND iteration >= ?2
		UNION ALL SELECT iteration, role, slot, metric, value FROM role_steps WHERE run = ?1 AND iteration >= ?2 AND (slot < 0 OR ?3)
		) SELECT * FROM wanted WHERE 1`+chosen+` ORDER BY metric, role, slot, iteration`, args...)
}
