package hub

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/internal/fetch"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// fakeHub behaves like the hub: listings, files behind a redirect to a second
// host, ranges, tokens. Faults are switched on by name.
type fakeHub struct {
	*httptest.Server
	cdn   *httptest.Server
	files map[string][]byte
	large map[string]bool

	mu     sync.Mutex
	fault  map[string]int // path or "list": how many times
	status map[string]int
	token  string
	log    []string
}

func newHub(t *testing.T) *fakeHub {
	h := &fakeHub{files: map[string][]byte{}, large: map[string]bool{}, fault: map[string]int{}, status: map[string]int{}}
	h.cdn = httptest.NewServer(http.HandlerFunc(h.serveFile))
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(func() { h.Server.Close(); h.cdn.Close() })
	big := make([]byte, 300_000)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	h.files["en/train-00000-of-00001.parquet"], h.large["en/train-00000-of-00001.parquet"] = big, true
	h.files["README.md"] = []byte("# a data set\n")
	h.files["empty.txt"] = nil
	h.files["with space#.json"] = []byte("{}")
	return h
}

func (h *fakeHub) take(what string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fault[what] > 0 {
		h.fault[what]--
		return true
	}
	return false
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.log = append(h.log, r.Method+" "+r.URL.Path+" "+r.Header.Get("Range"))
	status, token := h.status[r.URL.Path], h.token
	h.mu.Unlock()
	switch {
	case status != 0:
		w.WriteHeader(status)
	case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasPrefix(r.URL.Path, "/api/"):
		h.list(w, r)
	default:
		_, name, ok := strings.Cut(r.URL.Path, "/resolve/"+commit+"/")
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if h.large[name] {
			// Another host for the client, which drops the token then.
			http.Redirect(w, r, strings.Replace(h.cdn.URL, "127.0.0.1", "localhost", 1)+"/"+name, http.StatusFound)
			return
		}
		r.URL.Path = "/" + name
		h.serveFile(w, r)
	}
}

func (h *fakeHub) list(w http.ResponseWriter, r *http.Request) {
	if h.take("list") {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if r.URL.Path != "/api/datasets/org/set/revision/main" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var siblings []map[string]any
	for name, content := range h.files {
		git := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...))
		s := map[string]any{"rfilename": name, "size": len(content), "blobId": hex.EncodeToString(git[:])}
		if h.large[name] {
			sum := sha256.Sum256(content)
			s["lfs"] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(content), "pointerSize": 130}
		}
		siblings = append(siblings, s)
	}
	json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings})
}

func (h *fakeHub) serveFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if h.large[name] && r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusTeapot) // the token must not reach the other host
		return
	}
	content := h.files[name]
	switch {
	case h.take(name + " truncated"):
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:len(content)/3])
	case h.take(name + " corrupted"):
		bad := bytes.Clone(content)
		bad[len(bad)/2] ^= 1
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bad))
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

func (h *fakeHub) client(t *testing.T) *Client {
	return &Client{Endpoint: h.URL, Cache: t.TempDir()}
}

var (
	repo = Repo{Kind: Dataset, Name: "org/set"}
	all  = func(string) bool { return true }
)

// check compares what was fetched with what the hub has.
func (h *fakeHub) check(t *testing.T, dir string, files []string) {
	t.Helper()
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil || !bytes.Equal(got, h.files[f]) {
			t.Errorf("%s: %d bytes, error %v", f, len(got), err)
		}
	}
}

