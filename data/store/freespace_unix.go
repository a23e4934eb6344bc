//go:build unix

package store

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeSpace says how much room is left where the database lies.
func freeSpace(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(filepath.Dir(path), &st) != nil {
		return ""
	}
	return fmt.Sprintf(" (%d MiB free on that disk)", uint64(st.Bavail)*uint64(st.Bsize)>>20)
}
