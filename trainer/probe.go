package trainer

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"troupe/data"
	"troupe/data/store"
	"troupe/internal/prng"
	"troupe/model"
	"troupe/trainer/rollout"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Metrics that need extra passes are taken on a fixed probe set: the same
// training tasks with the same draws every time, so that two probes differ by
// the policy alone. Nothing of a probe is trained on.
const (
	probeIteration = -2 // in the keys of the probe's draws
	probeSplit     = "probe"
)

// probeTasks draws the probe set.
func (t *Trainer) probeTasks() []data.Task {
	if t.cfg.ProbeEvery == 0 {
		return nil
	}
	all := t.source.tasks
	order := prng.Stream(t.cfg.Seed, "probe").Perm(len(all))
	tasks := make([]data.Task, min(len(all), t.cfg.ProbeTasks))
	for i := range tasks {
		tasks[i] = all[order[i]]
	}
	return tasks
}

// probe plays the probe set and measures what it shows.
func (t *Trainer) probe(ctx context.Context, log *record) error {
	if t.dueAt(log.Iteration, t.last).probes == 0 {
		return nil
	}
	jobs := rollout.Jobs(t.cfg.Seed, probeIteration, t.probes, 1)
	episodes, err := rollout.Play(ctx, t.workflow, jobs, t.engine, t.watched(log.Iteration, "probe", len(jobs)))
	if err != nil {
		return err
	}
	t.sound(episodes)
	grades, err := t.grade(ctx, episodes)
	if err != nil {
		return err
	}
	t.logProbe(log, episodes, grades)
	for _, role := range t.workflow.Roles() {
		if err := t.probeRole(ctx, log, role, callsOf(episodes, role)); err != nil {
			return fmt.Errorf("probe %s: %w", role, err)
		}
	}
	t.logTeamwork(log, episodes, grades)
	t.logTexts(log, episodes)
	for _, name := range t.trained {
		d := t.displacement(t.sets[name])
		for _, role := range t.rolesOf(name) {
			log.role(role, store.AllSlots, "actor/displacement", d)
		}
	}
	log.timed("metrics")
	return nil
}

// grade judges every solution in the episodes, not only the one that counts.
// It returns a verdict for each call; those of other roles have none.
func (t *Trainer) grade(ctx context.Context, episodes []workflow.Episode) ([][]verdict.Verdict, error) {
	const atATime = 64
	tasks := map[string]data.Task{}
	for _, task := range t.probes {
		tasks[task.ID] = task
	}
	grades := make([][]verdict.Verdict, len(episodes))
	errs := make([]error, len(episodes))
	var all sync.WaitGroup
	free := make(chan struct{}, atATime)
	for i := range episodes {
		ep := &episodes[i]
		grades[i] = make([]verdict.Verdict, len(ep.Calls))
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			for j := range ep.Calls {
				if c := &ep.Calls[j]; workflow.Solves(c.Role.Name) && errs[i] == nil {
					grades[i][j], errs[i] = t.parts.Verifier.Verify(ctx, tasks[ep.Task], c.Text)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return grades, nil
}

// logProbe notes the probe's episodes and verdicts, so that its metrics can be
// computed again from the log.
func (t *Trainer) logProbe(log *record, episodes []workflow.Episode, grades [][]verdict.Verdict) {
	t.noteTasks(log, t.probes)
	detailed := t.callsLogged(log.Iteration)
	var c counts
	for i := range episodes {
		ep := &episodes[i]
		at := store.At{Split: probeSplit, Temperature: t.cfg.Temperature, Task: ep.Task, Rollout: ep.Rollout}
		log.Episodes = append(log.Episodes, store.Episode{At: at, Reward: ep.Verdict.Reward,
			Rewarded: ep.Verdict.Rewarded(), Verdict: string(ep.Verdict.Code)})
		t.logVerdict(log, at, ep, false, &c)
		for j := range ep.Calls {
			call := &ep.Calls[j]
			if v := &grades[i][j]; v.Code != "" {
				log.Verdicts = append(log.Verdicts, store.Verdict{
					CallAt: store.CallAt{At: at, Role: call.Role.Name, Slot: call.Role.Slot, Turn: call.Role.Turn},
					Code:   string(v.Code), Reason: v.Reason, Passed: v.Passed, Total: v.Total, Fuel: v.Fuel,
					Cached: t.askedBefore(ep.Task, call.Text)})
			}
			if detailed {
				log.Calls = append(log.Calls, storeCall(at, call, 0))
			}
		}
	}
}

// callsOf lists a role's calls that have an answer.
func callsOf(episodes []workflow.Episode, role string) []*workflow.Call {
	var calls []*workflow.Call
	for i := range episodes {
		for j := range episodes[i].Calls {
			if c := &episodes[i].Calls[j]; c.Role.Name == role && len(c.IDs) > 0 {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// rolesOf lists the roles that a set answers for.
func (t *Trainer) rolesOf(set string) []string {
	var roles []string
	for _, role := range t.workflow.Roles() {
		for s := range t.slots(role) {
			if t.route.Set(role, s) == set && !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	return roles
}

// proxy is a call's answer after another role's prompt.
type proxy struct {
	call int
	role string
	seq  model.Sequence
}
