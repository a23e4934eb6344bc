package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// guard decides who may call. Every request passes it, whatever address the
// server is bound to: a page in the user's browser must not reach the API by
// rebinding a name to the loopback address (CVE-2024-28224 is such a case).
type guard struct {
	port     string
	names    []string
	token    [sha256.Size]byte
	hasToken bool
	always   bool // the token is needed for reading too
	cross    *http.CrossOriginProtection
}

func newGuard(port int, names []string, token string, always bool) *guard {
	return &guard{
		port: strconv.Itoa(port), names: names,
		token: sha256.Sum256([]byte(token)), hasToken: token != "", always: always,
		cross: http.NewCrossOriginProtection(),
	}
}

// check is the middleware.
func (g *guard) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !g.hostAllowed(r.Host):
			fail(w, http.StatusForbidden, "host %q is not a name of this server", r.Host)
		case !g.originAllowed(r.Header):
			fail(w, http.StatusForbidden, "origin %q may not call this server", r.Header.Get("Origin"))
		case g.cross.Check(r) != nil || embeds(r):
			fail(w, http.StatusForbidden, "cross-origin requests are refused")
		case g.always && !isAsset(r.URL.Path) && !g.authorized(r):
			unauthorized(w)
		case r.ContentLength > bodyLimit(r.URL.Path):
			w.Header().Set("Connection", "close") // what it sends is not read
			fail(w, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", bodyLimit(r.URL.Path))
		case hasBody(r) && !isJSON(r):
			fail(w, http.StatusUnsupportedMediaType, "the body must be application/json")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, bodyLimit(r.URL.Path))
			next.ServeHTTP(w, r)
		}
	})
}

// withToken guards routes that change something or run code.
func (g *guard) withToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.authorized(r) {
			unauthorized(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	fail(w, http.StatusUnauthorized, "send the server's token: Authorization: Bearer TOKEN")
}

// authorized compares hashes, in constant time, so neither the token's length
// nor its beginning shows in the answer's timing.
func (g *guard) authorized(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || !g.hasToken {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// hostAllowed takes loopback names and literals and the configured names, each
// with our own port. A Host without a port means port 80 and is refused.
func (g *guard) hostAllowed(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || port != g.port {
		return false
	}
	return isLoopback(host) || slices.ContainsFunc(g.names, func(n string) bool { return strings.EqualFold(n, host) })
}

// originAllowed refuses every page but our own. A request without an Origin is
// no page's, or one of those that CrossOriginProtection, embeds and the Host
// check cover.
func (g *guard) originAllowed(h http.Header) bool {
	values := h.Values("Origin")
	if len(values) == 0 {
		return true
	}
	host, ok := strings.CutPrefix(values[0], "http://")
	return len(values) == 1 && ok && g.hostAllowed(host)
}

// embeds reports whether another page has the browser fetch something of ours,
// as a picture, a script or a stream that is held open: such a request has no
// Origin. A link to the dashboard may be followed.
func embeds(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" || !isAsset(r.URL.Path)
}

// isLoopback knows the names and numbers that mean this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == "" && a.IsLoopback() && !a.Is4In6()
}

// Bodies are small but for records that carry their tests and programs that
// carry their input. Of those larger than maxBody only a few are read at once.
const (
	maxBody      = 1 << 20
	maxBatchBody = 32 << 20
	maxInputBody = 16 << 20
)

// largeBodied are the routes that take more than maxBody.
var largeBodied = map[string]int64{
	"/v1/verify/code": maxBatchBody, "/v1/verify/math": maxBatchBody,
	"/run_code": maxInputBody, "/submit": maxInputBody, "/api/v2/execute": maxInputBody,
	"/test_program": maxInputBody, "/test_program_stdio": maxInputBody,
}

func bodyLimit(path string) int64 {
	if n, ok := largeBodied[path]; ok {
		return n
	}
	return maxBody
}

// isAsset knows the dashboard's own files, which hold no data.
func isAsset(path string) bool {
	file, ok := strings.CutPrefix(path, "/ui/")
	return path == "/" || ok && !strings.Contains(file, "/")
}

func hasBody(r *http.Request) bool { return r.ContentLength != 0 }

func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == "application/json"
}

// wellFormed refuses a query string that can't be read. Go's own reading of it
// leaves out what it does not understand, and a misspelt limit would pass for
// none.
func wellFormed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			fail(w, http.StatusBadRequest, "the query string can't be read: %v", err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recoverer turns a panic into a 500 with an id; the stack goes to the log
// only. An answer that was already begun can't become an error: its connection
// is closed, which tells the client that it is not whole.
func (s *Server) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			id := s.panicked(v)
			if seen.status != 0 {
				s.opt.Log.Error("an answer was broken off", slog.String("id", string(id)), slog.Int("status", seen.status))
				panic(http.ErrAbortHandler)
			}
			fail(w, http.StatusInternalServerError, "%v", id)
		}()
		next.ServeHTTP(seen, r)
	})
}

// internalError is a panic that was caught; the log has its stack under the id.
type internalError string

func (id internalError) Error() string { return "internal error " + string(id) }

// panicked logs a panic's value and the stack it is called on.
func (s *Server) panicked(v any) internalError {
	id := rand.Text()[:12]
	s.opt.Log.Error("panic", slog.String("id", id), slog.Any("value", v), slog.String("stack", string(debug.Stack())))
	return internalError(id)
}

// caught calls f and turns a panic into an error: on goroutines that recoverer
// does not see, and where others wait for what f returns.
func caught[T any](s *Server, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.panicked(p)
		}
	}()
	return f()
}
