// Package golden finds the numbers and texts of reference implementations that
// tests named TestGolden… compare with.
package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Path is a file or folder of the golden data: in the folder TROUPE_GOLDEN, or
// without it in the testdata of the package that is tested, which is laid out
// alike and may have less. The test is skipped, by the name, where it is absent.
func Path(t testing.TB, path ...string) string {
	t.Helper()
	root := os.Getenv("TROUPE_GOLDEN")
	if root == "" {
		root = "testdata"
	}
	name := filepath.Join(path...)
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Skipf("no golden data %s: %v", name, err)
	}
	return filepath.Join(root, name)
}

// JSON decodes a file of the golden data that the package's testdata has: without
// TROUPE_GOLDEN its absence is a failure.
func JSON(t testing.TB, v any, path ...string) {
	t.Helper()
	name := filepath.Join(append([]string{"testdata"}, path...)...)
	if os.Getenv("TROUPE_GOLDEN") != "" {
		name = Path(t, path...)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
