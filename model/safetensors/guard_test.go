package safetensors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A download that another program starts over makes a file shorter while it is
// open here.
func TestAFileThatShrinksIsAnErrorAndNoCrash(t *testing.T) {
	const n = 1 << 19
	for _, dtype := range []DType{F32, BF16} {
		for _, keep := range []int64{n, n - 1000, 1000, 0} { // whole pages, part of one, the header only, nothing
			path := filepath.Join(t.TempDir(), "x.safetensors")
			values := make([]float32, n)
			if err := WriteFile(path, nil, []Entry{{"a", dtype, []int{n}, values}, {"b", dtype, []int{n}, values}}); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if same, err := Equal(f, "a", f, "b"); err != nil || !same {
				t.Fatalf("before: %v, %v", same, err)
			}
			if err := os.Truncate(path, keep); err != nil {
				t.Skip("an open file can't be cut here:", err)
			}
			check := func(what string, err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "was opened and has") {
					t.Errorf("%s cut to %d bytes, %s: error %v", dtype, keep, what, err)
				}
			}
			if dtype == BF16 {
				check("ReadBF16", f.ReadBF16("b", make([]uint16, n)))
			}
			check("ReadF32", f.ReadF32("b", values))
			same, err := Equal(f, "a", f, "b")
			check("Equal", err)
			if same {
				t.Error("two tensors that are no more are equal")
			}
		}
	}
}
