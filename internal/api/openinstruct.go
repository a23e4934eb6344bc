package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"troupe/data"
	"troupe/verifier"
	"troupe/verifier/code"
	"troupe/verifier/verdict"
)

// The open-instruct routes answer as that project's code server does: POST
// /test_program with assertions, POST /test_program_stdio with inputs and
// outputs, GET /health. Its packed tests are read without unpickling anything.

type instructRequest struct {
	Program *string         `json:"program"`
	Tests   json.RawMessage `json:"tests"`
	TimeS   float64         `json:"max_execution_time"`
}

type instructResponse struct {
	Results  []int     `json:"results"`
	Runtimes []float64 `json:"runtimes"` // seconds; -1 where the test failed
}

// instructAsserts judges a program by one assertion a test.
func (s *Server) instructAsserts(w http.ResponseWriter, r *http.Request) {
	s.instruct(w, r, "test_program", func(raw json.RawMessage) ([]data.Test, error) {
		var asserts []string
		if err := json.Unmarshal(raw, &asserts); err != nil {
			return nil, err
		}
		tests := make([]data.Test, len(asserts))
		for i, a := range asserts {
			tests[i].Assert = a
		}
		return tests, nil
	})
}

// instructStdio judges a program by what it prints.
func (s *Server) instructStdio(w http.ResponseWriter, r *http.Request) {
	s.instruct(w, r, "test_program_stdio", func(raw json.RawMessage) ([]data.Test, error) {
		tests, _, err := data.ParseTests(raw, "")
		return tests, err
	})
}

func (s *Server) instruct(w http.ResponseWriter, r *http.Request, via string, parse func(json.RawMessage) ([]data.Test, error)) {
	req := instructRequest{TimeS: 1}
	if !readFusion(w, r, &req) {
		return
	}
	a := instructResponse{Results: []int{}, Runtimes: []float64{}}
	if req.Program == nil {
		fusionInvalid(w, "missing", "program is required", "body", "program")
		return
	}
	var none []json.RawMessage
	if json.Unmarshal(req.Tests, &none) == nil && none != nil && len(none) == 0 {
		reply(w, http.StatusOK, a)
		return
	}
	tests, err := parse(req.Tests)
	if err == nil && len(tests) == 0 {
		err = errors.New("there are none")
	}
	if err != nil {
		fusionInvalid(w, "value_error", "tests: "+err.Error(), "body", "tests")
		return
	}
	began := time.Now()
	limits := clamp(limitsOf(req.TimeS, 0))
	v, err := s.opt.Judge.One(r.Context(), verifier.Item{
		Task:   data.Task{Kind: data.Code, Tests: tests, Limits: data.Limits{TimeS: limits.TimeS}},
		Answer: *req.Program, Source: true,
		Options: &code.Options{Comparison: code.Comparison{Profile: code.LCB}, AllTests: true},
	})
	if err != nil {
		s.unjudged(w, err)
		return
	}
	s.metrics.judged(via, v.Code, began)
	if v.Code == verdict.IE {
		reply(w, http.StatusInternalServerError, map[string]string{"detail": v.Reason})
		return
	}
	for i := range tests {
		passed, seconds := 0, -1.0
		if i < len(v.Tests) && v.Tests[i].Code == verdict.AC {
			passed, seconds = 1, v.Tests[i].TimeS
		}
		a.Results, a.Runtimes = append(a.Results, passed), append(a.Runtimes, seconds)
	}
	reply(w, http.StatusOK, a)
}
