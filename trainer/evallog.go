package trainer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"troupe/data"
	"troupe/data/store"
	"troupe/verifier/verdict"
)

// String names the subject.
func (s Subject) String() string {
	switch {
	case s.Checkpoint == "":
		return "base"
	case s.Transfer != TransferNone:
		return filepath.Base(s.Checkpoint) + " for " + string(s.Transfer) + " roles"
	}
	return filepath.Base(s.Checkpoint)
}

// SplitOf lists the tasks of a split, or all for "all". Where none is marked, a
// tenth counts as held out.
func SplitOf(tasks []data.Task, split data.Split) []data.Task {
	train, held := splits(tasks)
	switch split {
	case data.Held:
		return held
	case data.Train:
		return train
	}
	if split == "all" {
		return tasks
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t data.Task) bool { return t.Split != split })
}

// Log writes the evaluation to the run database as a run of its own, whose id
// it returns.
func (e *Evaluation) Log(ctx context.Context, cfg *Config, parts Parts, temperature float64, split string) (string, error) {
	samples := len(e.Episodes[0])
	text := fmt.Sprintf("%s# evaluated: checkpoint %q, transfer %q, temperature %v, split %s, tasks %d, samples %d\n",
		cfg.Resolved(), e.Subject.Sum, e.Subject.Transfer, temperature, split, len(e.Tasks), samples)
	sum := sha256.Sum256([]byte(text))
	id := fmt.Sprintf("eval-%s-%s-%s", cfg.Workflow, cfg.Task, hex.EncodeToString(sum[:6]))
	err := parts.DB.CreateRun(ctx, store.Run{ID: id, Config: text, Profile: "eval", Workflow: cfg.Workflow, Policy: cfg.Policy,
		Task: cfg.Task, Model: cfg.ModelSum, Numerics: cfg.Numerics, Kernels: parts.Kernels, Seed: cfg.Seed,
		Version: parts.Version, State: store.Running, Host: parts.Host})
	if err != nil {
		return "", err
	}
	b := store.Batch{Run: id, State: store.Done}
	accuracy, stderr, n := e.PassAt1()
	if n == 0 {
		accuracy = math.NaN() // stored as NULL: nothing is known, which is not 0
	}
	b.Evals = []store.Eval{{Split: split, Temperature: temperature, N: n, Accuracy: accuracy, Stderr: stderr}}
	right := e.Right()
	for i, task := range e.Tasks {
		b.Tasks = append(b.Tasks, store.Task{ID: task.ID, Kind: string(task.Kind), Text: task.Text, Gold: task.Gold})
		if !math.IsNaN(right[i]) {
			b.EvalItems = append(b.EvalItems, store.EvalItem{Split: split, Temperature: temperature, Task: task.ID,
				Correct: right[i], Verdict: string(e.Episodes[i][0].Verdict.Code)})
		}
		for j := range e.Episodes[i] {
			e.logEpisode(&b, cfg, i, j, temperature, split)
		}
	}
	return id, parts.DB.Write(ctx, b)
}

func (e *Evaluation) logEpisode(b *store.Batch, cfg *Config, task, sample int, temperature float64, split string) {
	ep := &e.Episodes[task][sample]
	v := &ep.Verdict
	at := store.At{Split: split, Temperature: temperature, Task: ep.Task, Rollout: ep.Rollout}
	b.Episodes = append(b.Episodes, store.Episode{At: at, Reward: v.Reward, Rewarded: v.Rewarded(), Verdict: string(v.Code)})
	place := store.CallAt{At: at}
	b.Verdicts = append(b.Verdicts, store.Verdict{CallAt: place, Code: string(v.Code), Reason: v.Reason,
		Passed: v.Passed, Total: v.Total, Fuel: v.Fuel})
	for i, r := range v.Tests {
		if r.Code != verdict.AC && r.Code != "" {
			b.TestResults = append(b.TestResults, store.TestResult{CallAt: place, Test: i, Code: string(r.Code),
				Fuel: r.Fuel, Stdout: r.Stdout, Stderr: r.Stderr, Detail: r.Detail})
		}
	}
	if cfg.LogCalls == "none" {
		return
	}
	for j := range ep.Calls {
		b.Calls = append(b.Calls, storeCall(at, &ep.Calls[j], 0))
	}
}