func TestFetchFillsTheStandardCache(t *testing.T) {
	h := newHub(t)
	h.token = "secret"
	c := h.client(t)
	c.Token = "secret"
	var told int64
	c.Progress = func(file string, done, total int64) { told = max(told, done) }
	dir, files, err := c.Fetch(t.Context(), repo, all)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, error %v", files, err)
	}
	h.check(t, dir, files)
	if want := filepath.Join(c.Cache, "datasets--org--set", "snapshots", commit); dir != want {
		t.Errorf("folder %s, want %s", dir, want)
	}
	sum := sha256.Sum256(h.files["en/train-00000-of-00001.parquet"])
	target, err := os.Readlink(filepath.Join(dir, "en", "train-00000-of-00001.parquet"))
	if want := filepath.Join("..", "..", "..", "blobs", hex.EncodeToString(sum[:])); err != nil || target != want {
		t.Errorf("link to %s, want %s, error %v", target, want, err)
	}
	if b, _ := os.ReadFile(filepath.Join(c.Cache, "datasets--org--set", "refs", "main")); string(b) != commit {
		t.Errorf("refs/main is %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Cache, "datasets--org--set", "blobs", "*.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if told != 300_000 {
		t.Errorf("progress told %d bytes", told)
	}
	h.log = nil
	if _, _, err := c.Fetch(t.Context(), repo, all); err != nil || len(h.log) != 1 {
		t.Errorf("second time: requests %v, error %v", h.log, err)
	}
	h.Server.Close()
	if again, files, err := c.Fetch(t.Context(), repo, all); err != nil || again != dir || len(files) != 4 {
		t.Errorf("without the hub: %s %v, error %v", again, files, err)
	}
}

func TestTwoClientsDownloadOnce(t *testing.T) {
	h := newHub(t)
	cache := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c := h.client(t)
			c.Cache = cache
			dir, files, err := c.Fetch(t.Context(), repo, all)
			if err != nil {
				t.Error(err)
				return
			}
			h.check(t, dir, files)
		})
	}
	wg.Wait()
	downloads := 0
	for _, request := range h.log {
		if strings.Contains(request, "/resolve/") && strings.Contains(request, ".parquet") {
			downloads++
		}
	}
	if downloads != 1 {
		t.Errorf("%d downloads of one file", downloads)
	}
}

func TestBrokenTransfersAreResumedAndCheckedAgain(t *testing.T) {
	h := newHub(t)
	big := "en/train-00000-of-00001.parquet"
	h.fault[big+" truncated"] = 1
	h.fault["list"] = 2
	c := h.client(t)
	dir, files, err := c.Fetch(t.Context(), repo, func(p string) bool { return p == big })
	if err != nil {
		t.Fatal(err)
	}
	h.check(t, dir, files)
	ranged := slices.ContainsFunc(h.log, func(s string) bool { return strings.HasSuffix(s, "bytes=100000-") })
	if !ranged {
		t.Errorf("not resumed: %v", h.log)
	}
	c = h.client(t)
	h.fault[big+" corrupted"] = 1
	if dir, files, err = c.Fetch(t.Context(), repo, func(p string) bool { return p == big }); err != nil {
		t.Errorf("after one corrupted transfer: %v", err)
	} else {
		h.check(t, dir, files)
	}
	c = h.client(t)
	h.fault[big+" corrupted"], h.fault["README.md corrupted"] = 99, 99
	for _, name := range []string{big, "README.md"} {
		_, _, err = c.Fetch(t.Context(), repo, func(p string) bool { return p == name })
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(c.Cache, "*", "snapshots", "*", "*")); len(found) > 0 {
		t.Errorf("corrupted files are in place: %v", found)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	h := newHub(t)
	for _, c := range []struct {
		repo   Repo
		status int
		token  string
		is     error
		says   string
	}{
		{Repo{Kind: Dataset, Name: "org/none"}, 0, "", ErrNotFound, "no such repository"},
		{Repo{Kind: Dataset, Name: "org/set", Revision: "v9"}, 0, "", ErrNotFound, "org/set@v9"},
		{Repo{Kind: Model, Name: "org/private"}, 401, "", ErrAccess, "set HF_TOKEN"},
		{Repo{Kind: Model, Name: "org/private"}, 401, "old", ErrAccess, "the token is not valid"},
		{Repo{Kind: Model, Name: "org/gated"}, 403, "x", ErrAccess, "accept its terms at " + h.URL + "/org/gated"},
		{Repo{Kind: Model, Name: "../../etc"}, 0, "", nil, "no repository name"},
		{Repo{Kind: Model, Name: ""}, 0, "", nil, "no repository name"},
	} {
		client := h.client(t)
		client.Token = c.token
		h.mu.Lock()
		h.status["/api/models/"+c.repo.Name+"/revision/main"] = c.status
		h.mu.Unlock()
		_, _, err := client.Fetch(t.Context(), c.repo, all)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.repo, err, c.says)
		}
	}
	if _, _, err := h.client(t).Fetch(t.Context(), repo, func(string) bool { return false }); !errors.Is(err, ErrNotFound) {
		t.Errorf("no wanted file: %v", err)
	}
	offline := h.client(t)
	offline.Offline = true
	if _, _, err := offline.Fetch(t.Context(), repo, all); !errors.Is(err, fetch.ErrOffline) || !strings.Contains(err.Error(), offline.Cache) {
		t.Errorf("offline: %v", err)
	}
}

