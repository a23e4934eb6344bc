package api

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"troupe/sandbox"
)

// The Piston routes answer as that server does for Python, so that open-r1's
// client works unchanged: POST /api/v2/execute and GET /api/v2/runtimes.

// pythonVersion is what the pinned guest is.
const pythonVersion = "3.11.3"

type pistonFile struct {
	Name     string  `json:"name"`
	Content  *string `json:"content"`
	Encoding string  `json:"encoding"`
}

type pistonRequest struct {
	Language   string       `json:"language"`
	Version    string       `json:"version"`
	Files      []pistonFile `json:"files"`
	Stdin      string       `json:"stdin"`
	Args       []string     `json:"args"`
	RunTimeout float64      `json:"run_timeout"`      // milliseconds
	RunCPU     float64      `json:"run_cpu_time"`     // milliseconds
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

// pistonPatience is less than the 30 seconds that open-r1's client waits for
// the next byte, after which it would ask again beside the first request.
const pistonPatience = 28 * time.Second

var errNoContent = errors.New("is required as a string")

// content decodes a file's text.
func (f pistonFile) content() (string, error) {
	if f.Content == nil {
		return "", errNoContent
	}
	switch f.Encoding {
	case "base64":
		b, err := base64.StdEncoding.DecodeString(*f.Content)
		return string(b), err
	case "hex":
		b, err := hex.DecodeString(*f.Content)
		return string(b), err
	}
	return *f.Content, nil
}

// limits are the request's, in our units.
func (q *pistonRequest) limits() sandbox.Limits {
	ms := q.RunTimeout
	if q.RunCPU > 0 {
		ms = min(ms, q.RunCPU)
	}
	return limitsOf(ms/1000, q.RunMemory)
}

// limitsOf are limits within the server's; a memory limit of 0 or less means
// the default.
func limitsOf(timeS float64, memory int64) sandbox.Limits {
	return clamp(sandbox.Limits{TimeS: timeS, MemoryMB: int(max(memory, 0) >> 20)})
}

// invalid says what is wrong with a request, in that server's words.
func (q *pistonRequest) invalid() string {
	switch {
	case q.Language == "":
		return "language is required as a string"
	case q.Version == "":
		return "version is required as a string"
	case len(q.Files) == 0:
		return "files is required as an array"
	case !isPython(q.Language) && q.Language != contestLanguage:
		return q.Language + "-" + q.Version + " runtime is unknown"
	}
	return ""
}

// readPiston is read with that server's errors.
func readPiston(w http.ResponseWriter, r *http.Request, q *pistonRequest) bool {
	status, err := receive(w, r, q)
	if err == nil {
		return true
	}
	message := err.Error()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		message = wrong.Field + pistonType(wrong.Type.Kind())
	}
	reply(w, status, map[string]string{"message": message})
	return false
}

// pistonType is what that server says of a field that has another type.
func pistonType(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return " is required as a string"
	case reflect.Slice:
		return " is required as an array"
	case reflect.Struct:
		return " is required as an object"
	}
	return " must be a number"
}

// pistonExecute runs the first file. A `compile` stage with code 0 is always
// there: open-r1's client reads it for every language.
func (s *Server) pistonExecute(w http.ResponseWriter, r *http.Request) {
	req := pistonRequest{RunTimeout: 3000}
	if !readPiston(w, r, &req) {
		return
	}
	bad := func(message string) { reply(w, http.StatusBadRequest, map[string]string{"message": message}) }
	if why := req.invalid(); why != "" {
		bad(why)
		return
	}
	for i := range req.Files {
		text, err := req.Files[i].content()
		if errors.Is(err, errNoContent) {
			bad(fmt.Sprintf("files[%d].content %v", i, err))
			return
		}
		if err != nil {
			bad("files[" + req.Files[i].Name + "].content: " + err.Error())
			return
		}
		req.Files[i].Content = &text
	}
	ctx, cancel := context.WithTimeout(r.Context(), max(pistonPatience, seconds(req.limits().TimeS)+10*time.Second))
	defer cancel()
	if req.Language == contestLanguage {
		s.pistonContest(ctx, r.Context(), w, &req)
		return
	}
	res, err := s.executeOnce(ctx, r.Context(), "execute", execution{Program: *req.Files[0].Content, Args: req.Args, Stdin: []byte(req.Stdin), Limits: req.limits()})
	if err == nil && res.Outcome == sandbox.Crash {
		err = errors.New(res.Exception)
	}
	if err != nil {
		s.unjudged(w, err)
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
	reply(w, http.StatusOK, []pistonRuntime{
		{"python", pythonVersion, []string{"py", "python3"}},
		{contestLanguage, pythonVersion, []string{}}})
}

type pistonRuntime struct {
	Language string   `json:"language"`
	Version  string   `json:"version"`
	Aliases  []string `json:"aliases"`
}

// valid makes program output safe to put into JSON.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
