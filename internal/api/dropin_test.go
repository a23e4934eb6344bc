package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A transcript is a request byte for byte as a client of another reward server
// sends it. PORT stands for ours.
type transcript struct {
	name    string
	headers string // request line and headers, without Content-Length
	body    string
}

// send plays a transcript on a connection of its own.
func (c transcript) send(t *testing.T, s *Server) (int, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer conn.Close()
	head := strings.ReplaceAll(strings.ReplaceAll(c.headers, "PORT", s.guard.port), "\n", "\r\n")
	if c.body != "" {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(c.body))
	}
	fmt.Fprint(conn, head+"\r\n"+c.body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
		return 0, nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
	return resp.StatusCode, b
}

// pythonRequests are the headers of Python's requests library, in its order.
const pythonRequests = `POST %s HTTP/1.1
Host: 127.0.0.1:PORT
User-Agent: python-requests/2.32.3
Accept-Encoding: gzip, deflate
Accept: application/json
Connection: keep-alive
Content-Type: application/json
`

// asPython is JSON as Python's json.dumps writes it.
func asPython(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	var out strings.Builder
	for _, r := range strings.TrimSpace(b.String()) {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// verlCase is one test as verl's reward client asks for it.
func verlCase(name, code, stdin string, timeout float64, memory int) transcript {
	limit := ""
	if memory > 0 { // older versions send no such field
		limit = fmt.Sprintf(`"memory_limit_MB": %d, `, memory)
	}
	body := fmt.Sprintf(`{"compile_timeout": %v, "run_timeout": %v, "code": %s, "stdin": %s, %s"language": "python", "files": {}, "fetch_files": []}`,
		timeout, timeout, asPython(code), asPython(stdin), limit)
	return transcript{name, fmt.Sprintf(pythonRequests, "/run_code"), body}
}

// verlReads is what verl's client makes of an answer: true or false where the
// program ran and its output was compared, else its numbers for errors.
func verlReads(status int, body []byte, expected string) any {
	var a struct {
		Status  string `json:"status"`
		Compile *struct {
			Status string `json:"status"`
			Code   *int   `json:"return_code"`
		} `json:"compile_result"`
		Run *struct {
			Status string  `json:"status"`
			Code   *int    `json:"return_code"`
			Stdout *string `json:"stdout"`
		} `json:"run_result"`
	}
	if status != 200 || json.Unmarshal(body, &a) != nil || a.Status == "SandboxError" {
		return -1
	}
	if c := a.Compile; c != nil && (c.Status != "Finished" || c.Code == nil || *c.Code != 0) {
		return -4
	}
	switch {
	case a.Run == nil:
		return -1
	case a.Status == "Failed" && a.Run.Status == "TimeLimitExceeded":
		return -3
	case a.Status == "Failed" && (a.Run.Status == "Error" || a.Run.Code == nil || *a.Run.Code != 0):
		return -2
	case a.Status == "Success" && a.Run.Status == "Finished" && a.Run.Stdout != nil:
		return strings.TrimRight(*a.Run.Stdout, "\n") == strings.TrimRight(expected, "\n")
	}
	return -1
}

// callWrapper is a call-based test as verl's client builds it: everything of
// the library that contest programs use by name, then the call.
const callWrapper = `from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools, operator, io, sys, json, traceback
sys.setrecursionlimit(6 * 10**5)
class Solution:
    def add(self, a: List[int], b: int) -> int:
        return sum(a) + b
args = [json.loads(line) for line in sys.stdin.read().split("\n") if line]
print(json.dumps(getattr(Solution(), "add")(*args)))
`

func TestTranscriptOfVerl(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	cases := []struct {
		request  transcript
		expected string
		want     any
	}{
		{verlCase("right", "print(int(input())*2)", "21", 10, 1024), "42", true},
		{verlCase("wrong", "print(int(input())*2)", "21", 10, 1024), "43", false},
		{verlCase("before memory limits", "print(input())", "größer – 大", 10, 0), "größer – 大", true},
		{verlCase("exit code", "import sys; sys.exit(3)", "", 10, 1024), "", -2},
		{verlCase("exception", "print(1/0)", "", 10, 1024), "", -2},
		{verlCase("no program", "print('a'); x = (", "", 10, 1024), "", -2},
		{verlCase("time", "print('before', flush=True)\nwhile True: pass", "", 0.05, 1024), "before", -3},
		{verlCase("memory", "x = bytearray(1 << 27)", "", 10, 64), "", -2},
		{verlCase("an empty program", "", "1", 10, 1024), "2", false},
		{verlCase("a call", callWrapper, "[1, 2]\n3", 10, 1024), "6", true},
		{verlCase("nothing of the host", "import os; print(os.path.exists('/etc/passwd'), len(os.environ.get('HOME', '')))", "", 10, 1024), "False 0", true},
	}
	for _, c := range cases {
		status, body := c.request.send(t, s)
		if got := verlReads(status, body, c.expected); got != c.want {
			t.Errorf("%s: verl reads %v, want %v: %d %s", c.request.name, got, c.want, status, body)
		}
	}
	if got, body := (request{path: "/v1/ping"}).do(t, s); got != 200 || strings.TrimSpace(body) != `"pong"` {
		t.Errorf("ping: %d %s", got, body)
	}
}

// TestVerlIsNeverRefused sends as many requests at once as verl does with its
// default settings on a 12-core machine: each gets its turn.
func TestVerlIsNeverRefused(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	const n = 60
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			status, body := verlCase(fmt.Sprint("request ", i), "print(int(input())+1)", fmt.Sprint(i), 10, 1024).send(t, s)
			if got := verlReads(status, body, fmt.Sprint(i+1)); got != true {
				t.Errorf("request %d: verl reads %v: %d %s", i, got, status, body)
			}
		})
	}
	wg.Wait()
}

