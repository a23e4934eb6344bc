package trainer

import (
	"context"
	"math"

	"troupe/data/store"
	"troupe/trainer/metrics"
	"troupe/trainer/rollout"
)

// evalIteration is the iteration in the keys of evaluation draws: the same at
// every evaluation, so that two evaluations differ by the policy alone.
const evalIteration = -1

// conversations is how many episodes of the first and the last evaluation are
// kept with all that was said, to be read side by side.
const conversations = 10

// evaluate plays every task of the evaluated split once at the training temperature and,
// where asked for, once greedily.
func (t *Trainer) evaluate(ctx context.Context, log *record) error {
	if len(t.held) == 0 {
		return nil
	}
	var c counts
	t.noteTasks(log, t.held)
	for i, temperature := range t.temperatures(log.Iteration == 0 || t.last) {
		accuracy, err := t.evaluateAt(ctx, log, temperature, &c)
		if err != nil {
			return err
		}
		if i == 0 && !math.IsNaN(accuracy) {
			t.accuracy = accuracy
		}
	}
	log.step("val/judged", float64(c.judged))
	log.step("val/cached", float64(c.cached))
	log.timed("eval")
	return nil
}

// temperatures are those of an evaluation; greedy ones are for the run's ends.
func (t *Trainer) temperatures(end bool) []float64 {
	if t.cfg.EvalGreedy && end {
		return []float64{t.cfg.Temperature, 0}
	}
	return []float64{t.cfg.Temperature}
}

func (t *Trainer) evaluateAt(ctx context.Context, log *record, temperature float64, c *counts) (float64, error) {
	engine := *t.engine
	engine.temperature = float32(temperature)
	jobs := rollout.Jobs(t.cfg.Seed, evalIteration, t.held, 1)
	episodes, err := rollout.Play(ctx, t.workflow, jobs, &engine, t.watched(log.Iteration, "evaluation", len(jobs)))
	if err != nil {
		return 0, err
	}
	t.sound(episodes)
	split := t.cfg.EvalSplit
	right, n := 0.0, 0
	for i := range episodes {
		ep := &episodes[i]
		at := store.At{Split: split, Temperature: temperature, Task: ep.Task, Rollout: ep.Rollout}
		log.Episodes = append(log.Episodes, store.Episode{At: at, Reward: ep.Verdict.Reward,
			Rewarded: ep.Verdict.Rewarded(), Verdict: string(ep.Verdict.Code)})
		t.logVerdict(log, at, ep, false, c)
		log.EvalItems = append(log.EvalItems, store.EvalItem{Split: split, Temperature: temperature, Task: ep.Task,
			Correct: ep.Verdict.Reward, Verdict: string(ep.Verdict.Code)})
		if i < conversations && t.cfg.LogCalls != "none" && (log.Iteration == 0 || t.last) {
			for j := range ep.Calls {
				log.Calls = append(log.Calls, storeCall(at, &ep.Calls[j], 0))
			}
		}
		if ep.Verdict.Rewarded() {
			right += ep.Verdict.Reward
			n++
		}
	}
	accuracy := right / float64(n)
	if n == 0 {
		accuracy = math.NaN() // stored as NULL: nothing is known, which is not 0
		log.event("infrastructure", "", "alarm", "no answer of the evaluation could be judged", float64(len(episodes)))
	}
	log.Evals = append(log.Evals, store.Eval{Split: split, Temperature: temperature, N: n,
		Accuracy: accuracy, Stderr: metrics.BinomialSE(accuracy, max(n, 1))})
	return accuracy, nil
}
