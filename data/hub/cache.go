package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"troupe/internal/atomicfile"
	"troupe/internal/fetch"
)

// folder is a repository's place in the cache.
func (c *Client) folder(r Repo) string {
	return filepath.Join(c.Cache, string(r.Kind)+"--"+strings.ReplaceAll(r.Name, "/", "--"))
}

// Fetch brings the wanted files of a repository into the cache and returns the
// folder that holds them under their own names, with those names. What is
// already there is not loaded again; if the hub can't be reached, what is there
// has to do.
func (c *Client) Fetch(ctx context.Context, r Repo, want func(path string) bool) (dir string, files []string, err error) {
	if c.Offline {
		return c.cached(r, want, fetch.ErrOffline)
	}
	listing, err := c.List(ctx, r)
	if err != nil {
		if errors.Is(err, ErrAccess) || errors.Is(err, ErrNotFound) || ctx.Err() != nil {
			return "", nil, err
		}
		return c.cached(r, want, err)
	}
	dir = filepath.Join(c.folder(r), "snapshots", listing.Commit)
	for _, e := range listing.Files {
		if !want(e.Path) {
			continue
		}
		if err := c.file(ctx, r, listing.Commit, dir, e); err != nil {
			return "", nil, err
		}
		files = append(files, e.Path)
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("hub: %s: %w: none of its %d files is of the kind wanted", r, ErrNotFound, len(listing.Files))
	}
	return dir, files, c.pin(r, listing.Commit)
}

// cached answers from the cache alone.
func (c *Client) cached(r Repo, want func(string) bool, why error) (string, []string, error) {
	commit := r.revision()
	if b, err := os.ReadFile(filepath.Join(c.folder(r), "refs", filepath.FromSlash(commit))); err == nil {
		commit = strings.TrimSpace(string(b))
	}
	dir := filepath.Join(c.folder(r), "snapshots", commit)
	var files []string
	if hexName.MatchString(commit) {
		_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, p)
			if err == nil && want(filepath.ToSlash(name)) {
				files = append(files, filepath.ToSlash(name))
			}
			return nil
		})
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("hub: %s is not in %s: %w", r, c.Cache, why)
	}
	c.note("using %s from %s (%v)", r, c.Cache, why)
	return dir, files, nil
}

// pin notes which commit a revision is, as the Python tools do.
func (c *Client) pin(r Repo, commit string) error {
	rev := r.revision()
	if rev == commit || !filepath.IsLocal(filepath.FromSlash(rev)) {
		return nil
	}
	ref := filepath.Join(c.folder(r), "refs", filepath.FromSlash(rev))
	if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	return atomicfile.WriteFile(ref, []byte(commit), 0o644)
}

// file brings one file into the cache: its content as a blob named by its
// hash, and a link to it under its own name.
func (c *Client) file(ctx context.Context, r Repo, commit, dir string, e Entry) error {
	link := filepath.Join(dir, filepath.FromSlash(e.Path))
	if st, err := os.Stat(link); err == nil && st.Size() == e.Size {
		return nil
	}
	blob := filepath.Join(c.folder(r), "blobs", e.etag())
	if err := c.blob(ctx, r, commit, e, blob); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	return place(blob, link)
}

// blob sees to it that a file's content is in the cache. Of two processes that
// want it at once, one downloads and the other waits.
func (c *Client) blob(ctx context.Context, r Repo, commit string, e Entry, blob string) error {
	if st, err := os.Stat(blob); err == nil && st.Size() == e.Size {
		return nil
	}
	lock := filepath.Join(c.Cache, ".locks", filepath.Base(c.folder(r)), e.etag()+".troupe")
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	unlock, err := fetch.Lock(ctx, lock)
	if err != nil {
		return fmt.Errorf("hub: %s: %s: %w", r, e.Path, err)
	}
	defer unlock()
	if st, err := os.Stat(blob); err == nil && st.Size() == e.Size {
		return nil
	}
	return c.download(ctx, r, commit, e, blob)
}

// download fetches a file's content and moves it into place when its hash is
// right.
func (c *Client) download(ctx context.Context, r Repo, commit string, e Entry, blob string) error {
	path := make([]string, 0, 4)
	for part := range strings.SplitSeq(e.Path, "/") {
		path = append(path, url.PathEscape(part))
	}
	from := fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, r.page(), commit, strings.Join(path, "/"))
	incoming := blob + ".troupe"
	opt := fetch.Options{Client: c.http}
	if c.Progress != nil {
		opt.Progress = func(done, total int64) { c.Progress(e.Path, done, total) }
	}
	// The HTTP client drops the token when it is sent on to another host.
	f := fetch.File{URLs: []string{from}, SHA256: e.SHA256, Size: e.Size, Header: c.header()}
	if e.Size == 0 {
		if err := os.MkdirAll(filepath.Dir(blob), 0o755); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
		return atomicfile.WriteFile(blob, nil, 0o644)
	}
	if err := fetch.Get(ctx, f, incoming, opt); err != nil {
		if strings.Contains(err.Error(), fmt.Sprint(http.StatusUnauthorized)) || strings.Contains(err.Error(), fmt.Sprint(http.StatusForbidden)) {
			err = fmt.Errorf("%w: %w", ErrAccess, err)
		}
		return fmt.Errorf("hub: %s: %s: %w", r, e.Path, err)
	}
	if e.SHA256 == "" {
		got, err := gitBlob(incoming, e.Size)
		if err == nil && got != e.Git {
			err = fmt.Errorf("its git hash is %s instead of %s", got, e.Git)
		}
		if err != nil {
			os.Remove(incoming)
			return fmt.Errorf("hub: %s: %s: %w", r, e.Path, err)
		}
	}
	if err := os.Rename(incoming, blob); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	os.Remove(incoming + ".lock")
	return atomicfile.SyncDir(filepath.Dir(blob))
}

// gitBlob is the hash under which git would store a file.
func gitBlob(path string, size int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// place makes link name the blob: a relative link, or a copy where there are
// none.
func place(blob, link string) error {
	target, err := filepath.Rel(filepath.Dir(link), blob)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	tmp := link + "." + rand.Text()[:10] // of its own for each process
	err = os.Symlink(target, tmp)
	if err != nil && runtime.GOOS == "windows" {
		err = copyFile(blob, tmp)
	}
	if err == nil {
		err = os.Rename(tmp, link)
	}
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