// TestVerlIsToldToAskAgain holds the only worker: the answer is 504, in time
// for the client's own patience.
func TestVerlIsToldToAskAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time-out")
	}
	p := pool(t)
	s := start(t, withPrograms(p))
	w, err := p.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release := sync.OnceFunc(w.Release)
	defer release()
	began := time.Now()
	status, body := verlCase("waiting", "print(1)", "", 0.1, 1024).send(t, s)
	if took := time.Since(began); status != 504 || took > fusionPatience {
		t.Errorf("status %d after %v: %s", status, took, body)
	}
	// The run has kept its place: the next try gets its result.
	release()
	if status, body := verlCase("waiting", "print(1)", "", 0.1, 1024).send(t, s); verlReads(status, body, "1") != true {
		t.Errorf("the second try: %d %s", status, body)
	}
}

// aiohttpPost are the headers of the HTTP client that open-r1 uses.
const aiohttpPost = `POST /api/v2/execute HTTP/1.1
Host: 127.0.0.1:PORT
Content-Type: application/json
Accept: */*
Accept-Encoding: gzip, deflate
User-Agent: Python/3.11 aiohttp/3.11.14
`

// contest is one test as open-r1 asks for it in its Codeforces rewards.
func contest(name, program, checker, input, output, mode string) transcript {
	files := []map[string]string{{"name": "main.python", "content": program}}
	if checker != "" {
		files = append(files, map[string]string{"name": "checker.py", "content": checker})
	}
	files = append(files, map[string]string{"name": "input.txt", "content": input}, map[string]string{"name": "correct_output.txt", "content": output},
		map[string]string{"name": "grader_config", "content": "TIME_LIMIT=0.05\nMEMORY_LIMIT=256.0\nINPUT_MODE=" + mode})
	body := fmt.Sprintf(`{"files": %s, "run_timeout": 4000.0, "language": "cf_python3", "version": "*"}`, asPython(files))
	return transcript{name, aiohttpPost, body}
}

// openR1Passes is what open-r1's reward makes of an answer; it fails where the
// client would fail over a missing key.
func openR1Passes(t *testing.T, body []byte) bool {
	t.Helper()
	var a map[string]map[string]any
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Error(err)
		return false
	}
	a = map[string]map[string]any{}
	for _, stage := range []string{"run", "compile"} {
		var v map[string]any
		if err := json.Unmarshal(whole[stage], &v); err != nil {
			t.Errorf("no stage %s: %s", stage, body)
			return false
		}
		a[stage] = v
	}
	if strings.Contains(fmt.Sprint(a["run"]["stderr"]), "Resource temporarily unavailable") || a["compile"]["code"] != 0.0 {
		return false
	}
	return a["run"]["code"] == 0.0 && strings.TrimSpace(fmt.Sprint(a["run"]["stdout"])) == "1"
}

