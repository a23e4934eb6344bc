package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, root string, iteration int) (path, sum string) {
	t.Helper()
	path, sum, err := Write(root, "r", iteration, func(dir string) error {
		if err := os.Mkdir(filepath.Join(dir, "shared"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "shared", "weights"), []byte{1, 2, 3, 4}, 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "state"), []byte("state"), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path, sum
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	root := t.TempDir()
	path, sum := write(t, root, 7)
	if m, err := Verify(path, sum); err != nil || m.Iteration != 7 || m.Run != "r" || len(m.Files) != 2 {
		t.Fatal(m, err)
	}
	for _, name := range []string{manifestName, "state", "shared/weights"} {
		file := filepath.Join(path, name)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			bad := append([]byte{}, good...)
			bad[i] ^= 1 << (i % 8)
			if err := os.WriteFile(file, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(path, sum); !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s byte %d: %v", name, i, err)
			}
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	extra := filepath.Join(path, "extra")
	if err := os.WriteFile(extra, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(path, sum); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file too many: %v", err)
	}
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	root := t.TempDir()
	path, sum := write(t, root, 1)
	if _, _, err := Write(root, "r", 1, func(string) error { return errors.New("disk on fire") }); err == nil {
		t.Fatal("no error")
	}
	if _, err := Verify(path, sum); err != nil {
		t.Errorf("the old checkpoint suffered: %v", err)
	}
}

func TestRetainAndSweep(t *testing.T) {
	root := t.TempDir()
	for i := range 4 {
		write(t, root, i)
	}
	if err := os.Mkdir(filepath.Join(root, ".step-000004.tmp123"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Retain(root, 0, 3), Sweep(root), Sweep(filepath.Join(root, "none"))); err != nil {
		t.Fatal(err)
	}
	es, _ := os.ReadDir(root)
	if len(es) != 2 || es[0].Name() != "step-000000" || es[1].Name() != "step-000003" {
		t.Errorf("left: %v", es)
	}
}
