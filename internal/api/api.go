// Package api serves a run database and the verifiers over HTTP: status of
// runs for people and dashboards, verification for trainers. It answers local
// callers unless told otherwise, asks for a token before it runs code, and
// never takes SQL. What it promises is listed in docs/security.md.
//
// # Live updates
//
// GET /api/runs/{id}/stream sends server-sent events, so `new EventSource(url)`
// follows a run (a server that wants a token needs a fetch that reads the body,
// since an EventSource can't send one). Every message has an id, the last
// iteration it covers; a client that comes back with it in Last-Event-ID, or
// in ?after=N, gets what it missed, and without one everything from the
// beginning. The messages are
//
//	event: run        data: the run as in /api/runs, at the start and whenever
//	                  its state or iteration changes
//	event: iteration  data: {"iteration": n, "metrics": […], "evaluations": […],
//	                  "events": […]}, elements as in the JSON routes, without
//	                  the metrics of single slots; once an iteration, when it is
//	                  committed
//	event: rewind     data: {"iteration": n}: the run was killed and goes on
//	                  after n; what came later is gone and will come again
//	event: end        the server stops
//
// with a comment as heartbeat every 15 seconds. At most 32 clients follow runs
// at once (then 503), and one that takes 5 seconds to read a message is
// dropped.
//
// # Answers about runs
//
// They are remembered until something is committed, so that many readers cost
// a trainer no more than one. Long ones come in pages or thinned: see
// /openapi.json.
package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"troupe/data/store"
	"troupe/sandbox"
	"troupe/verifier"
)

// Limits of the listener. Slow, huge and many clients all meet one of them.
const (
	maxConnections = 256
	maxHeader      = 16 << 10
	readHeader     = 5 * time.Second
	readAll        = 15 * time.Second
	writeAll       = 30 * time.Second
	idle           = 60 * time.Second
	verifyWait     = 10 * time.Minute // a batch's time
	mathWidth      = 256              // math answers of one batch on their way at once, for each worker
	dropInWait     = 2 * time.Minute  // how long a drop-in request may wait for its turn
)

// When the server stops, what runs has finishTime to end by itself; then it is
// told to, and has the rest of drain to answer.
const (
	drain      = 10 * time.Second
	finishTime = 8 * time.Second
)

// Options configure a server.
type Options struct {
	Addr    string          // host:port; port 0 takes a free one
	Token   string          // required for code-running requests, and for all when Addr is no loopback address
	Names   []string        // host names, besides loopback, under which clients may call
	Version string          // of the program, for its metrics
	DB      *store.DB       // runs to show; opened read-only
	Pool    *sandbox.Pool   // runs programs; nil leaves the routes that run code out
	Judge   *verifier.Judge // judges on Pool, for the drop-in routes
	// VerifyCode and VerifyMath judge records; nil leaves their routes out.
	VerifyCode, VerifyMath Record
	Workers                int // records of one batch judged at once
	// OpenDropIn lets loopback callers use the drop-in routes without a token.
	OpenDropIn bool
	Log        *slog.Logger
}

// Server is a listening API.
type Server struct {
	opt      Options
	door     *door
	http     *http.Server
	guard    *guard
	metrics  *metrics
	started  time.Time
	queue    chan struct{}   // places in the line for workers
	large    chan struct{}   // places for large bodies
	stopping chan struct{}   // closed when the server is to stop
	inFlight context.Context // ends when what runs has had its time to finish
	giveUp   context.CancelFunc
	repeats  repeats      // runs of drop-in requests
	watch    *store.Watch // nil without a database, as the next two
	answers  *answers
	commits  *commits
}

// ErrOpenBind refuses an address that other machines reach when there is no
// token to tell callers apart.
var ErrOpenBind = errors.New("an address that other machines can reach needs a token (--token-file)")

// Local reports whether only this machine reaches an address, host:port.
func Local(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return false, fmt.Errorf("listen on %q: %w", addr, err)
	}
	return isLoopback(host), nil
}

// Listen binds the address. It serves nothing until Serve is called.
func Listen(opt Options) (*Server, error) {
	local, err := Local(opt.Addr)
	if err != nil {
		return nil, err
	}
	if !local && opt.Token == "" {
		return nil, fmt.Errorf("listen on %q: %w", opt.Addr, ErrOpenBind)
	}
	l, err := net.Listen("tcp", opt.Addr)
	if err != nil {
		return nil, err
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, door: newDoor(l, maxConnections), started: time.Now(), stopping: make(chan struct{}),
		queue: make(chan struct{}, max(opt.Workers, 1)+backlog), large: make(chan struct{}, largeBodies),
		repeats: repeats{runs: map[[sha256.Size]byte]*repeat{}}}
	s.inFlight, s.giveUp = context.WithCancel(context.Background())
	if opt.DB != nil {
		if s.watch, err = opt.DB.Watch(); err != nil {
			l.Close()
			return nil, err
		}
		s.answers = &answers{watch: s.watch}
		s.commits = &commits{watch: s.watch, log: opt.Log, followers: map[chan struct{}]bool{}}
	}
	s.metrics = newMetrics(s)
	s.guard = newGuard(l.Addr().(*net.TCPAddr).Port, opt.Names, opt.Token, !local)
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: readHeader,
		ReadTimeout:       readAll,
		WriteTimeout:      writeAll,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withVisitor,
		ErrorLog:          slog.NewLogLogger(opt.Log.Handler(), slog.LevelWarn),
	}
	return s, nil
}

