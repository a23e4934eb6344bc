//go:build unix

package readfile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe that nobody writes to would wait for ever.
func TestAPipeIsRefusedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skip(err)
	}
	if _, err := AtMost(path, 10); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}
