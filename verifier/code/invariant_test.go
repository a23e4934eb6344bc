package code

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"troupe/data"
	"troupe/sandbox"
)

// watched passes runs on and keeps what each instance was given.
type watched struct {
	Runner
	given []sandbox.Python
}

func (w *watched) Run(ctx context.Context, p sandbox.Python) (sandbox.Result, error) {
	w.given = append(w.given, p)
	return w.Runner.Run(ctx, p)
}

// Invariant 6: expected outputs never enter the instance that runs the judged
// program. A checker, which needs them, runs in one that does not have it.
func TestInvariant6ExpectedOutputsStayOutside(t *testing.T) {
	const secret = "expected-7f3a9c"
	const mark = "the_judged_program"
	program := "def " + mark + "(n):\n    return n\nprint(" + mark + "(input()))\n"
	function := "def f(n):\n    " + mark + " = n\n    return n\n"
	checker := "def check(input, output, expected):\n    return True\n"
	stdin := data.Task{Kind: data.Code, Tests: []data.Test{{Input: "1\n", Output: secret}, {Input: "2\n", Output: secret}}}
	call := data.Task{Kind: data.Code, Fn: "f", Tests: []data.Test{{Input: `"1"`, Output: `"` + secret + `"`}}}
	guest := worker(t)
	checked, checkedCall := stdin, call
	checked.Checker, checkedCall.Checker = checker, checker
	for name, c := range map[string]struct {
		task    data.Task
		program string
	}{
		"stdin": {stdin, program}, "call": {call, function},
		"checked stdin": {checked, program}, "checked call": {checkedCall, function},
	} {
		w := &watched{Runner: guest}
		judged(t, w, c.task, c.program, Options{})
		ran := false
		for _, p := range w.given {
			all := strings.Join([]string{p.Program, p.Harness, string(p.Stdin), string(p.Data)}, "\x00")
			runs := strings.Contains(all, mark)
			ran = ran || runs
			if runs && (strings.Contains(all, secret) || bytes.Contains(p.Data, []byte(secret))) {
				t.Errorf("%s: the instance that runs the program was given the expected output", name)
			}
		}
		if !ran {
			t.Errorf("%s: no instance ran the program: the test shows nothing", name)
		}
	}
}
