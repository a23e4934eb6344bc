package trainer

import (
	"testing"

	"troupe/data"
	"troupe/trainer/workflow"
)

func TestIntrusionAndLeak(t *testing.T) {
	program := "```python\nprint(1)\n```"
	for _, c := range []struct {
		kind data.Kind
		text string
		tier workflow.Tier
		want bool
	}{
		{data.Math, `fine \boxed{Correct}`, workflow.Primary, false},
		{data.Math, `it is \boxed{85}`, workflow.Default, true},
		{data.Math, `no idea`, workflow.Default, false},
		{data.Code, `\boxed{2}`, workflow.Primary, false},
		{data.Code, program + ` \boxed{2}`, workflow.Primary, true},
	} {
		if got := intrudes(c.kind, &workflow.Call{Sample: workflow.Sample{Text: c.text}, Tier: c.tier}); got != c.want {
			t.Errorf("%s %q: intrudes %v", c.kind, c.text, got)
		}
	}
	for _, c := range []struct {
		kind       data.Kind
		plan, gold string
		want       bool
	}{
		{data.Math, "add the tens, then get 85.", "85", true},
		{data.Math, "185 or 850", "85", false},
		{data.Math, "185, then 85", "85", true},
		{data.Math, "count", "", false},
		{data.Code, program, "", true},
		{data.Code, "multiply", "", false},
	} {
		if got := leaks(c.kind, c.plan, c.gold); got != c.want {
			t.Errorf("%q with %q: leaks %v", c.plan, c.gold, got)
		}
	}
}

func TestTextMetricsAreLogged(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig("workflow=orch", "iterations=1", "metrics.every=1", "metrics.tasks=4"), nil).play(t)
	last := metricsOf(t, w)
	for _, name := range []string{"orchestrator text/intrusion", "orchestrator text/leak", "orchestrator text/copy", "orchestrator text/distinct_4"} {
		if _, ok := last[name]; !ok {
			t.Errorf("%s is not in the log", name)
		}
	}
}
