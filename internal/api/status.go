package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

// streamRoute is the one route whose answer does not end.
const streamRoute = "/api/runs/{id}/stream"

// statusRoutes shows the run database, if there is one.
func (s *Server) statusRoutes(r chi.Router) {
	if s.opt.DB == nil {
		return
	}
	r.Get(streamRoute, s.streamRun) // has deadlines of its own
	for path, ask := range map[string]func(context.Context, *http.Request) (any, error){
		"/api/runs":                              s.listRuns,
		"/api/runs/{id}":                         s.showRun,
		"/api/runs/{id}/metrics":                 s.listMetrics,
		"/api/runs/{id}/metrics/names":           s.listMetricNames,
		"/api/runs/{id}/series":                  s.listSeries,
		"/api/runs/{id}/events":                  s.listEvents,
		"/api/runs/{id}/iterations":              s.listIterations,
		"/api/runs/{id}/iterations/{n}/episodes": s.listEpisodes,
		"/api/runs/{id}/iterations/{n}/episode":  s.showEpisode,
		"/api/grid":                              s.listCells,
		"/api/compare":                           s.compareRuns,
	} {
		r.Get(path, s.answer(ask))
	}
}

// number reads a query parameter that is a non-negative integer; it is fallback
// when absent.
func number(r *http.Request, name string, fallback int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badParameter(name + " must be a whole number of 0 or more")
	}
	return n, nil
}

type runSummary struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Workflow  string `json:"workflow"`
	Policy    string `json:"policy"`
	Task      string `json:"task"`
	Model     string `json:"model"`
	Profile   string `json:"profile"`
	Numerics  string `json:"numerics"`
	Seed      uint64 `json:"seed"`
	Iteration int    `json:"iteration"`
	CreatedAt string `json:"created_at"`
}

func (s *Server) summary(ctx context.Context, r store.Run) (runSummary, error) {
	last, err := s.opt.DB.LastIteration(ctx, r.ID)
	return runSummary{ID: r.ID, State: r.State, Workflow: r.Workflow, Policy: r.Policy, Task: r.Task, Model: r.Model,
		Profile: r.Profile, Numerics: r.Numerics, Seed: r.Seed, Iteration: max(last, 0), CreatedAt: r.CreatedAt}, err
}

// listRuns is GET /api/runs.
func (s *Server) listRuns(ctx context.Context, _ *http.Request) (any, error) {
	runs, err := s.opt.DB.Runs(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]runSummary, len(runs))
	for i, r := range runs {
		if out[i], err = s.summary(ctx, r); err != nil {
			return nil, err
		}
	}
	return map[string]any{"runs": out}, nil
}

type evaluation struct {
	Iteration   int      `json:"iteration"`
	Split       string   `json:"split"`
	Temperature float64  `json:"temperature"`
	N           int      `json:"n"`
	Accuracy    *float64 `json:"accuracy"`
	Stderr      *float64 `json:"stderr"`
}

func evaluationOf(e store.EvalRow) evaluation {
	return evaluation{e.Iteration, e.Split, e.Temperature, e.N, e.Accuracy, e.Stderr}
}

// showRun is GET /api/runs/{id}: the run, its config and its evaluations.
func (s *Server) showRun(ctx context.Context, r *http.Request) (any, error) {
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	sum, err := s.summary(ctx, run)
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.Evals(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	evals := make([]evaluation, len(rows))
	for i, e := range rows {
		evals[i] = evaluationOf(e)
	}
	return map[string]any{"run": sum, "config": run.Config, "evaluations": evals}, nil
}

type event struct {
	Iteration int      `json:"iteration"`
	Kind      string   `json:"kind"`
	Role      string   `json:"role,omitempty"`
	Severity  string   `json:"severity"`
	Message   string   `json:"message"`
	Value     *float64 `json:"value"`
}

func eventOf(e store.EventRow) event {
	return event{e.Iteration, e.Kind, e.Role, e.Severity, e.Message, e.Value}
}

// maxEvents bounds the events of one answer; the newest are kept.
const maxEvents = 5000

// listEvents is GET /api/runs/{id}/events?from=N.
func (s *Server) listEvents(ctx context.Context, r *http.Request) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.Events(ctx, run.ID, from)
	if err != nil {
		return nil, err
	}
	rows = rows[max(0, len(rows)-maxEvents):]
	out := make([]event, len(rows))
	for i, e := range rows {
		out[i] = eventOf(e)
	}
	return map[string]any{"run": run.ID, "events": out}, nil
}
