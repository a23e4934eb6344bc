package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAbsentDataSkipsAndPresentDataIsRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TROUPE_GOLDEN", dir)
	if err := os.WriteFile(filepath.Join(dir, "there.json"), []byte(`{"N": 3}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var v struct{ N int }
	skipped := map[string]bool{}
	for _, name := range []string{"there.json", "absent.json"} {
		t.Run(name, func(t *testing.T) {
			defer func() { skipped[name] = t.Skipped() }()
			JSON(t, &v, name)
		})
	}
	if v.N != 3 || skipped["there.json"] || !skipped["absent.json"] {
		t.Errorf("read %d, skipped %v", v.N, skipped)
	}
}

// failed is a test whose failure is looked at.
type failed struct {
	testing.TB
	why string
}

func (f *failed) Helper() {}

func (f *failed) Fatal(args ...any) {
	f.why = fmt.Sprint(args...)
	runtime.Goexit()
}

// In the tree's own testdata nothing may be absent unnoticed.
func TestDataAbsentFromTheTreeIsAFailure(t *testing.T) {
	t.Setenv("TROUPE_GOLDEN", "")
	f, done := &failed{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		var v struct{}
		JSON(f, &v, "grpo", "absent.json")
	}()
	<-done
	if !strings.Contains(f.why, filepath.Join("testdata", "grpo", "absent.json")) {
		t.Errorf("failed with %q", f.why)
	}
}
