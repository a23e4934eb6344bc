package main

import (
	"bytes"
	"strings"
	"testing"

	"troupe/data"
	"troupe/trainer"
	"troupe/trainer/study"
)

func cellNamed(workflow, policy string) study.Cell {
	return study.Cell{Workflow: workflow, Policy: policy, Kind: data.Math}
}

func TestStudyTableOnATerminal(t *testing.T) {
	var out bytes.Buffer
	s := newStudyTable(&out, 4)
	s.height = func() int { return 6 }
	for _, step := range []struct {
		cell study.Cell
		p    trainer.Progress
	}{
		{cellNamed("single", "shared"), trainer.Progress{Of: 80, Accuracy: .4}},
		{cellNamed("single", "shared"), trainer.Progress{Iteration: 80, Of: 80, Accuracy: .6, Reward: .5}},
		{cellNamed("voting", "shared"), trainer.Progress{Of: 80, Accuracy: .3}},
		{cellNamed("voting", "isolated"), trainer.Progress{Iteration: 11, Of: 80, Accuracy: .3, Reward: .25}}, // resumed
	} {
		s.cell(step.cell, step.p)
	}
	s.warm(study.Base{Kind: data.Code, Steps: 500})
	s.close()
	said := out.String()
	end := said[strings.LastIndex(said, "\x1b[J"):]
	for _, want := range []string{"voting-SP-math         0/80         -   0.300     0.300  +0.000",
		"voting-IP-math        11/80     0.250       -     0.300       -", "1 of 4 cells done", "mean gain +20.0 points"} {
		if !strings.Contains(end, want) {
			t.Errorf("the table lacks %q:\n%s", want, end)
		}
	}
	if strings.Contains(end, "single-math") {
		t.Errorf("two rows fit, and the one that is done is shown:\n%s", end)
	}
	if !strings.Contains(said, "\x1b[J"+"warm start code: step 500") {
		t.Errorf("a message does not stand above the table:\n%q", said)
	}
}

func TestStudyTableElsewhere(t *testing.T) {
	var out bytes.Buffer
	s := newStudyTable(&out, 1)
	for i := 0; i <= 40; i++ {
		s.cell(cellNamed("single", "shared"), trainer.Progress{Iteration: i, Of: 40, Accuracy: .4 + float64(i)/100})
	}
	s.close()
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || strings.Contains(out.String(), "\x1b") || !strings.HasSuffix(lines[2], "+0.400") {
		t.Errorf("%q", out.String())
	}
}
