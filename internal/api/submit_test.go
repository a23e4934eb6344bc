package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const fence = "```"

// submission is a completion as SandboxFusion's clients send it.
func submission(completion, tests, extra string) transcript {
	body := fmt.Sprintf(`{"dataset": "code_contests", "id": 0, "completion": %s, "config": {"language": "python", "locale": "en", "compile_timeout": 20, `+
		`"run_timeout": 0.05, "dataset_type": "CommonOJDataset", "provided_data": %s%s}}`, asPython(completion), tests, extra)
	return transcript{"submission", fmt.Sprintf(pythonRequests, "/submit"), body}
}

func TestTranscriptOfSandboxFusionSubmissions(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	double := "Here it is.\n\n" + fence + "python\nprint(float(input()) * 2)\n" + fence + "\n"
	two := `{"id": 0, "content": "Double it.", "test": [{"input": {"stdin": "1"}, "output": {"stdout": "2\n"}}, {"input": {"stdin": "0.15"}, "output": {"stdout": "0.3000001"}}]}`
	bad := `{"test": [{"input": {"stdin": "1"}, "output": {"stdout": "3"}}, {"input": {"stdin": "x"}, "output": {"stdout": "4"}}, {"input": {"stdin": "2"}, "output": {"stdout": "4"}}]}`
	quoted := `{"test": "[{\"input\": {\"stdin\": \"2\"}, \"output\": {\"stdout\": \"4\"}}]"}`
	cases := []struct {
		name              string
		q                 transcript
		accepted          bool
		tests, passed     int
		mentionsTheAnswer bool
	}{
		{"right", submission(double, two, ""), true, 2, 2, false},
		{"stops at the first failure", submission(double, bad, ""), false, 1, 0, true},
		{"runs all", submission(double, bad, `, "extra": {"run_all_cases": true}`), false, 3, 1, true},
		{"full cases", submission(double, two, `, "extra": {"return_full_case": true}`), true, 2, 2, true},
		{"tests as text", submission(double, quoted, ""), true, 1, 1, false},
		{"no program", submission("I do not know.", two, ""), false, 0, 0, false},
		{"time", submission(fence+"python\nwhile 1: pass\n"+fence, two, ""), false, 1, 0, true},
	}
	for _, c := range cases {
		status, body := c.q.send(t, s)
		var a struct {
			ID       any
			Accepted bool
			Code     string `json:"extracted_code"`
			Tests    []struct {
				Passed bool
				Info   *struct{ Output map[string]string } `json:"test_info"`
				Exec   struct{ Status string }             `json:"exec_info"`
			}
		}
		if err := json.Unmarshal(body, &a); err != nil || status != 200 {
			t.Errorf("%s: %d %v %s", c.name, status, err, body)
			continue
		}
		passed, mentioned := 0, false
		for _, x := range a.Tests {
			if x.Passed {
				passed++
			}
			mentioned = mentioned || x.Info != nil
		}
		if a.Accepted != c.accepted || len(a.Tests) != c.tests || passed != c.passed || mentioned != c.mentionsTheAnswer || a.ID != 0.0 {
			t.Errorf("%s: %s", c.name, body)
		}
	}
	refused := map[string]string{
		`{"completion": "", "config": {"dataset_type": "HumanEvalDataset", "language": "python"}}`:                                                      "CommonOJDataset",
		`{"completion": "", "config": {"dataset_type": "CommonOJDataset", "language": "cpp"}}`:                                                          "python",
		`{"completion": "", "config": {"dataset_type": "CommonOJDataset", "language": "python", "custom_extract_logic": "import os"}}`:                  "custom_extract_logic",
		`{"completion": "", "config": {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": []}}}`:                        "provided_data.test",
		`{"completion": "", "config": {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": [1]}}`:                                 "provided_data",
		`{"completion": "", "config": {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": [{"input": {"stdin": 1}}]}}}`: "provided_data.test",
	}
	for body, want := range refused {
		status, answer := transcript{"refused", fmt.Sprintf(pythonRequests, "/submit"), body}.send(t, s)
		if status != 400 || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}

func TestTranscriptOfOpenInstruct(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	cases := []struct{ path, body, want string }{
		{"/test_program", `{"program": "\ndef add(a, b):\n    return a + b\n", "tests": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0", "assert add(0, 0) == 1"], "max_execution_time": 1.0}`, "[1 1 0]"},
		{"/test_program", `{"program": "def f(): while", "tests": ["assert True"], "max_execution_time": 1.0}`, "[0]"},
		{"/test_program", `{"program": "import sys; sys.exit(0)", "tests": ["assert False"], "max_execution_time": 1.0}`, "[0]"},
		{"/test_program", `{"program": "def f():\n    while True: pass", "tests": ["f()", "assert True"], "max_execution_time": 0.05}`, "[0 1]"},
		{"/test_program", `{"program": "x", "tests": [], "max_execution_time": 1.0}`, "[]"},
		{"/test_program_stdio", `{"program": "import sys\nfor line in sys.stdin.read().splitlines():\n    print(int(line.strip()) + 1)", "tests": [{"input": "1\n", "output": "2\n"}, {"input": "100\n", "output": "101\n"}], "max_execution_time": 1.0}`, "[1 1]"},
		{"/test_program_stdio", `{"program": "a, b = map(int, input().split())\nprint(a + b)", "tests": [{"input": "5 3", "output": "8"}, {"input": "10 -2", "output": "8"}, {"input": "0 0", "output": "1"}], "max_execution_time": 1.0}`, "[1 1 0]"},
	}
	for _, c := range cases {
		status, body := transcript{c.path, fmt.Sprintf(pythonRequests, c.path), c.body}.send(t, s)
		var a instructResponse
		if err := json.Unmarshal(body, &a); err != nil || status != 200 || fmt.Sprint(a.Results) != c.want || len(a.Runtimes) != len(a.Results) {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.body, status, body, c.want)
			continue
		}
		for i, r := range a.Results {
			if (a.Runtimes[i] < 0) != (r == 0) {
				t.Errorf("%s: runtimes %v for results %v", c.path, a.Runtimes, a.Results)
			}
		}
	}
}
