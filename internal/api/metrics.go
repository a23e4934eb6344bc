package api

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"troupe/data/store"
	"troupe/verifier/verdict"
)

// metrics are what Prometheus reads at /metrics. Labels take values from fixed
// sets only: routes of the table, methods, statuses, verdicts; runs are those
// that are running, at most maxGaugedRuns of them.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	verdicts *prometheus.CounterVec
	judging  *prometheus.HistogramVec
	refused  *prometheus.CounterVec
}

// Buckets in seconds: answers about runs take milliseconds, programs up to a
// minute.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	judgingBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
)

// newMetrics makes the server's metrics.
func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "troupe_http_requests_total",
			Help: "Requests answered, by route, method and status."}, []string{"route", "method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "troupe_http_request_seconds",
			Help: "Time to answer a request; live updates are left out.", Buckets: requestBuckets}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "troupe_http_requests_in_flight",
			Help: "Requests being answered."}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "troupe_verdicts_total",
			Help: "Verdicts given, by the route they were asked for and their code."}, []string{"via", "code"}),
		judging: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "troupe_judging_seconds",
			Help: "Time from asking to the verdict on one record, waiting included.", Buckets: judgingBuckets}, []string{"via"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "troupe_queue_refused_total",
			Help: "Verification requests refused or given up, by reason."}, []string{"reason"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, m.verdicts, m.judging, m.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(s.opt.Version))
	for _, code := range []verdict.Code{verdict.AC, verdict.WA, verdict.RE, verdict.TLE, verdict.MLE, verdict.OLE, verdict.CE, verdict.NA, verdict.IE} {
		m.verdicts.WithLabelValues("code", string(code)) // there from the start, so that rates begin at 0
	}
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("troupe_uptime_seconds", "Time since the server started.", func() float64 { return time.Since(s.started).Seconds() })
	gauge("troupe_connections", "Open connections.", func() float64 { return float64(s.door.open()) })
	gauge("troupe_queue_length", "Verification requests being judged or waiting.", func() float64 { return float64(len(s.queue)) })
	gauge("troupe_queue_limit", "Verification requests from which on more are refused.", func() float64 { return float64(cap(s.queue)) })
	if s.opt.Pool != nil {
		gauge("troupe_workers_busy", "Sandbox workers that run or are held for a program.", func() float64 { return float64(s.opt.Pool.Busy()) })
		gauge("troupe_workers", "Sandbox workers.", func() float64 { return float64(s.opt.Pool.Workers()) })
	}
	if s.opt.DB != nil {
		gauge("troupe_followers", "Clients that follow a run.", func() float64 { return float64(s.commits.following()) })
		m.registry.MustRegister(&runGauges{db: s.opt.DB})
	}
	return m
}

// buildInfo is a constant 1 whose labels say what is running.
func buildInfo(version string) prometheus.Collector {
	revision := "unknown"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "troupe_build_info", Help: "What is running.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision, "goversion": runtime.Version(), "sqlite": store.EngineVersion()}})
	g.Set(1)
	return g
}

// handler answers GET /metrics.
func (m *metrics) handler() http.HandlerFunc {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: writeAll / 2}).ServeHTTP
}

// count is the middleware that counts requests under the route they matched.
func (m *metrics) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		seen := &statusWriter{ResponseWriter: w}
		defer func() {
			route, status := routeOf(r), cmp.Or(seen.status, http.StatusOK)
			if p := recover(); p != nil { // an answer that the recoverer broke off
				status = http.StatusInternalServerError
				defer panic(p)
			}
			m.requests.WithLabelValues(route, methodOf(r), strconv.Itoa(status)).Inc()
			if route != streamRoute {
				m.seconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
			}
		}()
		next.ServeHTTP(seen, r)
	})
}

// routeOf is the pattern that a request matched; what no route took is one
// value, whatever was asked for.
func routeOf(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "none"
}

func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return r.Method
	}
	return "other"
}

// statusWriter remembers the status of an answer; 0 as long as it is not begun.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter; the first status counts.
func (w *statusWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// FlushError begins an answer too; http.ResponseController looks for it.
func (w *statusWriter) FlushError() error {
	w.status = cmp.Or(w.status, http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController find the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// judged counts one verdict.
func (m *metrics) judged(via string, code verdict.Code, since time.Time) {
	m.verdicts.WithLabelValues(via, string(code)).Inc()
	m.judging.WithLabelValues(via).Observe(time.Since(since).Seconds())
}

// maxGaugedRuns bounds the runs that have gauges.
const maxGaugedRuns = 20

// runGauges reads the newest values of running runs from the database.
type runGauges struct{ db *store.DB }

var (
	runLabels        = []string{"run", "task", "workflow", "policy"}
	runIterationDesc = prometheus.NewDesc("troupe_run_iteration", "Newest iteration of a running run.", runLabels, nil)
	runRewardDesc    = prometheus.NewDesc("troupe_run_reward", "Mean reward of its newest iteration.", runLabels, nil)
	runsDesc         = prometheus.NewDesc("troupe_runs", "Runs in the database, by state.", []string{"state"}, nil)
	runsReadDesc     = prometheus.NewDesc("troupe_runs_readable", "Whether the run database answered.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g *runGauges) Describe(ch chan<- *prometheus.Desc) {
	ch <- runIterationDesc
	ch <- runRewardDesc
	ch <- runsDesc
	ch <- runsReadDesc
}

// Collect implements prometheus.Collector.
func (g *runGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	readable := 1.0
	if err := g.collect(ctx, ch); err != nil {
		readable = 0
	}
	ch <- prometheus.MustNewConstMetric(runsReadDesc, prometheus.GaugeValue, readable)
}

func (g *runGauges) collect(ctx context.Context, ch chan<- prometheus.Metric) error {
	runs, err := g.db.Runs(ctx)
	if err != nil {
		return err
	}
	states := map[string]int{store.Running: 0, store.Done: 0, store.Stopped: 0, store.Failed: 0}
	gauged := 0
	for i := len(runs) - 1; i >= 0; i-- { // the newest first
		r := runs[i]
		if _, known := states[r.State]; known {
			states[r.State]++
		}
		if r.State != store.Running || gauged == maxGaugedRuns {
			continue
		}
		gauged++
		labels := []string{r.ID, r.Task, r.Workflow, r.Policy}
		last, err := g.db.LastIteration(ctx, r.ID)
		if err != nil {
			return err
		}
		ch <- prometheus.MustNewConstMetric(runIterationDesc, prometheus.GaugeValue, float64(last), labels...)
		rewards, err := g.db.Series(ctx, r.ID, []string{"critic/rewards/mean"}, max(last, 0), false)
		if err != nil {
			return err
		}
		if n := len(rewards); n > 0 && rewards[n-1].Value != nil {
			ch <- prometheus.MustNewConstMetric(runRewardDesc, prometheus.GaugeValue, *rewards[n-1].Value, labels...)
		}
	}
	for state, n := range states {
		ch <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(n), state)
	}
	return nil
}
