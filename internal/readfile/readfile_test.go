package readfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWholeFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "a", strings.Repeat("b", 5000)} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if b, err := AtMost(path, 5000); err != nil || string(b) != text {
			t.Errorf("%d bytes: got %d, %v", len(text), len(b), err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Skip("no links here:", err)
	}
	if b, err := AtMost(link, 5000); err != nil || len(b) != 5000 {
		t.Errorf("through a link: %d bytes, %v", len(b), err)
	}
}

func TestWhatIsNoSmallFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 11), 0o644); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{dir: "not a regular file", large: "11 bytes; at most 10 are read"}
	if _, err := os.Stat("/dev/zero"); err == nil {
		endless := filepath.Join(dir, "endless")
		if err := os.Symlink("/dev/zero", endless); err != nil {
			t.Fatal(err)
		}
		cases[endless] = "not a regular file"
	}
	if _, err := os.Stat("/proc/self/maps"); err == nil {
		cases["/proc/self/maps"] = "at most 10 are read" // its size is said to be 0
	}
	for path, want := range cases {
		_, err := AtMost(path, 10)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want %q and the name", path, err, want)
		}
	}
	if _, err := AtMost(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