func TestTranscriptOfOpenR1(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	anyOrder := "import sys\na, b = open(sys.argv[2]).read().split(), open(sys.argv[3]).read().split()\nprint(int(sorted(a) == sorted(b)))\n"
	cases := []struct {
		request transcript
		want    bool
	}{
		{contest("right", "a, b = map(int, input().split())\nprint(a + b)", "", "1 2\n", "3\n", "stdio"), true},
		{contest("wrong", "print(4)", "", "1 2\n", "3\n", "stdio"), false},
		{contest("checker takes another order", "print(2, 1)", anyOrder, "", "1 2\n", "stdio"), true},
		{contest("checker refuses", "print(2, 2)", anyOrder, "", "1 2\n", "stdio"), false},
		{contest("time", "while 1: pass", "", "", "3\n", "stdio"), false},
		{contest("exception", "1/0", "", "", "", "stdio"), false},
	}
	for _, c := range cases {
		status, body := c.request.send(t, s)
		if status != 200 || openR1Passes(t, body) != c.want {
			t.Errorf("%s: %d %s", c.request.name, status, body)
		}
	}
	if status, body := contest("input from a file", "print(1)", "", "", "1", "file").send(t, s); status != 400 {
		t.Errorf("a mode that is not known: %d %s", status, body)
	}
	runtimes := transcript{"runtimes", "GET /api/v2/runtimes HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Type: application/json\nAccept: */*\n", ""}
	if status, body := runtimes.send(t, s); status != 200 || !strings.Contains(string(body), `"python"`) {
		t.Errorf("runtimes: %d %s", status, body)
	}
}

// The requests are those of Piston's own documentation.
func TestPiston(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	cases := []struct {
		body   string
		status int
		want   []string
	}{
		{`{"language":"python","version":"*","files":[{"content":"print(input())"}],"stdin":"hi","run_timeout":3000,"compile_timeout":3000}`, 200, []string{`"stdout":"hi\n"`, `"code":0`, `"compile":{`}},
		{`{"language":"python","version":"*","files":[{"content":"cHJpbnQoMSk=","encoding":"base64"}]}`, 200, []string{`"stdout":"1\n"`}},
		{`{"language":"python","version":"*","files":[{"content":"7072696e74283229","encoding":"hex"}]}`, 200, []string{`"stdout":"2\n"`}},
		{`{"language":"python","version":"*","files":[{"content":"while 1: pass"}],"run_timeout":50}`, 200, []string{`"status":"TO"`, `"signal":"SIGKILL"`, `"code":null`}},
		{`{"language":"python","version":"*","files":[{"content":"while 1: pass"}],"run_cpu_time":50}`, 200, []string{`"status":"TO"`}},
		{`{"language":"python","version":"*","files":[{"content":"x = bytearray(1<<27)"}],"run_memory_limit":67108864}`, 200, []string{`"signal":"SIGKILL"`}},
		{`{"language":"python","version":"*","files":[{"content":"1/0"}]}`, 200, []string{`"code":1`, `"status":"RE"`}},
		{`{"version":"*","files":[]}`, 400, []string{"language is required as a string"}},
		{`{"language":"python","files":[]}`, 400, []string{"version is required as a string"}},
		{`{"language":"python","version":"*"}`, 400, []string{"files is required as an array"}},
		{`{"language":"python","version":"*","files":[{"name":"a","content":"!","encoding":"base64"}]}`, 400, []string{"files[a].content"}},
		{`{"language":"python","version":"*","files":[{"content":"import sys; print(sys.argv[1:])"}],"args":["a","b c"]}`, 200, []string{`['a', 'b c']`}},
		{`{"language":7,"version":"*","files":[{"content":""}]}`, 400, []string{`"message":"language is required as a string"`}},
		{`{"language":"python","version":"*","files":{}}`, 400, []string{`"message":"files is required as an array"`}},
		{`{"language":"python","version":"*","files":[{"content":1}]}`, 400, []string{"content is required as a string"}},
		{`{"language":"python","version":"*","files":[{"content":""}],"run_timeout":"3"}`, 400, []string{"run_timeout must be a number"}},
		{`{"language":`, 400, []string{`"message":"read the body`}},
		{`{"language":"cobol","version":"*","files":[{"content":""}]}`, 400, []string{"unknown"}},
	}
	for _, c := range cases {
		status, body := request{method: "POST", path: "/api/v2/execute", body: c.body, header: map[string]string{"Content-Type": "application/json"}}.do(t, s)
		if status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.body, status, c.status, body)
		}
		for _, w := range c.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: answer lacks %s: %s", c.body, w, body)
			}
		}
	}
}
