package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly must be what its generator writes.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	arithmeticOnly(t)
	if testing.Short() {
		t.Skip("compiles the generator")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./_asm", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("go run ./_asm: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing generated: %v", err)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what go run ./_asm writes", filepath.Base(f))
		}
	}
}

// The generator's own tests: encodings that Go's assembler does not know.
func TestEncodingsOfTheGenerator(t *testing.T) {
	arithmeticOnly(t)
	if testing.Short() {
		t.Skip("compiles the generator")
	}
	out, err := exec.Command("go", "test", "-v", "./_asm").CombinedOutput()
	if err != nil {
		t.Fatalf("go test ./_asm: %v\n%s", err, out)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("a part was skipped:\n%s", out)
	}
}
