package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// NamedQuery is a ready-made question. Its text may use the parameter :run,
// NULL for all runs.
type NamedQuery struct {
	Name string
	Help string // one sentence
	SQL  string
}

// NamedQueries lists the ready-made questions by name.
func NamedQueries() []NamedQuery {
	names, err := fs.Glob(queryFiles, "queries/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var out []NamedQuery
	for _, n := range names {
		b, err := queryFiles.ReadFile(n)
		if err != nil {
			panic(err) // the file is embedded
		}
		q := NamedQuery{Name: strings.TrimSuffix(path.Base(n), ".sql"), SQL: string(b)}
		for line := range strings.Lines(q.SQL) {
			comment, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
			if !ok {
				break
			}
			q.Help = strings.TrimSpace(q.Help + " " + comment)
		}
		out = append(out, q)
	}
	return out
}

// Rows is a query's answer, read row by row.
type Rows struct {
	Columns []string
	rows    *sql.Rows
	err     error // of taking a row's values
	values  []any
	into    []any
}

// Query runs one SELECT on a log that was opened for reading. The parameter
// :run is bound to run, or to NULL where run is empty.
func (db *DB) Query(ctx context.Context, query, run string) (*Rows, error) {
	if !db.readOnly {
		return nil, errors.New("query: the database is open for writing; use OpenReadOnly")
	}
	if strings.Trim(query, " \t\r\n;") == "" {
		return nil, errors.New("query: it is empty")
	}
	bound := any(nil)
	if run != "" {
		bound = run
	}
	rows, err := db.sql.QueryContext(ctx, query, sql.Named("run", bound))
	if err != nil && strings.Contains(err.Error(), "expected 0 arguments") { // it has no :run
		rows, err = db.sql.QueryContext(ctx, query)
	}
	if err != nil {
		return nil, explainQuery(err)
	}
	r := &Rows{rows: rows}
	if r.Columns, err = rows.Columns(); err != nil {
		rows.Close()
		return nil, explainQuery(err)
	}
	if len(r.Columns) == 0 {
		rows.Close()
		return nil, errors.New("query: only reading is allowed here, and this is no SELECT")
	}
	r.values = make([]any, len(r.Columns))
	r.into = make([]any, len(r.Columns))
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, nil
}

// Next reads the next row: nil, int64, float64, string or []byte a column. The
// slice is used again by the following call; nil means the end or an error.
func (r *Rows) Next() []any {
	if r.err != nil || !r.rows.Next() {
		return nil
	}
	if r.err = r.rows.Scan(r.into...); r.err != nil {
		return nil
	}
	return r.values
}

// Close ends the query and returns what went wrong in reading it.
func (r *Rows) Close() error {
	err := cmp.Or(r.err, r.rows.Err())
	if e := r.rows.Close(); err == nil {
		err = e
	}
	if err != nil {
		return explainQuery(err)
	}
	return nil
}

func explainQuery(err error) error {
	msg := err.Error()
	for _, prefix := range []string{"sqlite3: SQL logic error: ", "sqlite3: "} {
		msg = strings.TrimPrefix(msg, prefix)
	}
	switch {
	case IsDamaged(err):
		return fmt.Errorf("query: the file is damaged: %w", err)
	case strings.Contains(msg, "not authorized"), strings.Contains(msg, "authorization denied"), strings.Contains(msg, "readonly"):
		return fmt.Errorf("query: only reading is allowed here (%s)", msg)
	case strings.Contains(msg, "multiple statements"), strings.Contains(msg, "tail"):
		return errors.New("query: one statement at a time")
	}
	return fmt.Errorf("query: %s", msg)
}
