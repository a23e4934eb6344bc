package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ncruces/go-sqlite3/driver"
)

// Watch tells cheaply whether anything was committed to a log. It has a
// connection of its own, because SQLite counts commits a connection.
type Watch struct {
	path string
	sql  *sql.DB
}

// Watch begins to watch the log.
func (db *DB) Watch() (*Watch, error) {
	pool, err := driver.Open(dsn(db.path, "ro", "busy_timeout(1000)", "query_only(1)"), allowReadsOnly)
	if err != nil {
		return nil, explain("watch", db.path, err)
	}
	pool.SetMaxOpenConns(1)
	pool.SetMaxIdleConns(1)
	return &Watch{path: db.path, sql: pool}, nil
}

// Version is a number that changes with every commit of any program to the
// log. It says nothing else: not how many there were, nor in which order.
func (w *Watch) Version(ctx context.Context) (int64, error) {
	var v int64
	if err := w.sql.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v); err != nil {
		return 0, fmt.Errorf("watch database %s: %w", w.path, err)
	}
	return v, nil
}

// Close ends the watch.
func (w *Watch) Close() error { return w.sql.Close() }
