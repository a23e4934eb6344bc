//go:build unix

package trainer

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in a checkpoint's folder would have the reader wait for ever.
func TestAPipeHasNoHash(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "config.json"), 0o644); err != nil {
		t.Skip(err)
	}
	if _, err := HashModel(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}
