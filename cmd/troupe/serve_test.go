package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"troupe/internal/jsonschema"
)

// served runs `troupe serve` on a free port until the test ends and returns its
// address and token.
func served(t *testing.T) (url, token string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	cache := os.Getenv("TROUPE_CACHE")
	if cache == "" {
		if cache, err = cacheDir(""); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	c := &serveCmd{DB: filepath.Join(dir, "runs.db"), Listen: addr, Workers: 1}
	done := make(chan error, 1)
	go func() {
		done <- c.Run(&environment{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Cache: cache})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for range 600 {
		if r, err := http.Get("http://" + addr + "/healthz"); err == nil {
			r.Body.Close()
			b, err := os.ReadFile(c.DB + ".token")
			if err != nil {
				t.Fatal(err)
			}
			if st, _ := os.Stat(c.DB + ".token"); st.Mode().Perm() != 0o600 {
				t.Errorf("the token file's mode is %v", st.Mode())
			}
			return "http://" + addr, strings.TrimSpace(string(b))
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server did not come up")
	return "", ""
}

// TestVerifyOverHTTPGivesTheRecordsOfTheCommand sends the same records to the
// command and to the server.
func TestVerifyOverHTTPGivesTheRecordsOfTheCommand(t *testing.T) {
	if os.Getenv("TROUPE_OFFLINE") != "" {
		t.Skip("TROUPE_OFFLINE is set")
	}
	url, token := served(t)
	documented := documentOf(t, url)
	cases := map[string][]string{
		"code": {
			`{"id":"a","program":"print(int(input())*2)","tests":[{"input":"21","output":"42"}]}`,
			`{"id":"b","program":"print(1)","tests":[{"input":"","output":"2"}]}`,
			`{"id":"c","answer":"no program here","tests":[{"input":"","output":"2"}]}`,
			`{"id":"d","program":"while True: pass","tests":[{"input":"","output":"2"}],"limits":{"time_s":0.05}}`,
			`{"id":"e","program":"print(1)","tests":[]}`,
		},
		"math": {
			`{"id":"a","gold":"1/2","answer":"\\boxed{0.5}"}`,
			`{"id":"b","gold":"7","answer":"Answer: 8"}`,
			`{"id":"c","answer":"Answer: 8"}`,
			`{"id":"d","gold":"\\sqrt{8}","answer":"\\boxed{2\\sqrt{2}}"}`,
			`{"id":"e","gold":"x^2-1","answer":"\\boxed{(x-1)(x+1)}"}`,
		},
	}
	for kind, records := range cases {
		var out bytes.Buffer
		args := []string{"verify", kind, "--in", "-"}
		if code := run(args, strings.NewReader(strings.Join(records, "\n")+"\n"), &out, io.Discard); code != exitInput {
			t.Errorf("%v exited with %d", args, code)
		}
		var want []json.RawMessage
		for line := range strings.Lines(out.String()) {
			want = append(want, json.RawMessage(strings.TrimSpace(line)))
		}
		status, body := send(t, url+"/v1/verify/"+kind, token, "["+strings.Join(records, ",")+"]")
		var got []json.RawMessage
		if err := json.Unmarshal(body, &got); err != nil || status != 200 || len(got) != len(want) {
			t.Fatalf("%s: status %d, %v, %d records for %d: %s", kind, status, err, len(got), len(want), body)
		}
		for i := range want {
			if canonical(t, got[i]) != canonical(t, want[i]) {
				t.Errorf("%s record %d: over HTTP %s, by the command %s", kind, i, got[i], want[i])
			}
		}
		status, body = send(t, url+"/v1/verify/"+kind, token, records[0])
		if status != 200 || canonical(t, body) != canonical(t, want[0]) {
			t.Errorf("%s alone: status %d: %s", kind, status, body)
		}
		answer := documented.At("paths", "/v1/verify/"+kind, "post", "responses", "200", "content", "application/json", "schema")
		for _, text := range [][]byte{body, []byte("[" + strings.Join(strings.Split(strings.TrimSpace(out.String()), "\n"), ",") + "]")} {
			if err := documented.Check(answer, text); err != nil {
				t.Errorf("%s: an answer is not as documented: %v", kind, err)
			}
		}
		question := documented.At("paths", "/v1/verify/"+kind, "post", "requestBody", "content", "application/json", "schema")
		if err := documented.Check(question, []byte("["+strings.Join(records, ",")+"]")); err != nil {
			t.Errorf("%s: a record is not as documented: %v", kind, err)
		}
		if status, _ := send(t, url+"/v1/verify/"+kind, "", records[0]); status != 401 {
			t.Errorf("%s without a token: status %d", kind, status)
		}
		if status, _ := send(t, url+"/v1/verify/"+kind, token, "[1, 2"); status != 400 {
			t.Errorf("%s with half a body: status %d", kind, status)
		}
	}
}

// documentOf is what a server says of its own routes.
func documentOf(t *testing.T, url string) *jsonschema.Document {
	t.Helper()
	resp, err := http.Get(url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	d, err := jsonschema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func send(t *testing.T, url, token, body string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b
}

// TestATokenThatOthersCanReadIsRefused: whoever may write beside the database
// must not choose the token, nor those who may read it know it.
func TestATokenThatOthersCanReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := t.TempDir()
	known := filepath.Join(dir, "known")
	if err := os.WriteFile(known, []byte("known\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"readable": func(path string) error { return os.WriteFile(path, []byte("known\n"), 0o644) },
		"writable": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("known\n"), 0o600), os.Chmod(path, 0o620))
		},
		"a link":   func(path string) error { return os.Symlink(known, path) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		c := &serveCmd{DB: filepath.Join(dir, name), Listen: "127.0.0.1:0"}
		if err := make(c.DB + ".token"); err != nil {
			t.Fatal(err)
		}
		if token, err := c.token(); conclude(io.Discard, err) != exitInput {
			t.Errorf("%s: token %q, error %v", name, token, err)
		}
	}
	c := &serveCmd{DB: filepath.Join(dir, "new"), Listen: "127.0.0.1:0"}
	first, err := c.token()
	if err != nil || len(first) < 43 {
		t.Errorf("a new token: %q, %v", first, err)
	}
	if again, err := c.token(); again != first || err != nil {
		t.Errorf("the same database, another token: %v", err)
	}
}

// Mistakes are found before anything is opened, and have the exit codes that
// are documented.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no database"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"--listen", "nowhere"}, exitUsage, "missing port"},
		{[]string{"--listen", "127.0.0.1:999999"}, exitUsage, "invalid port"},
		{[]string{"--listen", "127.0.0.1:999999", "--token-file", text}, exitUsage, "invalid port"},
		{[]string{"--listen", "0.0.0.0:0"}, exitUsage, "needs a token"},
		{[]string{"--workers=-1"}, exitUsage, "--workers"},
		{[]string{"--token-file", filepath.Join(dir, "none")}, exitInput, "none"},
		{[]string{"--db", text}, exitInput, "not a troupe database"},
		{[]string{"--db", filepath.Join(dir, "none", "x.db")}, exitInput, "beside the database"},
		{[]string{"--db", filepath.Join(dir, "none.db"), "--no-verify"}, exitInput, "none.db"},
	} {
		var said bytes.Buffer
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "x.db")}, c.args...)
		if got := run(args, strings.NewReader(""), io.Discard, &said); got != c.want || !strings.Contains(said.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d; %q, want %q in it", c.args, got, c.want, said.String(), c.says)
		}
	}
}
