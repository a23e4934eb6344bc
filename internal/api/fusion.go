package api

import (
	"net/http"

	"troupe/sandbox"
)

// The SandboxFusion routes answer as that server does for Python, so that
// verl's reward client works unchanged: POST /run_code and GET /v1/ping. What
// the client reads is written down in docs/runs.md.

type fusionRequest struct {
	Code       string            `json:"code"`
	Language   string            `json:"language"`
	RunTimeout float64           `json:"run_timeout"`
	MemoryMB   int               `json:"memory_limit_MB"`
	Stdin      *string           `json:"stdin"`
	Files      map[string]string `json:"files"`
	FetchFiles []string          `json:"fetch_files"`
}

type fusionRun struct {
	Status        string   `json:"status"`
	ExecutionTime *float64 `json:"execution_time"`
	ReturnCode    *int     `json:"return_code"`
	Stdout        *string  `json:"stdout"`
	Stderr        *string  `json:"stderr"`
}

type fusionResponse struct {
	Status        string            `json:"status"`
	Message       string            `json:"message"`
	CompileResult *fusionRun        `json:"compile_result"`
	RunResult     *fusionRun        `json:"run_result"`
	PodName       *string           `json:"executor_pod_name"`
	Files         map[string]string `json:"files"`
}

// fusionRunCode runs one program. verl gives up on any status but 200 and 504,
// so it waits in line rather than refuse.
func (s *Server) fusionRunCode(w http.ResponseWriter, r *http.Request) {
	req := fusionRequest{RunTimeout: 10}
	if !read(w, r, &req, false) {
		return
	}
	if req.Code == "" || req.Language == "" {
		reply(w, http.StatusUnprocessableEntity, map[string]any{"detail": []map[string]any{
			{"type": "missing", "loc": []string{"body", "code"}, "msg": "code and language are required"}}})
		return
	}
	if req.Language != "python" && req.Language != "python3" {
		fusionError(w, "only python runs here, not "+req.Language)
		return
	}
	if len(req.Files) > 0 {
		fusionError(w, "files are not placed in this sandbox")
		return
	}
	e := execution{program: req.Code, limits: sandbox.Limits{TimeS: req.RunTimeout, MemoryMB: req.MemoryMB}}
	if req.Stdin != nil {
		e.stdin = []byte(*req.Stdin)
	}
	res, err := s.execute(r.Context(), e)
	if err != nil {
		gatewayTimeout(w, err)
		return
	}
	reply(w, http.StatusOK, fusionAnswer(res))
}

func fusionError(w http.ResponseWriter, message string) {
	reply(w, http.StatusOK, fusionResponse{Status: "SandboxError", Message: message, Files: map[string]string{}})
}

// fusionAnswer maps a result: a time-out has no return code, a program that ran
// out of memory has 137, and an infrastructure failure is a SandboxError, which
// clients do not count as the program's fault.
func fusionAnswer(res finished) fusionResponse {
	out, errText := valid(res.Stdout), valid(res.Stderr)
	run := &fusionRun{Status: "Finished", ExecutionTime: &res.TimeS, ReturnCode: &res.ExitCode, Stdout: &out, Stderr: &errText}
	a := fusionResponse{Status: "Success", RunResult: run, Files: map[string]string{}}
	switch res.Outcome {
	case sandbox.OK:
	case sandbox.Time:
		a.Status, run.Status, run.ReturnCode = "Failed", "TimeLimitExceeded", nil
	case sandbox.Memory, sandbox.Output:
		code := 137
		a.Status, run.ReturnCode = "Failed", &code
	case sandbox.Crash:
		a.Status, a.Message, a.RunResult = "SandboxError", res.Exception, nil
	default:
		a.Status = "Failed"
	}
	return a
}