func TestHostileListings(t *testing.T) {
	for name, body := range map[string]string{
		"path outside": `{"sha":"` + commit + `","siblings":[{"rfilename":"../../x","size":1,"blobId":"` + commit + `"}]}`,
		"absolute":     `{"sha":"` + commit + `","siblings":[{"rfilename":"/etc/x","size":1,"blobId":"` + commit + `"}]}`,
		"hash":         `{"sha":"` + commit + `","siblings":[{"rfilename":"x","size":1,"blobId":"../../x"}]}`,
		"size":         `{"sha":"` + commit + `","siblings":[{"rfilename":"x","size":-1,"blobId":"` + commit + `"}]}`,
		"commit":       `{"sha":"../x","siblings":[]}`,
		"not JSON":     `<html>`,
		"a list":       `[]`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		c := &Client{Endpoint: server.URL, Cache: t.TempDir()}
		_, err := c.List(t.Context(), repo)
		if err == nil || !strings.Contains(err.Error(), "org/set") {
			t.Errorf("%s: error %v", name, err)
		}
		server.Close()
	}
}

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	for _, k := range []string{"HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "TROUPE_OFFLINE"} {
		t.Setenv(k, "")
	}
	t.Setenv("HF_HOME", home)
	os.WriteFile(filepath.Join(home, "token"), []byte("from-file\n"), 0o600)
	c, err := FromEnv()
	if err != nil || c.Endpoint != defaultEndpoint || c.Token != "from-file" || c.Cache != filepath.Join(home, "hub") || c.Offline {
		t.Errorf("%+v, error %v", c, err)
	}
	t.Setenv("HF_TOKEN", "from-env")
	t.Setenv("HF_ENDPOINT", "https://mirror.example/")
	t.Setenv("HF_HUB_OFFLINE", "1")
	c, err = FromEnv()
	if err != nil || c.Endpoint != "https://mirror.example" || c.Token != "from-env" || !c.Offline {
		t.Errorf("%+v, error %v", c, err)
	}
	for _, bad := range []string{"http://mirror.example", "mirror", "ftp://x"} {
		t.Setenv("HF_ENDPOINT", bad)
		if _, err := FromEnv(); err == nil {
			t.Errorf("no error for the endpoint %s", bad)
		}
	}
}

func FuzzListing(f *testing.F) {
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"a/b","size":1,"blobId":"` + commit + `"},{"rfilename":"c","lfs":{"sha256":"` + commit + `","size":2}}]}`))
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"../b","size":1}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		l, err := parseListing(repo, body)
		if err != nil {
			return
		}
		for _, e := range l.Files {
			if !filepath.IsLocal(e.Path) || strings.ContainsAny(e.etag(), "/.\\") || e.Size < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}
