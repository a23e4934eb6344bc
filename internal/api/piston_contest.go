package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"troupe/data"
	"troupe/verifier"
	"troupe/verifier/verdict"
)

// contestLanguage is the package that open-r1 adds to Piston for Codeforces
// problems: its files hold the program, the test, a checker where there is one,
// and the limits; it prints 1 where the answer is right and 0 where it is not.
const contestLanguage = "cf_python3"

// contestTask reads the test and its limits from the files.
func contestTask(files []pistonFile) (program string, t data.Task, err error) {
	t.Kind = data.Code
	named := map[string]string{}
	for _, f := range files {
		named[f.Name] = *f.Content
	}
	program = *files[0].Content
	t.Checker = named["checker.py"]
	input, ok := named["input.txt"]
	if !ok {
		return "", t, errors.New("there is no input.txt")
	}
	t.Tests = []data.Test{{Input: input, Output: named["correct_output.txt"]}}
	for line := range strings.Lines(named["grader_config"]) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "TIME_LIMIT", "MEMORY_LIMIT":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return "", t, errors.New(key + " of grader_config is no number")
			}
			if key == "TIME_LIMIT" {
				t.Limits.TimeS = min(max(n, 0), maxTimeS)
			} else {
				t.Limits.MemoryMB = int(min(max(n, 0), maxMemoryMB))
			}
		case "INPUT_MODE":
			if value != "stdio" {
				return "", t, errors.New("INPUT_MODE " + value + " is not known here, only stdio")
			}
		}
	}
	return program, t, nil
}

// pistonContest judges one test of a contest problem.
func (s *Server) pistonContest(ctx, client context.Context, w http.ResponseWriter, req *pistonRequest) {
	program, task, err := contestTask(req.Files)
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"message": err.Error()})
		return
	}
	began := time.Now()
	judged, err := s.repeats.do(ctx, client, s, req, func(ctx context.Context) (any, error) {
		v, err := s.opt.Judge.One(ctx, verifier.Item{Task: task, Answer: program, Source: true})
		if err == nil {
			s.metrics.judged("execute", v.Code, began)
		}
		if err == nil && v.Code == verdict.IE {
			err = errors.New(v.Reason)
		}
		return v, err
	})
	if err != nil {
		s.unjudged(w, err)
		return
	}
	v, zero := judged.(verdict.Verdict), 0
	printed, detail := "0\n", string(v.Code)
	if v.Code == verdict.AC {
		printed = "1\n"
	} else if v.Reason != "" {
		detail += ": " + v.Reason
	}
	reply(w, http.StatusOK, pistonResponse{Language: contestLanguage, Version: pythonVersion, Compile: pistonStage{Code: &zero},
		Run: pistonStage{Stdout: printed, Stderr: detail + "\n", Output: printed + detail + "\n", Code: &zero, WallTime: int(time.Since(began).Milliseconds())}})
}
