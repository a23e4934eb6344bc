package trainer

import (
	"context"
	"errors"
	"fmt"

	"troupe/data"
	"troupe/trainer/grpo"
	"troupe/trainer/rollout"
	"troupe/trainer/workflow"
)

// harvest is what an iteration played.
type harvest struct {
	tasks    []data.Task
	episodes []workflow.Episode
	use      map[string]bool // tasks to train on; nil: all
}

// gather plays an iteration's tasks. With dynamic sampling it goes on until
// enough of them have rewards that differ, and leaves out the others.
func (t *Trainer) gather(ctx context.Context, log *record) (harvest, error) {
	if !t.cfg.Dynamic {
		tasks := t.source.draw(log.Iteration, t.cfg.Tasks)
		episodes, err := t.play(ctx, log.Iteration, tasks)
		return harvest{tasks, episodes, nil}, err
	}
	h := harvest{use: map[string]bool{}}
	seen := map[string]bool{}
	wanted := grpo.DynamicSampling{Target: t.cfg.Tasks, MaxGenerations: t.cfg.Generations}
	generations := 0
	for done := false; !done; generations++ {
		if len(seen) == len(t.source.tasks) {
			log.event("dynamic_sampling", "", "warning", fmt.Sprintf("all %d tasks gave %d of %d groups with different rewards", len(seen), len(h.use), t.cfg.Tasks), float64(len(h.use)))
			break
		}
		t.batches++
		var fresh []data.Task
		for _, task := range t.source.draw(t.batches, t.cfg.Tasks) {
			if !seen[task.ID] { // an epoch may begin within an iteration
				seen[task.ID] = true
				fresh = append(fresh, task)
			}
		}
		episodes, err := t.play(ctx, log.Iteration, fresh)
		if err != nil {
			return h, err
		}
		teach := teaching(fresh, episodes)
		use, enough, err := wanted.Add(len(teach))
		for _, id := range teach[:use] {
			h.use[id] = true
		}
		h.tasks, h.episodes = append(h.tasks, fresh...), append(h.episodes, episodes...)
		done = enough
		if errors.Is(err, grpo.ErrTooFewGroups) {
			log.event("dynamic_sampling", "", "warning", err.Error(), float64(len(h.use)))
			done = true
		} else if err != nil {
			return h, err
		}
	}
	log.step("batch/generations", float64(generations))
	log.step("batch/groups_used", float64(len(h.use)))
	return h, nil
}

func (t *Trainer) play(ctx context.Context, iteration int, tasks []data.Task) ([]workflow.Episode, error) {
	jobs := rollout.Jobs(t.cfg.Seed, iteration, tasks, t.cfg.Rollouts)
	episodes, err := rollout.Play(ctx, t.workflow, jobs, t.engine, t.watched(iteration, "rollout", len(jobs)))
	if err != nil {
		return nil, err
	}
	t.sound(episodes)
	return episodes, nil
}

// teaching lists the tasks whose judged episodes differ in their rewards.
func teaching(tasks []data.Task, episodes []workflow.Episode) []string {
	rewards := map[string][]float64{}
	for i := range episodes {
		if ep := &episodes[i]; ep.Verdict.Rewarded() {
			rewards[ep.Task] = append(rewards[ep.Task], ep.Verdict.Reward)
		}
	}
	var ids []string
	for _, task := range tasks {
		if r := rewards[task.ID]; len(r) > 1 && grpo.Teaches(r) {
			ids = append(ids, task.ID)
		}
	}
	return ids
}
