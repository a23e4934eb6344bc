package trainer

import (
	"troupe/data/store"
	"troupe/trainer/metrics"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// share counts how often something held among the cases in which it could.
type share struct{ held, cases int }

func (s *share) add(held bool) {
	s.cases++
	if held {
		s.held++
	}
}

func (s *share) put(log *record, role, metric string) {
	if s.cases > 0 {
		log.role(role, store.AllSlots, metric, float64(s.held)/float64(s.cases))
	}
}

// logTeamwork notes what the roles made of one another's work: from verdicts
// on every solution of the probe's episodes.
func (t *Trainer) logTeamwork(log *record, episodes []workflow.Episode, grades [][]verdict.Verdict) {
	var sel metrics.Selection
	var right, recovery, regression, truePositive, falsePositive share
	roles := t.workflow.Roles()
	solver, decider := "", roles[len(roles)-1]
	for _, r := range roles {
		if workflow.Solves(r) {
			solver = r
		}
	}
	if solver == "" || decider == solver {
		return
	}
	judges := decider == workflow.PromptEvaluator
	prompts := t.prompts()
	for i := range episodes {
		ep := &episodes[i]
		var candidates []bool
		graded := false // the newest solution, and whether it was right
		last := false
		for j := range ep.Calls {
			c, v := &ep.Calls[j], &grades[i][j]
			if satisfied, ok := prompts.Satisfied(t.kind, c.Text); judges && c.Role.Name == decider && graded && ok {
				if last {
					truePositive.add(satisfied)
				} else {
					falsePositive.add(satisfied)
				}
			}
			if v.Code == "" {
				continue
			}
			if graded = v.Rewarded(); graded {
				last = v.Reward > 0
				right.add(last)
				candidates = append(candidates, last)
			}
		}
		if len(candidates) == 0 || !ep.Verdict.Rewarded() {
			continue
		}
		final := ep.Verdict.Reward > 0
		if judges {
			if candidates[0] {
				regression.add(!final)
			} else {
				recovery.add(final)
			}
			continue
		}
		sel.Add(candidates, final)
	}
	right.put(log, solver, "workflow/right")
	recovery.put(log, solver, "workflow/recovery")
	regression.put(log, solver, "workflow/regression")
	truePositive.put(log, decider, "workflow/true_positive")
	falsePositive.put(log, decider, "workflow/false_positive")
	logSelection(log, decider, &sel)
}

func logSelection(log *record, decider string, s *metrics.Selection) {
	if s.Episodes == 0 {
		return
	}
	n := float64(s.Episodes)
	log.role(decider, store.AllSlots, "workflow/oracle", float64(s.Any)/n)
	log.role(decider, store.AllSlots, "workflow/minus_oracle", s.MinusOracle())
	log.role(decider, store.AllSlots, "workflow/contested", float64(s.Contested)/n)
	if lift, ok := s.Lift(); ok {
		log.role(decider, store.AllSlots, "workflow/selection", float64(s.Chosen)/float64(s.Contested))
		log.role(decider, store.AllSlots, "workflow/selection_lift", lift)
	}
}
