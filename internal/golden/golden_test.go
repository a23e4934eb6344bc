package golden

import (
	"os"
	"path/filepath"
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
