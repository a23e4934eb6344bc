// Package store keeps the run log in SQLite: everything a run did, written in
// one transaction an iteration, readable by any SQLite client while the run
// goes on. It has row types of its own and knows neither models nor workflows.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// applicationID marks our databases in the SQLite header: "Trou".
const applicationID = 0x54726f75

// oldestEngine is the first SQLite without the WAL-reset bug: earlier ones can
// damage a database that a second process checkpoints.
var oldestEngine = [3]int{3, 51, 3}

// ErrForeign is in the chain of errors about files that are no run log of ours.
var ErrForeign = errors.New("not a troupe database")

// DB is an open run log. It may be used from several goroutines; writes queue.
type DB struct {
	path     string
	sql      *sql.DB
	readOnly bool
}

// Open opens the run log at path for writing and makes it if it is missing.
// A file that is not ours is refused and left as it is.
func Open(path string) (*DB, error) {
	pool, err := driver.Open(dsn(path, "rwc", "busy_timeout(60000)", "synchronous(normal)", "journal_size_limit(67108864)"))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	// SQLite has one writer at a time; one connection makes that a queue
	// instead of a busy loop, and keeps its pragmas.
	pool.SetMaxOpenConns(1)
	db := &DB{path: path, sql: pool}
	// Turning the write-ahead log on needs the file alone, and SQLite does not
	// wait for that as it does for other locks: several programs may be making
	// the same file.
	for deadline := time.Now().Add(openPatience); ; time.Sleep(20 * time.Millisecond) {
		err := db.prepare(context.Background())
		if err == nil {
			return db, nil
		}
		if !errors.Is(err, sqlite3.BUSY) || time.Now().After(deadline) {
			pool.Close()
			return nil, explain("open", path, err)
		}
	}
}

// openPatience is how long Open waits for others that open the same file.
const openPatience = 30 * time.Second

// OpenReadOnly opens an existing run log for reading. Nothing that the handle
// runs can change the file or any other, and it never blocks a writer.
func OpenReadOnly(path string) (*DB, error) {
	if st, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	} else if st.IsDir() {
		return nil, fmt.Errorf("open database %s: it is a folder", path)
	}
	pool, err := driver.Open(dsn(path, "ro", "busy_timeout(10000)", "query_only(1)"), allowReadsOnly)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	pool.SetMaxOpenConns(4)
	pool.SetMaxIdleConns(4)
	db := &DB{path: path, sql: pool, readOnly: true}
	if err := db.check(context.Background()); err != nil {
		pool.Close()
		return nil, explain("open", path, err)
	}
	return db, nil
}

// Path is the file's name as it was opened.
func (db *DB) Path() string { return db.path }

// Close closes the log. A writer first moves the write-ahead log into the
// database, so that one file holds everything where no reader is left.
func (db *DB) Close() error {
	if !db.readOnly {
		// Readers may hold this up; then the -wal file stays, which is harmless.
		_, _ = db.sql.Exec("PRAGMA busy_timeout(100); PRAGMA wal_checkpoint(truncate)")
	}
	if err := db.sql.Close(); err != nil {
		return fmt.Errorf("close database %s: %w", db.path, err)
	}
	return nil
}

// EngineVersion is the version of the SQLite that is linked in.
func EngineVersion() string {
	pool, err := driver.Open("file::memory:")
	if err != nil {
		return "unknown"
	}
	defer pool.Close()
	var v string
	if pool.QueryRow("SELECT sqlite_version()").Scan(&v) != nil {
		return "unknown"
	}
	return v
}

// dsn names the file as SQLite wants it. The busy time-out must be the first
// pragma: with any pragma given, the driver's default of a minute is off, and
// the later ones may already meet a lock.
func dsn(path, mode string, pragmas ...string) string {
	lock := "immediate" // a writer that waits at its first write could find its snapshot outdated
	if mode == "ro" {
		lock = "deferred"
	}
	q := "?mode=" + mode + "&_txlock=" + lock
	for _, p := range pragmas {
		q += "&_pragma=" + p
	}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + q
}

