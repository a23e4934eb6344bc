package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

// statementTime bounds one question to the database, so that a heavy page can't
// hold a reader for long.
const statementTime = 2 * time.Second

// statusRoutes shows the run database, if there is one.
func (s *Server) statusRoutes(r chi.Router) {
	if s.opt.DB == nil {
		return
	}
	r.Get("/runs", answer(s.listRuns))
	r.Get("/runs/{id}", answer(s.showRun))
	r.Get("/runs/{id}/metrics", answer(s.listMetrics))
	r.Get("/runs/{id}/events", answer(s.listEvents))
	r.Get("/runs/{id}/iterations/{n}/episodes", answer(s.listEpisodes))
}

// answer wraps a question to the database: its errors become statuses here and
// nowhere else.
func answer[T any](ask func(ctx context.Context, r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), statementTime)
		defer cancel()
		v, err := ask(ctx, r)
		var bad badParameter
		switch {
		case err == nil:
			reply(w, http.StatusOK, v)
		case errors.Is(err, store.ErrNoRun):
			fail(w, http.StatusNotFound, "%v", err)
		case errors.As(err, &bad):
			fail(w, http.StatusBadRequest, "%v", bad)
		case errors.Is(err, context.DeadlineExceeded):
			fail(w, http.StatusServiceUnavailable, "the database did not answer within %v", statementTime)
		default:
			fail(w, http.StatusInternalServerError, "read the run database: %v", err)
		}
	}
}

// badParameter is a fault of the caller's query string or path.
type badParameter string

func (b badParameter) Error() string { return string(b) }

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
		evals[i] = evaluation{e.Iteration, e.Split, e.Temperature, e.N, e.Accuracy, e.Stderr}
	}
	return map[string]any{"run": sum, "config": run.Config, "evaluations": evals}, nil
}

type metric struct {
	Iteration int      `json:"iteration"`
	Role      string   `json:"role,omitempty"`
	Slot      *int     `json:"slot,omitempty"`
	Metric    string   `json:"metric"`
	Value     *float64 `json:"value"`
}

// listMetrics is GET /api/runs/{id}/metrics?from=N.
func (s *Server) listMetrics(ctx context.Context, r *http.Request) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.Metrics(ctx, run.ID, from)
	if err != nil {
		return nil, err
	}
	out := make([]metric, len(rows))
	for i, m := range rows {
		out[i] = metric{Iteration: m.Iteration, Role: m.Role, Metric: m.Name, Value: m.Value}
		if m.Role != "" && m.Slot != store.AllSlots {
			out[i].Slot = &m.Slot
		}
	}
	return map[string]any{"run": run.ID, "metrics": out}, nil
}
