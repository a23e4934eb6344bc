package api

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"troupe/sandbox"
)

// The Piston routes answer as that server does for Python, so that open-r1's
// client works unchanged: POST /api/v2/execute and GET /api/v2/runtimes.

// pythonVersion is what the pinned guest is.
const pythonVersion = "3.11.3"

type pistonFile struct {
	Name     string `json:"name"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

type pistonRequest struct {
	Language   string       `json:"language"`
	Version    string       `json:"version"`
	Files      []pistonFile `json:"files"`
	Stdin      string       `json:"stdin"`
	RunTimeout float64      `json:"run_timeout"`      // milliseconds
	RunMemory  int64        `json:"run_memory_limit"` // bytes
}

type pistonStage struct {
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Output   string  `json:"output"`
	Code     *int    `json:"code"`
	Signal   *string `json:"signal"`
	Message  *string `json:"message"`
	Status   *string `json:"status"`
	CPUTime  int     `json:"cpu_time"`
	WallTime int     `json:"wall_time"`
	Memory   int     `json:"memory"`
}

type pistonResponse struct {
	Language string      `json:"language"`
	Version  string      `json:"version"`
	Run      pistonStage `json:"run"`
	Compile  pistonStage `json:"compile"`
}

// content decodes a file's text.
func (f pistonFile) content() (string, error) {
	switch f.Encoding {
	case "base64":
		b, err := base64.StdEncoding.DecodeString(f.Content)
		return string(b), err
	case "hex":
		b, err := hex.DecodeString(f.Content)
		return string(b), err
	}
	return f.Content, nil
}

// pistonExecute runs the first file. A `compile` stage with code 0 is always
// there: open-r1's client reads it for every language.
func (s *Server) pistonExecute(w http.ResponseWriter, r *http.Request) {
	req := pistonRequest{RunTimeout: 3000}
	if !read(w, r, &req, false) {
		return
	}
	bad := func(message string) { reply(w, http.StatusBadRequest, map[string]string{"message": message}) }
	switch {
	case req.Language == "":
		bad("language is required as a string")
		return
	case req.Version == "":
		bad("version is required as a string")
		return
	case len(req.Files) == 0:
		bad("files is required as an array")
		return
	case req.Language != "python" && req.Language != "python3" && req.Language != "py":
		bad(req.Language + "-" + req.Version + " runtime is unknown")
		return
	}
	program, err := req.Files[0].content()
	if err != nil {
		bad("files[0].content: " + err.Error())
		return
	}
	l := sandbox.Limits{TimeS: req.RunTimeout / 1000, MemoryMB: int(req.RunMemory >> 20)}
	res, err := s.execute(r.Context(), execution{program: program, stdin: []byte(req.Stdin), limits: l})
	if err != nil || res.Outcome == sandbox.Crash {
		gatewayTimeout(w, err)
		return
	}
	reply(w, http.StatusOK, pistonAnswer(req.Language, res))
}

func pistonAnswer(language string, res finished) pistonResponse {
	zero := 0
	run := pistonStage{Stdout: valid(res.Stdout), Stderr: valid(res.Stderr), Code: &res.ExitCode,
		CPUTime: int(res.TimeS * 1000), WallTime: int(res.wall.Milliseconds())}
	run.Output = run.Stdout + run.Stderr
	stop := func(status, message string) {
		kill := "SIGKILL"
		run.Code, run.Signal, run.Status, run.Message = nil, &kill, &status, &message
	}
	switch res.Outcome {
	case sandbox.OK:
	case sandbox.Time:
		stop("TO", "Time limit exceeded")
	case sandbox.Output:
		stop("OL", "stdout length exceeded")
	case sandbox.Memory:
		stop("SG", "Memory limit exceeded")
	default:
		status := "RE"
		run.Status = &status
	}
	return pistonResponse{Language: language, Version: pythonVersion, Run: run, Compile: pistonStage{Code: &zero}}
}

// pistonRuntimes lists what can run; open-r1 uses it as a health check.
func (s *Server) pistonRuntimes(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, []map[string]any{{"language": "python", "version": pythonVersion, "aliases": []string{"py", "python3"}}})
}

// valid makes program output safe to put into JSON.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
