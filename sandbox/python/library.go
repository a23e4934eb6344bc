package python

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"troupe/sandbox/wasi"
)

// maxLibrary bounds what a library archive may unpack to.
const maxLibrary = 256 << 20

// packLibrary turns a library as it is found (a .tar.gz of the guest's root, a
// .zip, a folder) into one plain tar of the guest's root.
func packLibrary(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("python library: %w", err)
	}
	if st.IsDir() {
		return packFolder(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("python library: %w", err)
	}
	switch {
	case bytes.HasPrefix(b, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("python library %s: %w", path, err)
		}
		t, err := io.ReadAll(io.LimitReader(z, maxLibrary))
		if err != nil {
			return nil, fmt.Errorf("python library %s: %w", path, err)
		}
		return t, nil
	case bytes.HasPrefix(b, []byte("PK")):
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		addFile(w, "usr/local/lib/python311.zip", b)
		// The landmark by which the interpreter finds its prefix.
		addFile(w, "usr/local/lib/python3.11/os.py", nil)
		addFile(w, "usr/local/lib/python3.11/lib-dynload/.empty", nil)
		return out.Bytes(), w.Close()
	}
	return nil, fmt.Errorf("python library %s: neither a .zip nor a .tar.gz nor a folder", path)
}

func addFile(w *tar.Writer, name string, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o444, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// packFolder packs a folder that is either the guest's root (it holds usr) or
// the standard library itself (it holds os.py).
func packFolder(path string) ([]byte, error) {
	prefix := ""
	if _, err := os.Stat(filepath.Join(path, "os.py")); err == nil {
		prefix = "usr/local/lib/python3.11/"
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(path, p)
		if err != nil || strings.Contains(rel, "__pycache__") {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if out.Len()+len(b) > maxLibrary {
			return errors.New("too large")
		}
		return addFile(w, prefix+filepath.ToSlash(rel), b)
	})
	if err != nil {
		return nil, fmt.Errorf("python library %s: %w", path, err)
	}
	return out.Bytes(), w.Close()
}

// mount puts a packed library into a file system.
func mount(f *wasi.FS, packed []byte) error {
	r := tar.NewReader(bytes.NewReader(packed))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("python library: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("python library: %s: %w", h.Name, err)
		}
		f.Add(h.Name, b)
	}
}
