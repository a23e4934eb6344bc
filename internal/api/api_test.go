package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/internal/reexec"
	"troupe/sandbox"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

const token = "correct-horse-battery-staple"

// start serves opt on a free loopback port until the test ends.
func start(t *testing.T, opt Options) *Server {
	t.Helper()
	if opt.Addr == "" {
		opt.Addr = "127.0.0.1:0"
	}
	s, err := Listen(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// request is one call; empty fields mean what a plain local client sends.
type request struct {
	method, path, host, body string
	header                   map[string]string
}

func (q request) do(t *testing.T, s *Server) (int, string) {
	t.Helper()
	if q.method == "" {
		q.method = "GET"
	}
	r, err := http.NewRequest(q.method, "http://"+s.Addr()+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.host != "" {
		r.Host = strings.ReplaceAll(q.host, "PORT", s.guard.port)
	}
	for k, v := range q.header {
		r.Header.Set(k, strings.ReplaceAll(v, "PORT", s.guard.port))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// TestWhoMayCall is the table of callers: names under which a browser may have
// reached us, pages of other origins, methods, content types, tokens.
func TestWhoMayCall(t *testing.T) {
	local := start(t, Options{Token: token, Names: []string{"gpu1.lan"}})
	open := start(t, Options{Addr: "0.0.0.0:0", Token: token, Names: []string{"gpu1.lan"}})
	type row struct {
		server *Server
		q      request
		want   int
	}
	var rows []row
	for host, want := range map[string]int{
		"": 200, "localhost:PORT": 200, "LOCALHOST:PORT": 200, "127.0.0.1:PORT": 200, "127.0.0.2:PORT": 200,
		"[::1]:PORT": 200, "gpu1.lan:PORT": 200, "GPU1.LAN:PORT": 200,
		"127.0.0.1": 403, "localhost": 403, "localhost:1": 403, "127.0.0.1.evil.test:PORT": 403, "evil.test:PORT": 403,
		"localhost.evil.test:PORT": 403, "0.0.0.0:PORT": 403, "[::]:PORT": 403, "10.0.0.1:PORT": 403, "[::ffff:127.0.0.1]:PORT": 403,
		"gpu2.lan:PORT": 403, "localhost:PORT.evil.test": 403, "127.1:PORT": 403, "2130706433:PORT": 403, "[fe80::1%25lo]:PORT": 403,
	} {
		rows = append(rows, row{local, request{path: "/healthz", host: host}, want})
	}
	for origin, want := range map[string]int{
		"http://localhost:PORT": 200, "http://127.0.0.1:PORT": 200, "http://gpu1.lan:PORT": 200,
		"https://evil.test": 403, "http://evil.test:PORT": 403, "null": 403, "http://localhost": 403, "http://localhost:1": 403,
		"https://localhost:PORT": 403, "file://": 403, "http://127.0.0.1:PORT.evil.test": 403, "http://user@localhost:PORT": 403,
		"chrome-extension://abc": 403,
	} {
		rows = append(rows, row{local, request{path: "/healthz", header: map[string]string{"Origin": origin}}, want})
	}
	post := func(site, origin, ctype, body string) request {
		h := map[string]string{"Authorization": "Bearer " + token}
		for k, v := range map[string]string{"Sec-Fetch-Site": site, "Origin": origin, "Content-Type": ctype} {
			if v != "" {
				h[k] = v
			}
		}
		return request{method: "POST", path: "/healthz", body: body, header: h}
	}
	rows = append(rows, []row{
		{local, post("", "", "application/json", "{}"), 405},
		{local, post("", "", "application/json; charset=utf-8", "{}"), 405},
		{local, post("same-origin", "http://localhost:PORT", "application/json", "{}"), 405},
		{local, post("none", "", "application/json", "{}"), 405},
		{local, post("cross-site", "", "application/json", "{}"), 403},
		{local, post("same-site", "", "application/json", "{}"), 403},
		{local, post("cross-site", "https://evil.test", "application/json", "{}"), 403},
		{local, post("", "https://evil.test", "application/json", "{}"), 403},
		{local, post("", "", "text/plain", "{}"), 415},
		{local, post("", "", "", "{}"), 415},
		{local, post("", "", "application/x-www-form-urlencoded", "a=b"), 415},
		{local, post("", "", "multipart/form-data; boundary=x", "x"), 415},
		{local, post("", "", "application/json-patch+json", "{}"), 415},
		{local, request{method: "PUT", path: "/healthz"}, 405},
		{local, request{method: "DELETE", path: "/healthz"}, 405},
		{local, request{method: "OPTIONS", path: "/healthz"}, 405},
		{local, request{method: "HEAD", path: "/healthz"}, 200},
		{local, request{path: "/nothing"}, 404},
		{local, request{path: "/../etc/passwd"}, 404},
		{local, request{path: "/api/../healthz"}, 404},
		{local, request{path: "//healthz"}, 404},
		{local, request{path: "/ui/..%2f..%2fapi.go"}, 404},
		{local, fetched("cross-site", "no-cors", "image", "/healthz"), 403},
		{local, fetched("same-site", "no-cors", "script", "/ui/app.js"), 403},
		{local, fetched("cross-site", "navigate", "iframe", "/"), 403},
		{local, fetched("cross-site", "navigate", "document", "/healthz"), 403},
		{local, fetched("cross-site", "navigate", "document", "/"), 200},
		{local, fetched("same-origin", "cors", "empty", "/healthz"), 200},
		{local, fetched("none", "navigate", "document", "/healthz"), 200},
	}...)
	// The dashboard's own files need no token; nothing else is reached through them.
	for path, want := range map[string]int{"/": 200, "/ui/app.js": 200, "/ui/../healthz": 401, "/ui/../metrics": 401, "/ui/%2e%2e/healthz": 401, "/ui/./../openapi.json": 401, "/ui//healthz": 401, "/ui": 401} {
		rows = append(rows, row{open, request{path: path, host: "gpu1.lan:PORT"}, want})
	}
	for auth, want := range map[string]int{
		"Bearer " + token: 200, "bearer " + token: 200, "": 401, "Bearer": 401, "Bearer ": 401, "Bearer wrong": 401,
		"Bearer " + token + "x": 401, "Basic " + token: 401, token: 401, "Bearer " + token[1:]: 401,
	} {
		rows = append(rows, row{open, request{path: "/healthz", host: "gpu1.lan:PORT", header: map[string]string{"Authorization": auth}}, want})
	}
	rows = append(rows,
		row{open, request{path: "/healthz", host: "evil.test:PORT", header: map[string]string{"Authorization": "Bearer " + token}}, 403},
		row{open, request{path: "/healthz?token=" + token, host: "gpu1.lan:PORT"}, 401})
	passed := 0
	for _, c := range rows {
		if got, body := c.q.do(t, c.server); got != c.want {
			t.Errorf("%+v: %d, want %d: %s", c.q, got, c.want, body)
		} else {
			passed++
		}
	}
	if len(rows) < 60 {
		t.Errorf("the table has only %d rows", len(rows))
	}
	t.Logf("%d of %d requests answered as they should be", passed, len(rows))
}

// A 405 says which methods there are.
func TestMethodNotAllowedNamesTheOthers(t *testing.T) {
	s := start(t, Options{Pool: pool(t)})
	for path, want := range map[string]string{"/healthz": "GET, HEAD", "/submit": "POST"} {
		q, err := http.NewRequest(http.MethodDelete, "http://"+s.Addr()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if got := r.Header.Get("Allow"); r.StatusCode != http.StatusMethodNotAllowed || got != want {
			t.Errorf("DELETE %s: %d, Allow %q, want %q", path, r.StatusCode, got, want)
		}
	}
}

// fetched is a request as a browser marks it.
func fetched(site, mode, dest, path string) request {
	return request{path: path, header: map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}}
}

func TestAnOpenBindNeedsAToken(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if _, err := Listen(Options{Addr: addr}); !errors.Is(err, ErrOpenBind) {
			t.Errorf("listen on %s: %v", addr, err)
		}
	}
}

func TestLargeBodiesAndHeadersAreRefused(t *testing.T) {
	s := start(t, Options{Token: token, Pool: pool(t), OpenDropIn: true})
	for path, most := range map[string]int{"/run_code": maxInputBody, "/v1/verify/code": maxBatchBody, "/healthz": maxBody} {
		body := `{"language":"python","code":"` + strings.Repeat("a", most) + `"}`
		if got, _ := (request{method: "POST", path: path, body: body, header: map[string]string{"Content-Type": "application/json"}}).do(t, s); got != 413 {
			t.Errorf("%s, a body over the limit: %d", path, got)
		}
	}
	if got, _ := (request{path: "/healthz", header: map[string]string{"X-Long": strings.Repeat("a", 64<<10)}}).do(t, s); got != 431 {
		t.Errorf("headers over the limit: %d", got)
	}
}

func TestASlowClientIsClosed(t *testing.T) {
	s := start(t, Options{Token: token})
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /healthz HT")
	c.SetReadDeadline(time.Now().Add(readHeader + 3*time.Second))
	began := time.Now()
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("still open after %v: %v", time.Since(began), err)
	}
}

// pool is the sandbox that all tests of this package share.
func pool(t *testing.T) *sandbox.Pool {
	t.Helper()
	if os.Getenv("TROUPE_OFFLINE") != "" {
		t.Skip("TROUPE_OFFLINE is set")
	}
	p, err := sharedPool()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var sharedPool = sync.OnceValues(func() (*sandbox.Pool, error) {
	cache := os.Getenv("TROUPE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		cache = dir + "/troupe"
	}
	return sandbox.Open(context.Background(), sandbox.Options{Workers: 1, Cache: cache})
})

func TestDropInRoutesNeedATokenUnlessOpened(t *testing.T) {
	opt := withPrograms(pool(t))
	opt.OpenDropIn = false
	s := start(t, opt)
	for _, path := range []string{"/submit", "/api/v2/execute", "/test_program", "/test_program_stdio"} {
		if got, _ := (request{method: "POST", path: path, body: "{}", header: map[string]string{"Content-Type": "application/json"}}).do(t, s); got != 401 {
			t.Errorf("%s without a token: %d", path, got)
		}
	}
	q := request{method: "POST", path: "/run_code", body: `{"code":"print(1)","language":"python"}`, header: map[string]string{"Content-Type": "application/json"}}
	if got, _ := q.do(t, s); got != 401 {
		t.Errorf("without a token: %d", got)
	}
	q.header["Authorization"] = "Bearer " + token
	if got, body := q.do(t, s); got != 200 {
		t.Errorf("with the token: %d %s", got, body)
	}
}
