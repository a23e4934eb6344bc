package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

type episode struct {
	Split       string   `json:"split"`
	Temperature float64  `json:"temperature"`
	Task        string   `json:"task"`
	Rollout     int      `json:"rollout"`
	Reward      *float64 `json:"reward"`
	Verdict     string   `json:"verdict"`
	Kept        bool     `json:"kept"`
	Calls       []call   `json:"calls,omitempty"`
}

type call struct {
	Role      string  `json:"role"`
	Slot      int     `json:"slot"`
	Turn      int     `json:"turn"`
	Text      string  `json:"text"`
	Tier      string  `json:"tier"`
	Finish    string  `json:"finish"`
	Tokens    int     `json:"tokens"`
	Advantage float64 `json:"advantage"`
}

// Episodes in one answer.
const (
	episodePage    = 50
	maxEpisodePage = 200
)

// listIterations is GET /api/runs/{id}/iterations: which iterations have
// episodes, and how many of their model calls were kept.
func (s *Server) listIterations(ctx context.Context, r *http.Request) (any, error) {
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.KeptIterations(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	out := make([]keptIteration, len(rows))
	for i, k := range rows {
		out[i] = keptIteration(k)
	}
	return map[string]any{"run": run.ID, "iterations": out}, nil
}

type keptIteration struct {
	Iteration int `json:"iteration"`
	Episodes  int `json:"episodes"`
	Calls     int `json:"calls"`
}

// ofIteration is the run and the iteration that a path names.
func (s *Server) ofIteration(ctx context.Context, r *http.Request) (run string, iteration int, err error) {
	n, err := strconv.Atoi(chi.URLParam(r, "n"))
	if err != nil || n < 0 {
		return "", 0, badParameter("the iteration must be a whole number of 0 or more")
	}
	found, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	return found.ID, n, err
}

// listEpisodes is GET /api/runs/{id}/iterations/{n}/episodes?offset=N&limit=N
// &split=&verdict=&task=: the episodes of an iteration with the text of every
// logged call.
func (s *Server) listEpisodes(ctx context.Context, r *http.Request) (any, error) {
	run, n, err := s.ofIteration(ctx, r)
	if err != nil {
		return nil, err
	}
	offset, err := number(r, "offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", episodePage)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	filter := store.EpisodeFilter{Split: q.Get("split"), Verdict: q.Get("verdict"), Task: q.Get("task")}
	rows, total, err := s.opt.DB.EpisodesPage(ctx, run, n, filter, offset, min(max(limit, 1), maxEpisodePage))
	if err != nil {
		return nil, err
	}
	out := make([]episode, len(rows))
	for i, e := range rows {
		if out[i], err = s.withCalls(ctx, run, n, e); err != nil {
			return nil, err
		}
	}
	return map[string]any{"run": run, "iteration": n, "total": total, "offset": offset, "episodes": out}, nil
}

func (s *Server) withCalls(ctx context.Context, run string, iteration int, e store.Episode) (episode, error) {
	out := episode{Split: e.Split, Temperature: e.Temperature, Task: e.Task, Rollout: e.Rollout, Verdict: e.Verdict, Kept: e.Kept}
	if e.Rewarded {
		out.Reward = &e.Reward
	}
	calls, err := s.opt.DB.CallsOf(ctx, run, iteration, e.At)
	if err != nil {
		return out, err
	}
	for _, c := range calls {
		out.Calls = append(out.Calls, call{c.Role, c.Slot, c.Turn, c.Text, c.Tier, c.Finish, len(c.IDs), c.Advantage})
	}
	return out, nil
}
