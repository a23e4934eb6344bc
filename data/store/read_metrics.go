package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
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
	chosen := ""
	if len(names) > 0 {
		chosen = " AND metric IN (" + strings.Repeat("?,", len(names)-1) + "?)"
	}
	// Both tables are walked in the order of their keys: a sort of the rows of
	// a long run would take longer than everything else.
	curves := curveSet{at: map[curveName]int{}, texts: map[string]string{}}
	for _, table := range []struct{ query, more string }{
		{"SELECT iteration, '', -1, metric, value FROM steps WHERE run = ? AND iteration >= ?", ""},
		{"SELECT iteration, role, slot, metric, value FROM role_steps WHERE run = ? AND iteration >= ?", map[bool]string{false: " AND slot < 0"}[slots]},
	} {
		err := db.step(ctx, table.query+chosen+table.more+" ORDER BY iteration", func(s *sqlite3.Stmt) error {
			err := errors.Join(s.BindText(1, run), s.BindInt(2, from))
			for i, n := range names {
				err = errors.Join(err, s.BindText(3+i, n))
			}
			return err
		}, curves.add)
		if err != nil {
			return nil, err
		}
	}
	return curves.rows(), nil
}

// curveName says which curve a value belongs to.
type curveName struct {
	metric, role string
	slot         int
}

// curveSet puts values in order of iteration into their curves.
type curveSet struct {
	at     map[curveName]int
	texts  map[string]string // one copy of each name
	curves [][]Metric
	n      int
}

func (c *curveSet) text(s *sqlite3.Stmt, column int) string {
	raw := s.ColumnRawText(column)
	t, ok := c.texts[string(raw)]
	if !ok {
		t = string(raw)
		c.texts[t] = t
	}
	return t
}

func (c *curveSet) add(s *sqlite3.Stmt) {
	name := curveName{role: c.text(s, 1), slot: s.ColumnInt(2), metric: c.text(s, 3)}
	m := Metric{Iteration: s.ColumnInt(0), Role: name.role, Slot: name.slot, Name: name.metric}
	if s.ColumnType(4) != sqlite3.NULL {
		v := s.ColumnFloat(4)
		m.Value = &v
	}
	i, ok := c.at[name]
	if !ok {
		i = len(c.curves)
		c.at[name] = i
		c.curves = append(c.curves, nil)
	}
	c.curves[i] = append(c.curves[i], m)
	c.n++
}

// rows are the curves one after the other.
func (c *curveSet) rows() []Metric {
	slices.SortFunc(c.curves, func(x, y []Metric) int {
		return cmp.Or(strings.Compare(x[0].Name, y[0].Name), strings.Compare(x[0].Role, y[0].Role), cmp.Compare(x[0].Slot, y[0].Slot))
	})
	out := make([]Metric, 0, c.n)
	for _, rows := range c.curves {
		out = append(out, rows...)
	}
	return out
}

// step runs a query row by row on the engine itself: for answers of many rows
// several times as fast as through database/sql.
func (db *DB) step(ctx context.Context, query string, bind func(*sqlite3.Stmt) error, row func(*sqlite3.Stmt)) error {
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) (err error) {
		raw := c.(driver.Conn).Raw()
		defer raw.SetInterrupt(raw.SetInterrupt(ctx))
		stmt, _, err := raw.Prepare(query)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		if err := bind(stmt); err != nil {
			return err
		}
		for stmt.Step() {
			row(stmt)
		}
		if err := stmt.Err(); err != nil && ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return err
		}
		return nil
	})
}
