package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

type event struct {
	Iteration int      `json:"iteration"`
	Kind      string   `json:"kind"`
	Role      string   `json:"role,omitempty"`
	Severity  string   `json:"severity"`
	Message   string   `json:"message"`
	Value     *float64 `json:"value"`
}

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
	out := make([]event, len(rows))
	for i, e := range rows {
		out[i] = event{e.Iteration, e.Kind, e.Role, e.Severity, e.Message, e.Value}
	}
	return map[string]any{"run": run.ID, "events": out}, nil
}

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

// pageSize bounds the episodes in one answer.
const pageSize = 200

// listEpisodes is GET /api/runs/{id}/iterations/{n}/episodes?offset=N: the
// episodes of an iteration with the text of every logged call.
func (s *Server) listEpisodes(ctx context.Context, r *http.Request) (any, error) {
	n, err := strconv.Atoi(chi.URLParam(r, "n"))
	if err != nil || n < 0 {
		return nil, badParameter("the iteration must be a whole number of 0 or more")
	}
	offset, err := number(r, "offset", 0)
	if err != nil {
		return nil, err
	}
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.Episodes(ctx, run.ID, n)
	if err != nil {
		return nil, err
	}
	total := len(rows)
	rows = rows[min(offset, total):min(offset+pageSize, total)]
	out := make([]episode, len(rows))
	for i, e := range rows {
		out[i] = episode{Split: e.Split, Temperature: e.Temperature, Task: e.Task, Rollout: e.Rollout, Verdict: e.Verdict, Kept: e.Kept}
		if e.Rewarded {
			out[i].Reward = &e.Reward
		}
		if out[i].Calls, err = s.callsOf(ctx, run.ID, n, e.At); err != nil {
			return nil, err
		}
	}
	return map[string]any{"run": run.ID, "iteration": n, "total": total, "offset": offset, "episodes": out}, nil
}

func (s *Server) callsOf(ctx context.Context, run string, iteration int, at store.At) ([]call, error) {
	calls, err := s.opt.DB.CallsOf(ctx, run, iteration, at)
	if err != nil {
		return nil, err
	}
	out := make([]call, len(calls))
	for i, c := range calls {
		out[i] = call{c.Role, c.Slot, c.Turn, c.Text, c.Tier, c.Finish, len(c.IDs), c.Advantage}
	}
	return out, nil
}
