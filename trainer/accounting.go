package trainer

import (
	"fmt"
	"strings"

	"troupe/trainer/grpo"
)

// Accounting says in words what an iteration will do: how many rows each
// parameter set gets at most, how many optimizer steps they make, and the
// learning rates along the way. Under isolated policies the sets differ in
// both, which is easily mistaken for an effect of the policy.
func (t *Trainer) Accounting() string {
	var b strings.Builder
	episodes := t.cfg.Tasks * t.cfg.Rollouts
	fmt.Fprintf(&b, "%d episodes an iteration (%d tasks x %d rollouts)\n", episodes, t.cfg.Tasks, t.cfg.Rollouts)
	for _, name := range t.setNames {
		if t.sets[name].Frozen {
			fmt.Fprintf(&b, "  %-14s frozen\n", name)
			continue
		}
		rows := 0
		for _, role := range t.workflow.Roles() {
			for s := range t.slots(role) {
				if t.route.Set(role, s) == name {
					rows += episodes * t.turns(role)
				}
			}
		}
		steps := len(grpo.MiniBatches(rows, t.cfg.MiniBatch)) * t.cfg.Epochs
		fmt.Fprintf(&b, "  %-14s at most %d rows, %d optimizer steps\n", name, rows, steps)
	}
	calls := 1
	if t.cfg.LRStep == "call" {
		calls = len(t.trained)
	}
	s := t.cfg.schedule()
	b.WriteString("learning rate:")
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		it := min(int(share*float64(t.cfg.Iterations)), t.cfg.Iterations-1)
		fmt.Fprintf(&b, "  iteration %d: %.2g", it+1, s.At(it*calls))
	}
	b.WriteString("\n")
	return b.String()
}

// turns is how often an agent of a role can speak in an episode.
func (t *Trainer) turns(role string) int {
	if t.cfg.Workflow != "evalopt" {
		return 1
	}
	if t.cfg.Evaluations > 0 {
		return t.cfg.Evaluations
	}
	if t.kind == "code" {
		return 2
	}
	return 3
}
