package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"troupe/data/store"
)

// judgement is a verdict of an episode: on its answer, or on the call of the
// role it names.
type judgement struct {
	Role   string       `json:"role,omitempty"`
	Slot   int          `json:"slot"`
	Turn   int          `json:"turn"`
	Code   string       `json:"code"`
	Reason string       `json:"reason,omitempty"`
	Passed int          `json:"passed"`
	Total  int          `json:"total"`
	Fuel   uint64       `json:"fuel"`
	Cached bool         `json:"cached"`
	Tests  []testOutput `json:"tests"`
}

// testOutput is one test of a verdict: those that failed are logged, of the
// others only their number.
type testOutput struct {
	Test     int    `json:"test"` // from 0, in the task's order
	Code     string `json:"code"`
	Fuel     uint64 `json:"fuel"`
	Input    string `json:"input,omitempty"`
	Expected string `json:"expected,omitempty"`
	Assert   string `json:"assert,omitempty"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	Detail   string `json:"detail"` // the first difference, or the exception
}

// taskView is the task of an episode.
type taskView struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	Gold string `json:"gold,omitempty"`
}

// showEpisode is GET /api/runs/{id}/iterations/{n}/episode?split=&temperature=
// &task=&rollout=: one episode with its task, the text of every call and every
// verdict with the tests that failed, what was printed and what was expected.
// The place is in the query because task ids may hold slashes.
func (s *Server) showEpisode(ctx context.Context, r *http.Request) (any, error) {
	at, err := placeOf(r)
	if err != nil {
		return nil, err
	}
	run, n, err := s.ofIteration(ctx, r)
	if err != nil {
		return nil, err
	}
	row, ok, err := s.opt.DB.EpisodeAt(ctx, run, n, at)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, missing("the run has no such episode")
	}
	e, err := s.withCalls(ctx, run, n, row)
	if err != nil {
		return nil, err
	}
	task, _, err := s.opt.DB.TaskByID(ctx, run, at.Task)
	if err != nil {
		return nil, err
	}
	verdicts, err := s.judgements(ctx, run, n, at, task.Tests)
	if err != nil {
		return nil, err
	}
	return map[string]any{"run": run, "iteration": n, "episode": e,
		"task": taskView{at.Task, task.Kind, task.Text, task.Gold}, "verdicts": verdicts}, nil
}

func placeOf(r *http.Request) (store.At, error) {
	q := r.URL.Query()
	at := store.At{Split: q.Get("split"), Task: q.Get("task")}
	var err error
	if at.Rollout, err = number(r, "rollout", 0); err != nil {
		return at, err
	}
	if at.Temperature, err = strconv.ParseFloat(q.Get("temperature"), 64); err != nil {
		return at, badParameter("temperature must be a number")
	}
	return at, nil
}

func (s *Server) judgements(ctx context.Context, run string, n int, at store.At, tests string) ([]judgement, error) {
	verdicts, err := s.opt.DB.VerdictsOf(ctx, run, n, at)
	if err != nil {
		return nil, err
	}
	results, err := s.opt.DB.TestResultsOf(ctx, run, n, at)
	if err != nil {
		return nil, err
	}
	asked := loggedTests(tests)
	out := make([]judgement, len(verdicts))
	for i, v := range verdicts {
		out[i] = judgement{Role: v.Role, Slot: v.Slot, Turn: v.Turn, Code: v.Code, Reason: v.Reason,
			Passed: v.Passed, Total: v.Total, Fuel: v.Fuel, Cached: v.Cached, Tests: []testOutput{}}
		for _, t := range results {
			if t.CallAt != v.CallAt {
				continue
			}
			x := testOutput{Test: t.Test, Code: t.Code, Fuel: t.Fuel, Stdout: t.Stdout, Stderr: t.Stderr, Detail: t.Detail}
			if t.Test < len(asked) {
				x.Input, x.Expected, x.Assert = asked[t.Test].Input, asked[t.Test].Output, asked[t.Test].Assert
			}
			out[i].Tests = append(out[i].Tests, x)
		}
	}
	return out, nil
}

// loggedTest is a test as runs log their tasks.
type loggedTest struct{ Input, Output, Assert string }

// loggedTests reads a task's tests; none where they were too large to be
// copied into the log, of which then only a digest is there.
func loggedTests(text string) []loggedTest {
	var tests []loggedTest
	if json.Unmarshal([]byte(text), &tests) != nil {
		return nil
	}
	return tests
}