// prepare checks or makes the schema. It writes in rollback-journal mode
// before it turns the write-ahead log on, so that the file's own header names
// us from its first moment.
func (db *DB) prepare(ctx context.Context) error {
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := checkEngine(ctx, conn); err != nil {
		return err
	}
	ours, empty, err := identify(ctx, conn)
	if err != nil {
		return err
	}
	if !ours && !empty {
		return fmt.Errorf("%w (another program's SQLite file)", ErrForeign)
	}
	if err := migrate(ctx, conn); err != nil {
		return err
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode=wal").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("no write-ahead log possible there (journal mode %q): put it on a local disk", mode)
	}
	return nil
}

// check is prepare for a reader: it changes nothing.
func (db *DB) check(ctx context.Context) error {
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := checkEngine(ctx, conn); err != nil {
		return err
	}
	ours, _, err := identify(ctx, conn)
	if err != nil {
		return err
	}
	if !ours {
		return ErrForeign
	}
	have, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if want := len(migrations()); have != want {
		return fmt.Errorf("schema version %d, this program has %d: %s", have, want, versionHint(have, want))
	}
	return nil
}

func versionHint(have, want int) string {
	if have > want {
		return "use a newer troupe"
	}
	return "open it once with a command that writes, such as train, to bring it up to date"
}

func identify(ctx context.Context, conn *sql.Conn) (ours, empty bool, err error) {
	var id, objects int
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return false, false, err
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&objects); err != nil {
		return false, false, err
	}
	return id == applicationID, id == 0 && objects == 0, nil
}

func checkEngine(ctx context.Context, conn *sql.Conn) error {
	var v string
	if err := conn.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&v); err != nil {
		return err
	}
	if !atLeast(v, oldestEngine) {
		return fmt.Errorf("SQLite %s can damage databases that two programs use: build with %d.%d.%d or later",
			v, oldestEngine[0], oldestEngine[1], oldestEngine[2])
	}
	return nil
}

func atLeast(version string, want [3]int) bool {
	parts := strings.SplitN(version, ".", 3)
	for i, w := range want {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		if n != w {
			return n > w
		}
	}
	return true
}

// explain turns the engine's errors into one line that says what to do.
func explain(verb, path string, err error) error {
	switch {
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%s database %s: %w (no SQLite file)", verb, path, ErrForeign)
	case errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("%s database %s: the file is damaged: %w", verb, path, err)
	case errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("%s database %s: can't open it: does the folder exist and may you write there? %w", verb, path, err)
	case errors.Is(err, sqlite3.FULL), errors.Is(err, sqlite3.IOERR):
		// A full disk shows as an I/O error too.
		return fmt.Errorf("%s database %s: %w%s", verb, path, err, freeSpace(path))
	case errors.Is(err, sqlite3.BUSY):
		return fmt.Errorf("%s database %s: another program keeps it locked: %w", verb, path, err)
	}
	return fmt.Errorf("%s database %s: %w", verb, path, err)
}

// IsFull reports whether an error may mean a full disk: SQLite shows it as
// either of two codes.
func IsFull(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR)
}

// IsDamaged reports whether an error means that a file is no sound database.
func IsDamaged(err error) bool {
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB)
}

// allowReadsOnly refuses, on a reader's connection, whatever could write:
// also ATTACH and VACUUM INTO, which a read-only file does not prevent.
func allowReadsOnly(c *sqlite3.Conn) error {
	return c.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, arg, value, _, _ string) sqlite3.AuthorizerReturnCode {
		switch action {
		case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_FUNCTION, sqlite3.AUTH_RECURSIVE,
			sqlite3.AUTH_TRANSACTION, sqlite3.AUTH_SAVEPOINT:
			return sqlite3.AUTH_OK
		case sqlite3.AUTH_PRAGMA:
			if value == "" || readablePragma[strings.ToLower(arg)] {
				return sqlite3.AUTH_OK
			}
		case sqlite3.AUTH_UPDATE:
			// The planner's own tables for table-valued functions ask for it.
			if arg == "sqlite_master" {
				return sqlite3.AUTH_OK
			}
		case sqlite3.AUTH_CREATE_VTABLE:
			return sqlite3.AUTH_DENY
		}
		return sqlite3.AUTH_DENY
	})
}

// readablePragma has the pragmas whose argument only names what to read.
var readablePragma = map[string]bool{
	"table_info": true, "table_xinfo": true, "index_list": true, "index_info": true, "index_xinfo": true,
	"table_list": true, "function_list": true, "quick_check": true, "integrity_check": true,
	"busy_timeout": true, "query_only": true, "foreign_key_list": true,
}
