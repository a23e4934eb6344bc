package main

import (
	"bytes"
	"strings"
	"testing"
)

// A mean over no task is no number.
func TestEvaluationOfNothingJudgedPrintsNoScore(t *testing.T) {
	var out bytes.Buffer
	r := evalReport{Results: []evalResult{{Subject: "base", Samples: 4, Unjudged: 3, Run: "r1"}}}
	if err := r.print(&out, false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "pass@") || !strings.Contains(got, "no task judged") || !strings.Contains(got, "3 answers could not be judged") {
		t.Errorf("printed %q", got)
	}
}
