package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"troupe/sandbox"
	"troupe/verifier/code"
	"troupe/verifier/verdict"
)

// submitRequest is a completion with its tests, as SandboxFusion's CommonOJ
// data sets have them.
type submitRequest struct {
	Dataset    string          `json:"dataset"`
	ID         json.RawMessage `json:"id"` // a number or a string; given back as it came
	Completion *string         `json:"completion"`
	Config     struct {
		DatasetType   string          `json:"dataset_type"`
		Language      string          `json:"language"`
		RunTimeout    float64         `json:"run_timeout"`
		CustomExtract string          `json:"custom_extract_logic"`
		ProvidedData  json.RawMessage `json:"provided_data"`
		Extra         struct {
			RunAllCases    bool `json:"run_all_cases"`
			ReturnFullCase bool `json:"return_full_case"`
		} `json:"extra"`
	} `json:"config"`
}

type submitCase struct {
	Input struct {
		Stdin string `json:"stdin"`
	} `json:"input"`
	Output struct {
		Stdout *string `json:"stdout"`
	} `json:"output"`
}

type submitTest struct {
	Passed   bool           `json:"passed"`
	ExecInfo fusionResponse `json:"exec_info"`
	TestInfo *submitCase    `json:"test_info"`
}

type submitResponse struct {
	ID            json.RawMessage `json:"id"`
	Accepted      bool            `json:"accepted"`
	ExtractedCode string          `json:"extracted_code"`
	FullCode      *string         `json:"full_code"`
	TestCode      *string         `json:"test_code"`
	Tests         []submitTest    `json:"tests"`
	ExtractedType *string         `json:"extracted_type"`
	Extra         map[string]any  `json:"extra"`
}

// submitTimeS is the time limit where the request has none, as there.
const submitTimeS = 20

// submitComparison is the original's rule but for case: lines without the
// blanks around them, numbers within 1e-5.
var submitComparison = code.Comparison{FloatTol: 1e-5}

// fusionSubmit judges one completion by the tests that come with it.
func (s *Server) fusionSubmit(w http.ResponseWriter, r *http.Request) {
	var req submitRequest
	if !readFusion(w, r, &req) {
		return
	}
	cases, why := req.cases()
	if why != "" {
		reply(w, http.StatusBadRequest, map[string]string{"detail": why})
		return
	}
	began := time.Now()
	a := submitResponse{ID: req.ID, Tests: []submitTest{}}
	if a.ID == nil {
		a.ID = json.RawMessage("0")
	}
	found := false
	if a.ExtractedCode, found = (code.Extraction{Unclosed: true}).Extract(*req.Completion); !found {
		s.metrics.judged("submit", verdict.NA, began)
		reply(w, http.StatusOK, a)
		return
	}
	worst, err := s.submitCases(r.Context(), &req, cases, &a)
	if err != nil {
		s.unjudged(w, err)
		return
	}
	s.metrics.judged("submit", worst, began)
	reply(w, http.StatusOK, a)
}

// submitCases runs the tests in order, up to the first that fails unless the
// request wants all, and returns the code of that first one.
func (s *Server) submitCases(ctx context.Context, req *submitRequest, cases []submitCase, a *submitResponse) (verdict.Code, error) {
	limit := req.Config.RunTimeout
	if limit <= 0 {
		limit = submitTimeS
	}
	first := verdict.AC
	a.Accepted = true
	for i := range cases {
		c := &cases[i]
		res, err := s.execute(ctx, execution{Program: a.ExtractedCode, Stdin: []byte(c.Input.Stdin), Limits: sandbox.Limits{TimeS: limit}})
		if err != nil {
			return "", err
		}
		if res.Outcome == sandbox.Crash {
			return "", errors.New("the sandbox failed: " + res.Exception)
		}
		t := submitTest{ExecInfo: fusionAnswer(res)}
		end := outcomeCode(res.Result)
		if end == verdict.AC {
			if _, t.Passed = submitComparison.Output(string(res.Stdout), *c.Output.Stdout); !t.Passed {
				end = verdict.WA
			}
		}
		if req.Config.Extra.ReturnFullCase || !t.Passed {
			t.TestInfo = c
		}
		a.Tests = append(a.Tests, t)
		if t.Passed {
			continue
		}
		a.Accepted = false
		if first == verdict.AC {
			first = end
		}
		if !req.Config.Extra.RunAllCases {
			break
		}
	}
	return first, nil
}

// cases reads the tests; why says what is wrong with the request.
func (q *submitRequest) cases() (cases []submitCase, why string) {
	c := &q.Config
	switch {
	case q.Completion == nil:
		return nil, "completion is missing"
	case c.CustomExtract != "":
		return nil, "custom_extract_logic is code for the server; it is not run here"
	case c.DatasetType != "CommonOJDataset":
		return nil, "only dataset_type CommonOJDataset is judged here"
	case !isPython(c.Language):
		return nil, "only config.language python runs here"
	}
	var row struct {
		Test json.RawMessage `json:"test"`
	}
	text := c.ProvidedData
	if err := unquote(&text); err != nil || json.Unmarshal(text, &row) != nil {
		return nil, "config.provided_data must be an object with the tests in test"
	}
	if err := unquote(&row.Test); err != nil || json.Unmarshal(row.Test, &cases) != nil || len(cases) == 0 {
		return nil, `provided_data.test must be a list of {"input": {"stdin": …}, "output": {"stdout": …}}`
	}
	for i := range cases {
		if cases[i].Output.Stdout == nil {
			return nil, fmt.Sprintf("provided_data.test[%d].output.stdout is missing", i)
		}
	}
	return cases, ""
}

// unquote reads JSON that came as the text of a string.
func unquote(raw *json.RawMessage) error {
	if len(*raw) == 0 || (*raw)[0] != '"' {
		return nil
	}
	var text string
	if err := json.Unmarshal(*raw, &text); err != nil {
		return err
	}
	*raw = json.RawMessage(text)
	return nil
}
