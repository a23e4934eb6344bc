package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSlowClientsDoNotShutOutOthers has more clients that send a byte a second
// than the server has places, some in their headers and some in a body. They
// are closed soon, and others are answered meanwhile.
func TestSlowClientsDoNotShutOutOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("measures times")
	}
	s := start(t, withPrograms(pool(t)))
	alone := askTwenty(t, s)
	var wg sync.WaitGroup
	slow := maxConnections + 44
	ended := make(chan time.Duration, slow)
	for i := range slow {
		wg.Go(func() {
			c, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			began := time.Now()
			if i%2 == 0 {
				fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nX-Slow: ", s.guard.port)
			} else {
				fmt.Fprintf(c, "POST /run_code HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", s.guard.port)
			}
			gone := make(chan struct{})
			go func() { // whatever the server says ends with the connection
				io.Copy(io.Discard, c)
				close(gone)
			}()
			for {
				select {
				case <-gone:
					ended <- time.Since(began)
					return
				case <-time.After(time.Second):
					fmt.Fprint(c, "a")
				}
			}
		})
	}
	for s.door.open() < maxConnections/2 {
		time.Sleep(10 * time.Millisecond)
	}
	beside := askTwenty(t, s)
	wg.Wait()
	close(ended)
	var longest time.Duration
	for d := range ended {
		longest = max(longest, d)
	}
	t.Logf("A4: %d slow clients, the last closed after %v; others: median %v alone, %v beside them", slow, longest, alone, beside)
	// A second is left for a busy machine, here and below.
	if longest > readHeader+2*time.Second {
		t.Errorf("a slow client was served for %v", longest)
	}
	if beside > 2*alone+time.Second {
		t.Errorf("others waited %v beside slow clients and %v alone", beside, alone)
	}
}

// askTwenty is the median time of twenty requests on connections of their own.
func askTwenty(t *testing.T, s *Server) time.Duration {
	t.Helper()
	var took []time.Duration
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for range 20 {
		began := time.Now()
		resp, err := client.Get("http://" + s.Addr() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// TestHugeAndDeepBodies sends what must not be read to its end.
func TestHugeAndDeepBodies(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	send := func(body io.Reader, length int64) (int, int64) {
		counted := &counter{r: body}
		r, err := http.NewRequest("POST", "http://"+s.Addr()+"/run_code", counted)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = length
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return 0, counted.sent() // closed while we were sending, which is as good
		}
		resp.Body.Close()
		return resp.StatusCode, counted.sent()
	}
	for _, length := range []int64{-1, 1 << 30} { // chunked, and announced
		status, sent := send(io.LimitReader(zeros{}, 1<<30), length)
		if status != 413 && status != 0 || sent == 1<<30 {
			t.Errorf("1 GiB with length %d: status %d after %d bytes", length, status, sent)
		}
		// What was sent includes tens of MiB in the sockets' buffers: what is read of
		// a body shows without them.
		body, w := &counter{r: io.LimitReader(zeros{}, 1<<30)}, &deadlines{ResponseRecorder: *httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "http://"+s.Addr()+"/run_code", body)
		r.ContentLength, r.RemoteAddr = length, "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/json")
		s.http.Handler.ServeHTTP(w, r)
		if w.Code != 413 || body.sent() > maxInputBody+1 {
			t.Errorf("1 GiB with length %d: status %d after %d bytes were read: %s", length, w.Code, body.sent(), w.Body)
		}
	}
	deep := `{"language":"python","code":"","x":` + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5) + "}"
	if status, _ := send(strings.NewReader(deep), int64(len(deep))); status != 422 {
		t.Errorf("100,000 levels of JSON: status %d", status)
	}
	if status, body := (request{path: "/healthz"}).do(t, s); status != 200 {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// counter counts what a client has sent.
type counter struct {
	r  io.Reader
	mu sync.Mutex
	n  int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.mu.Lock()
	c.n += int64(n)
	c.mu.Unlock()
	return n, err
}

func (c *counter) sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// deadlines is a connection's side of an answer, with the time it has.
type deadlines struct {
	httptest.ResponseRecorder
	until time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

func (d *deadlines) SetReadDeadline(time.Time) error { return nil }

// TestAnAnswerIsReadAtAPace: a request may have been allowed ten minutes, but who
// does not read its answer does not keep its place that long.
func TestAnAnswerIsReadAtAPace(t *testing.T) {
	for _, size := range []int{1, 8 << 20} {
		w := &deadlines{ResponseRecorder: *httptest.NewRecorder()}
		reply(w, http.StatusOK, strings.Repeat("a", size))
		if left := time.Until(w.until); left < writeAll-2*time.Second || left > writeAll+2*time.Second {
			t.Errorf("an answer of %d bytes may stand still for %v, want %v", size, left, writeAll)
		}
		if w.Body.Len() != size+3 {
			t.Errorf("of an answer of %d bytes %d were written", size+3, w.Body.Len())
		}
	}
}
