package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/data/store"
)

// TestMalformedQueriesAreRefused: what Go's reading of a query string would drop
// in silence is a 400, on every kind of route.
func TestMalformedQueriesAreRefused(t *testing.T) {
	s := start(t, Options{DB: runLog(t)})
	for _, path := range []string{"/api/runs", "/api/runs/abc/metrics", "/api/runs/abc/stream", "/api/grid", "/healthz", "/metrics", "/openapi.json", "/"} {
		for _, query := range []string{"limit=%zz", "a;b", "limit=1;from=2", "%"} {
			status, body := request{path: path + "?" + query}.do(t, s)
			if status != 400 || !strings.HasPrefix(body, `{"error":"the query string can't be read: `) {
				t.Errorf("%s?%s: %d %s", path, query, status, body)
			}
		}
	}
	if status, body := (request{path: "/api/runs/abc/metrics?limit=1&from=%30"}).do(t, s); status != 200 {
		t.Errorf("a query string that can be read: %d %s", status, body)
	}
}

// TestALargeAnswerWaitsForASlowReader has a client take seven MiB over several
// times the time that an ordinary answer has.
func TestALargeAnswerWaitsForASlowReader(t *testing.T) {
	w, db := liveLog(t)
	long := strings.Repeat("x", 1<<20)
	for n := range 7 {
		if err := w.Write(t.Context(), store.Batch{Run: "abc", Iteration: n, Events: []store.Event{{Kind: "note", Severity: "info", Message: long}}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Listen(Options{Addr: "127.0.0.1:0", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	s.http.WriteTimeout = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	defer func() { cancel(); <-done }()
	client := &http.Client{Transport: &http.Transport{DialContext: narrow}}
	resp, err := client.Get("http://" + s.Addr() + "/api/runs/abc/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	time.Sleep(time.Second)
	n := int64(0)
	for err == nil {
		var k int64
		k, err = io.CopyN(io.Discard, resp.Body, 1<<20)
		n += k
		time.Sleep(200 * time.Millisecond)
	}
	if err != io.EOF || n < 7<<20 || n != resp.ContentLength {
		t.Errorf("%d bytes of %d came: %v", n, resp.ContentLength, err)
	}
}

// narrow dials a connection that holds little of what nobody reads.
func narrow(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return c, err
}

// TestAStalledReaderIsDropped: a reader that takes nothing, or too little, loses
// its place long before the whole answer's time is over.
func TestAStalledReaderIsDropped(t *testing.T) {
	const grace = 300 * time.Millisecond
	took := make(chan time.Duration, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		began := time.Now()
		send(w, http.StatusOK, make([]byte, 32<<20), grace) // 256 s at bodyRate
		took <- time.Since(began)
	}))
	defer server.Close()
	for pause, most := range map[time.Duration]time.Duration{time.Hour: 5 * time.Second, 50 * time.Millisecond: 60 * time.Second} {
		client := &http.Client{Transport: &http.Transport{DialContext: narrow}}
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				select {
				case <-stop:
					return
				case <-time.After(pause): // a KiB each: 20 KiB a second
					if _, err := io.CopyN(io.Discard, resp.Body, 1<<10); err != nil {
						return
					}
				}
			}
		}()
		select {
		case d := <-took:
			t.Logf("a pause of %v: dropped after %v", pause, d)
		case <-time.After(most):
			t.Errorf("a pause of %v: still served after %v", pause, most)
		}
		close(stop)
		resp.Body.Close()
		<-read
	}
}

// hold takes all of the log's connections, so that no question is answered until
// the test ends or release is called.
func hold(t *testing.T, db *store.DB) (release func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var open []*store.Rows
	for {
		own, stop := context.WithTimeout(ctx, 500*time.Millisecond)
		got := make(chan *store.Rows, 1)
		go func() {
			rows, err := db.Query(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n", "")
			if err != nil {
				rows = nil
			}
			got <- rows
		}()
		select {
		case r := <-got:
			stop()
			if r == nil {
				t.Fatal("a connection can't be held")
			}
			open = append(open, r)
			continue
		case <-own.Done(): // all are taken; the last one waits in line
			stop()
		}
		return func() {
			cancel()
			for _, r := range open {
				r.Close()
			}
			<-got
		}
	}
}

// TestStreamsAskTheDatabaseForTwoSeconds: who follows a run waits no longer for
// the database than others, at the beginning and later.
func TestStreamsAskTheDatabaseForTwoSeconds(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	s := start(t, Options{DB: db})
	following := listen(t, t.Context(), "http://"+s.Addr()+"/api/runs/abc/stream", "")
	next(t, following, "iteration")
	defer hold(t, db)()
	began := time.Now()
	addIteration(t, w, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 4*statementTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.Addr()+"/api/runs/abc/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("no answer after %v: %v", time.Since(began), err)
	}
	resp.Body.Close()
	if resp.StatusCode != 503 {
		t.Errorf("a new stream: status %d", resp.StatusCode)
	}
	for more := true; more; {
		select {
		case _, more = <-following:
		case <-time.After(4 * statementTime):
			t.Fatal("a stream waits for the database")
		}
	}
}

// TestAPanicInAnAnswerBreaksItOff: an answer that was begun gets no error body
// behind it. The client sees that it is not whole, and the log has the stack.
func TestAPanicInAnAnswerBreaksItOff(t *testing.T) {
	var log bytes.Buffer
	s, err := Listen(Options{Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.door.Close()
	for name, begin := range map[string]func(http.ResponseWriter){
		"header": func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"body":   func(w http.ResponseWriter) { io.WriteString(w, `{"runs":[`) },
		"flush":  func(w http.ResponseWriter) { http.NewResponseController(w).Flush() },
		"none":   func(http.ResponseWriter) {},
	} {
		log.Reset()
		server := httptest.NewServer(s.metrics.count(s.recoverer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			begin(w)
			panic("a fault of ours")
		}))))
		resp, err := http.Get(server.URL)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		server.Close() // and its handlers have ended
		if name == "none" {
			if err != nil || resp.StatusCode != 500 || !strings.Contains(string(body), "internal error ") {
				t.Errorf("not begun: %q, %v", body, err)
			}
		} else if err == nil || errors.Is(err, context.DeadlineExceeded) || strings.Contains(string(body), "error") {
			t.Errorf("begun with its %s: %q, %v", name, body, err)
		}
		if text := log.String(); !strings.Contains(text, "a fault of ours") || strings.Contains(text, "broken off") != (name != "none") {
			t.Errorf("%s: the log says %q", name, text)
		}
	}
	w := httptest.NewRecorder()
	s.metrics.handler()(w, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(w.Body.String(), `troupe_http_requests_total{code="500",method="GET",route="none"} 4`) {
		t.Error("the four are not counted as errors")
	}
}
