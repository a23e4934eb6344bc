//go:build load || browser

package api

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// residentMB is this process's resident memory.
func residentMB(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(b)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return n >> 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
