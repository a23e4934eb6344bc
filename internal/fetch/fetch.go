// Package fetch downloads files: resumed where a first try broke off, checked
// against a sha256 before anything sees them, moved into place atomically, and
// safe when two processes want the same file at once.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"troupe/internal/atomicfile"
)

// File is a file to be had.
type File struct {
	URLs   []string // tried in order
	SHA256 string   // hex; empty: not checked
	Size   int64    // 0: unknown
	Header http.Header
}

// Options says how.
type Options struct {
	Client   *http.Client            // nil: one with time-outs for silence, none for length
	Progress func(done, total int64) // total 0: unknown
	Retries  int                     // further tries for each URL when a transfer breaks off; 0 means 3
}

// ErrOffline means that the user forbade downloads.
var ErrOffline = errors.New("TROUPE_OFFLINE is set")

// Offline reports whether the user forbade downloads.
func Offline() bool {
	v := os.Getenv("TROUPE_OFFLINE")
	return v != "" && v != "0"
}

// client gives up on a server that says nothing, not on a slow one.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 8 * time.Second}).DialContext,
		TLSHandshakeTimeout:   8 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       30 * time.Second,
	},
	CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("too many redirects")
		}
		return secure(r.URL)
	},
}

// secure refuses plain HTTP, except to this machine.
func secure(u *url.URL) error {
	host := u.Hostname()
	ip := net.ParseIP(host)
	if u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s is not https", u.Redacted())
}

// Get puts f at path, if a good copy is not already there. The folder is made.
// Of two processes that call it at once, one downloads and the other waits.
func Get(ctx context.Context, f File, path string, opt Options) error {
	if Verify(path, f) == nil {
		return nil
	}
	if Offline() {
		return fmt.Errorf("fetch %s: %w", filepath.Base(path), ErrOffline)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("fetch %s: %w", path, err)
	}
	unlock, err := Lock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if Verify(path, f) == nil {
		return nil
	}
	var errs []error
	for _, u := range f.URLs {
		if err := getOne(ctx, f, u, path, opt); err == nil {
			return nil
		} else {
			errs = append(errs, fmt.Errorf("%s: %w", u, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("fetch %s: %w", filepath.Base(path), errors.Join(errs...))
}

// Verify checks a file's size and sha256 against f.
func Verify(path string, f File) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(h, in)
	if err != nil {
		return err
	}
	if f.Size != 0 && n != f.Size {
		return fmt.Errorf("%s has %d bytes instead of %d", filepath.Base(path), n, f.Size)
	}
	if got := hex.EncodeToString(h.Sum(nil)); f.SHA256 != "" && got != strings.ToLower(f.SHA256) {
		return fmt.Errorf("%s has sha256 %s instead of %s", filepath.Base(path), got, f.SHA256)
	}
	return nil
}

// getOne downloads from one place into a part file, which survives a break, and
// moves it to path when it is whole and right.
func getOne(ctx context.Context, f File, from, path string, opt Options) error {
	part := path + ".part"
	tries := opt.Retries
	if tries == 0 {
		tries = 3
	}
	var err error
	for try := 0; try <= tries; try++ {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * 300 * time.Millisecond):
			}
		}
		var again bool
		if again, err = transfer(ctx, f, from, part, opt); err == nil {
			if err = Verify(part, f); err == nil {
				break
			}
			os.Remove(part) // a wrong beginning must not be resumed
			again = try == 0
		}
		if !again {
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// transfer appends to part what it lacks. again tells whether another try can
// help.
func transfer(ctx context.Context, f File, from, part string, opt Options) (again bool, err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return false, err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	if f.Size != 0 && have == f.Size {
		return false, nil
	}
	if f.Size != 0 && have > f.Size {
		have = 0
	}
	res, err := request(ctx, f, from, have, opt)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusPartialContent && have > 0 &&
		strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case res.StatusCode == http.StatusOK:
		have = 0
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable || res.StatusCode == http.StatusPartialContent:
		return true, out.Truncate(0)
	default:
		return res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests, fmt.Errorf("status %s", res.Status)
	}
	if err := out.Truncate(have); err != nil {
		return false, err
	}
	if _, err := out.Seek(have, io.SeekStart); err != nil {
		return false, err
	}
	if err := copyBody(out, res, f, have, opt); err != nil {
		return true, err
	}
	return false, out.Sync()
}

func request(ctx context.Context, f File, from string, have int64, opt Options) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	if err := secure(req.URL); err != nil {
		return nil, err
	}
	for k, v := range f.Header {
		req.Header[k] = v
	}
	// A transparent gzip would make ranges and lengths those of the packed form.
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	c := opt.Client
	if c == nil {
		c = client
	}
	return c.Do(req)
}

// maxUnknown bounds a download whose size nobody told.
const maxUnknown = 64 << 30

func copyBody(out io.Writer, res *http.Response, f File, have int64, opt Options) error {
	total := f.Size
	if total == 0 && res.ContentLength > 0 {
		total = have + res.ContentLength
	}
	limit := total
	if limit == 0 {
		limit = maxUnknown
	}
	buf := make([]byte, 256<<10)
	for {
		n, err := res.Body.Read(buf)
		have += int64(n)
		if have > limit {
			return fmt.Errorf("more than %d bytes", limit)
		}
		if _, werr := out.Write(buf[:n]); werr != nil {
			return werr
		}
		if opt.Progress != nil && n > 0 {
			opt.Progress(have, total)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if total != 0 && have < total {
		return io.ErrUnexpectedEOF
	}
	return nil
}
