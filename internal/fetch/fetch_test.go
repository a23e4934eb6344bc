package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 40000)

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func good(urls ...string) File {
	return File{URLs: urls, SHA256: sum(content), Size: int64(len(content))}
}

// serve answers with content; cut makes the first answers break off.
func serve(t *testing.T, cut int, requests *atomic.Int32) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		if int(n) <= cut {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			w.Write(content[:len(content)/3])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "f", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestGet(t *testing.T) {
	var n atomic.Int32
	s := serve(t, 0, &n)
	path := filepath.Join(t.TempDir(), "a", "b")
	var done, total int64
	opt := Options{Progress: func(d, all int64) { done, total = d, all }}
	for range 2 { // the second finds it there
		if err := Get(t.Context(), good(s.URL), path, opt); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, content) {
		t.Error("content differs")
	}
	if n.Load() != 1 || done != int64(len(content)) || total != done {
		t.Errorf("%d requests, progress %d of %d", n.Load(), done, total)
	}
}

func TestABrokenTransferIsResumed(t *testing.T) {
	var n atomic.Int32
	var ranges []string
	inner := serve(t, 1, &n)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "f")
	if err := Get(t.Context(), good(s.URL), path, Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, content) {
		t.Error("content differs")
	}
	if len(ranges) != 2 || !strings.HasPrefix(ranges[1], "bytes=") {
		t.Errorf("ranges %q", ranges)
	}
	if left, _ := filepath.Glob(path + ".part"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatIsWrongNeverArrives(t *testing.T) {
	var n atomic.Int32
	s := serve(t, 0, &n)
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	for name, c := range map[string]struct {
		file File
		err  string
	}{
		"sha256":      {File{URLs: []string{s.URL}, SHA256: sum([]byte("x"))}, "sha256"},
		"longer":      {File{URLs: []string{s.URL}, Size: 10}, "more than 10 bytes"},
		"not found":   {File{URLs: []string{missing.URL}}, "404"},
		"plain http":  {File{URLs: []string{"http://example.com/f"}}, "not https"},
		"no such URL": {File{URLs: []string{"https://127.0.0.1:1/f"}}, "127.0.0.1:1"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		err := Get(t.Context(), c.file, path, Options{Retries: 1})
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: the file arrived", name)
		}
	}
}

func TestTheNextPlaceIsTried(t *testing.T) {
	var n atomic.Int32
	s := serve(t, 0, &n)
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	path := filepath.Join(t.TempDir(), "f")
	if err := Get(t.Context(), good(missing.URL, s.URL), path, Options{}); err != nil {
		t.Error(err)
	}
}

func TestADamagedBeginningIsThrownAway(t *testing.T) {
	var n atomic.Int32
	s := serve(t, 0, &n)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path+".part", []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Get(t.Context(), good(s.URL), path, Options{}); err != nil {
		t.Error(err)
	}
}

func TestManyAtOnceDownloadOnce(t *testing.T) {
	var n atomic.Int32
	s := serve(t, 0, &n)
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := Get(t.Context(), good(s.URL), path, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("%d downloads", n.Load())
	}
}

func TestOffline(t *testing.T) {
	t.Setenv("TROUPE_OFFLINE", "1")
	if err := Get(t.Context(), good("https://127.0.0.1:1/f"), filepath.Join(t.TempDir(), "f"), Options{}); !errors.Is(err, ErrOffline) {
		t.Errorf("error %v", err)
	}
}

func TestALockWaitsAndCanBeCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	unlock()
	again, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
