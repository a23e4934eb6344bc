package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damaged is a log whose calls are garbage: its schema and its runs can still
// be read.
func damaged(t *testing.T) string {
	t.Helper()
	db := newDB(t)
	fill(t, db, "r1", 40)
	var page, size int
	if err := db.sql.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'calls'").Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := db.sql.QueryRow("PRAGMA page_size").Scan(&size); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	copy(b[(page-1)*size:], bytes.Repeat([]byte{0xa5}, size))
	path := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestADamagedFileIsNamedAndNotTakenForTheOther(t *testing.T) {
	path := damaged(t)
	into := newDB(t)
	fill(t, into, "r0", 1)
	before := dump(t, into)
	_, err := into.Merge(t.Context(), path)
	if !IsDamaged(err) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), into.Path()) {
		t.Errorf("merge: error %v", err)
	}
	if dump(t, into) != before {
		t.Error("a failed merge changed the log")
	}
	db, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(t.Context(), "SELECT * FROM calls", "")
	if err == nil {
		for rows.Next() != nil {
		}
		err = rows.Close()
	}
	if !IsDamaged(err) {
		t.Errorf("query: error %v", err)
	}
}
