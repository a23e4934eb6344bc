package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAFailedWriteLeavesTheOldContent(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	if err := WriteFile(p, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := Write(p, 0o600, func(w io.Writer) error {
		w.Write([]byte("half"))
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error %v", err)
	}
	if b, _ := os.ReadFile(p); string(b) != "old" {
		t.Errorf("content %q", b)
	}
	if es, _ := os.ReadDir(dir); len(es) != 1 {
		t.Errorf("left behind: %v", es)
	}
}

func TestWriteDirReplacesAFolder(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "d")
	for _, v := range []string{"one", "two"} {
		err := WriteDir(p, func(d string) error {
			return os.WriteFile(filepath.Join(d, v), []byte(v), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	es, _ := os.ReadDir(p)
	if len(es) != 1 || es[0].Name() != "two" {
		t.Errorf("folder holds %v", es)
	}
	if es, _ := os.ReadDir(dir); len(es) != 1 {
		t.Errorf("left behind: %v", es)
	}
	boom := errors.New("boom")
	if err := WriteDir(p, func(string) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(p, "two")); err != nil {
		t.Error(err)
	}
}