// Addr is the address the server listens on, with the port it was given.
func (s *Server) Addr() string { return s.door.Addr().String() }

// Serve answers requests until ctx ends, then finishes what runs, for at most
// ten seconds.
func (s *Server) Serve(ctx context.Context) error {
	if s.commits != nil {
		defer s.commits.close()
	}
	defer s.repeats.wg.Wait() // after giveUp, which ends them
	defer s.giveUp()
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		close(s.stopping)
		grace, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		enough := time.AfterFunc(finishTime, s.giveUp)
		defer enough.Stop()
		err := s.http.Shutdown(grace)
		if err != nil {
			s.http.Close()
		}
		stopped <- err
	}()
	if err := s.http.Serve(s.door); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stop serving %s: requests still ran after %v: %w", s.Addr(), drain, err)
	}
	return nil
}

// allowed lists the methods that a path takes, for a 405 (RFC 9110, section 15.5.6).
func allowed(r chi.Routes, path string) (methods []string) {
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if r.Match(chi.NewRouteContext(), m, path) {
			if methods = append(methods, m); m == http.MethodGet {
				methods = append(methods, http.MethodHead) // by middleware.GetHead
			}
		}
	}
	return methods
}

// routes is the table of what the server answers. openapi.json documents it; a
// test compares the two.
func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	// Paths are taken as they come: what the guard looked at is what is routed.
	r.Use(s.metrics.count, s.recoverer, welcome, s.guard.check, wellFormed, middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is nothing at %s", r.URL.Path)
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Allow", strings.Join(allowed(r, q.URL.Path), ", "))
		fail(w, http.StatusMethodNotAllowed, "%s does not take %s", q.URL.Path, q.Method)
	})
	r.Get("/healthz", s.health)
	r.Get("/metrics", s.metrics.handler())
	r.Get("/openapi.json", openAPI)
	s.statusRoutes(r)
	s.dashboardRoutes(r)
	s.verifyRoutes(r)
	if s.opt.Pool != nil {
		s.dropIn(r)
	}
	return r
}

// verifyRoutes judge answers for trainers that send the token.
func (s *Server) verifyRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.guard.withToken, s.queued)
		if s.opt.VerifyCode != nil {
			r.Post("/v1/verify/code", s.lasting(s.verify("code", s.opt.Workers+1, s.opt.VerifyCode)))
		}
		if s.opt.VerifyMath != nil {
			// What waits while a worker judges answers makes up its next batch.
			r.Post("/v1/verify/math", s.lasting(s.verify("math", mathWidth*s.opt.Workers, s.opt.VerifyMath)))
		}
	})
}

// dropIn adds the routes of other reward servers. Their clients can't send a
// token, so a loopback caller needs none here when the server was started with
// OpenDropIn; the Host, Origin and content-type checks still keep web pages out.
func (s *Server) dropIn(r chi.Router) {
	r.Group(func(r chi.Router) {
		if !s.opt.OpenDropIn {
			r.Use(s.guard.withToken)
		}
		r.Get("/v1/ping", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, "pong") })
		r.Get("/health", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, http.StatusOK, map[string]string{"status": "healthy"})
		})
		r.Get("/api/v2/runtimes", s.pistonRuntimes)
		r.Post("/run_code", s.inLine(s.fusionRunCode))
		r.Post("/submit", s.inLine(s.fusionSubmit))
		r.Post("/api/v2/execute", s.inLine(s.pistonExecute))
		r.Post("/test_program", s.inLine(s.instructAsserts))
		r.Post("/test_program_stdio", s.inLine(s.instructStdio))
	})
}

// health answers whether the server takes requests.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	status, word := http.StatusOK, "ok"
	select {
	case <-s.stopping:
		status, word = http.StatusServiceUnavailable, "stopping"
	default:
	}
	reply(w, status, healthAnswer{word, int(time.Since(s.started).Seconds())})
}

type healthAnswer struct {
	Status  string `json:"status"`
	UptimeS int    `json:"uptime_s"`
}
