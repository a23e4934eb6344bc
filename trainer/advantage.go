package trainer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/trainer/grpo"
)

// advantages fills in the rows' advantages. Roles with an estimator of their own
// are taken by themselves: what it computes over a batch is over their rows.
func (t *Trainer) advantages(rows []*row) error {
	for _, role := range append([]string{""}, t.workflow.Roles()...) {
		name, own := t.cfg.Estimators[role]
		if role == "" {
			name = t.cfg.Estimator
		} else if !own {
			continue
		}
		var of []*row
		for _, r := range rows {
			_, apart := t.cfg.Estimators[r.call.Role.Name]
			if role == "" && !apart || r.call.Role.Name == role {
				of = append(of, r)
			}
		}
		if err := t.estimate(of, grpo.Estimator(name)); err != nil {
			return err
		}
	}
	return nil
}

// estimate fills in the advantages of rows under one estimator.
func (t *Trainer) estimate(rows []*row, by grpo.Estimator) error {
	rewards, groups, lengths := make([]float64, len(rows)), make([]string, len(rows)), make([]int, len(rows))
	for i, r := range rows {
		rewards[i], groups[i], lengths[i] = r.reward, r.group, len(r.call.IDs)
	}
	adv, err := grpo.Advantages(rewards, groups, lengths, grpo.AdvantageOptions{
		Estimator: by, Epsilon: t.cfg.AdvEpsilon, Singleton: grpo.Singleton(t.cfg.Singleton)})
	if err != nil {
		return err
	}
	for i, r := range rows {
		r.advantage = adv[i]
	}
	return nil
}

// knownRoles refuses settings for roles that the workflow does not have: they
// would do nothing.
func (t *Trainer) knownRoles() error {
	roles := t.workflow.Roles()
	for _, name := range slices.Sorted(maps.Keys(t.cfg.Anchor)) {
		if !slices.Contains(roles, name) {
			return fmt.Errorf("anchor.%s: the roles of %s are %s", name, t.cfg.Workflow, strings.Join(roles, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.cfg.Estimators)) {
		if !slices.Contains(roles, name) {
			return fmt.Errorf("grpo.estimators.%s: the roles of %s are %s", name, t.cfg.Workflow, strings.Join(roles, ", "))
		}
	}
	return nil
}
