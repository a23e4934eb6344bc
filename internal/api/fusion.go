package api

import (
	"context"
	"net/http"
	"time"

	"troupe/sandbox"
	"troupe/verifier/verdict"
)

// The SandboxFusion routes answer as that server does for Python, so that
// verl's reward client works unchanged: POST /run_code, POST /submit and GET
// /v1/ping.

type fusionRequest struct {
	Code           *string           `json:"code"` // may be empty: verl sends what it extracted
	Language       string            `json:"language"`
	CompileTimeout float64           `json:"compile_timeout"`
	RunTimeout     float64           `json:"run_timeout"`
	MemoryMB       int               `json:"memory_limit_MB"`
	Stdin          *string           `json:"stdin"`
	Files          map[string]string `json:"files"`
	FetchFiles     []string          `json:"fetch_files"`
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

// fusionPatience is what verl's client waits beyond the two time limits that it
// sends. The answer must be there before: the client takes a connection that
// it gave up for the program's failure, while it repeats a 504.
const (
	fusionPatience = 10 * time.Second
	fusionMargin   = 2 * time.Second
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// fusionRunCode runs one program. verl gives up on any status but 200 and 504,
// so it waits in line rather than refuse.
func (s *Server) fusionRunCode(w http.ResponseWriter, r *http.Request) {
	req := fusionRequest{CompileTimeout: 10, RunTimeout: 10}
	if !readFusion(w, r, &req) {
		return
	}
	if req.Code == nil || req.Language == "" {
		fusionInvalid(w, "missing", "code and language are required", "body", "code")
		return
	}
	if !isPython(req.Language) {
		fusionError(w, "only python runs here, not "+req.Language)
		return
	}
	if len(req.Files) > 0 || len(req.FetchFiles) > 0 {
		fusionError(w, "no files are placed into or fetched from this sandbox")
		return
	}
	wait := seconds(min(max(req.CompileTimeout, 0), maxTimeS)+min(max(req.RunTimeout, 0), maxTimeS)) + fusionPatience - fusionMargin
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	e := execution{Program: *req.Code, Limits: sandbox.Limits{TimeS: req.RunTimeout, MemoryMB: req.MemoryMB}}
	if req.Stdin != nil {
		e.Stdin = []byte(*req.Stdin)
	}
	res, err := s.executeOnce(ctx, r.Context(), "run_code", e)
	if err != nil {
		s.unjudged(w, err)
		return
	}
	reply(w, http.StatusOK, fusionAnswer(res))
}

// isPython knows the names of the one language there is.
func isPython(language string) bool {
	switch language {
	case "python", "python3", "py":
		return true
	}
	return false
}

// readFusion is read with the errors of a FastAPI server.
func readFusion(w http.ResponseWriter, r *http.Request, v any) bool {
	status, err := receive(w, r, v)
	switch {
	case err == nil:
		return true
	case status == http.StatusBadRequest:
		fusionInvalid(w, "json_invalid", err.Error(), "body")
	default:
		reply(w, status, map[string]string{"detail": err.Error()})
	}
	return false
}

// fusionInvalid answers a body that the original server's schema refuses.
func fusionInvalid(w http.ResponseWriter, kind, message string, at ...string) {
	reply(w, http.StatusUnprocessableEntity, map[string]any{"detail": []map[string]any{
		{"type": kind, "loc": at, "msg": message}}})
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

// outcomeCode is the end of a run in a judge's terms; nothing was compared.
func outcomeCode(r sandbox.Result) verdict.Code {
	switch r.Outcome {
	case sandbox.OK:
		return verdict.AC
	case sandbox.Time:
		return verdict.TLE
	case sandbox.Memory:
		return verdict.MLE
	case sandbox.Output:
		return verdict.OLE
	case sandbox.Crash:
		return verdict.IE
	}
	return verdict.RE
}
