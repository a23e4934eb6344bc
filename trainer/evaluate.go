package trainer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/data"
	"troupe/model"
	"troupe/model/lora"
	"troupe/trainer/checkpoint"
	"troupe/trainer/metrics"
	"troupe/trainer/policy"
	"troupe/trainer/rollout"
	"troupe/trainer/workflow"
)

// Transfer says which roles of a workflow a single agent's parameters stand in
// for.
type Transfer string

// TransferAll gives them to every role, TransferSolvers to those that write
// solutions, the others being the base. TransferNone takes a checkpoint's sets
// as its policy routes them.
const (
	TransferNone    Transfer = ""
	TransferAll     Transfer = "all"
	TransferSolvers Transfer = "solvers"
)

// Subject is what an evaluation measures. The zero value is the base model
// behind every role.
type Subject struct {
	Checkpoint string // folder of a run's checkpoint
	Transfer   Transfer
	Sum        string // of the checkpoint's manifest; set by Evaluate
}

// Evaluation is how a subject did on tasks, each of them played several times.
type Evaluation struct {
	Subject  Subject
	Tasks    []data.Task
	Episodes [][]workflow.Episode // by task
	Unjudged int                  // episodes left out
}

// Evaluate plays tasks samples times each, at a temperature of 0 or more. With
// one sample the draws are those of the evaluations within a run.
func Evaluate(ctx context.Context, cfg *Config, parts Parts, subject Subject, temperature float64, tasks []data.Task, samples int) (*Evaluation, error) {
	if len(tasks) == 0 || samples < 1 {
		return nil, fmt.Errorf("nothing to evaluate: %d tasks, %d samples", len(tasks), samples)
	}
	w, err := cfg.NewWorkflow(tasks[0].Kind, parts.Prompts)
	if err != nil {
		return nil, err
	}
	route, sets, err := subject.open(cfg, parts.Base, w)
	if err != nil {
		return nil, err
	}
	e := newEngine(parts.Encoder, route, sets, temperature)
	episodes, err := rollout.Play(ctx, w, rollout.Jobs(cfg.Seed, evalIteration, tasks, samples), e, parts.Verifier)
	if err != nil {
		return nil, err
	}
	out := &Evaluation{Subject: subject, Tasks: tasks}
	for i := range tasks {
		out.Episodes = append(out.Episodes, episodes[i*samples:(i+1)*samples])
	}
	for i := range episodes {
		if !episodes[i].Verdict.Rewarded() {
			out.Unjudged++
		}
	}
	return out, nil
}

const baseSet = "base"

// open loads the subject's parameter sets and says which role gets which.
func (s *Subject) open(cfg *Config, base *model.Model, w workflow.Workflow) (policy.Map, map[string]*policy.Set, error) {
	roles := w.Roles()
	sets := map[string]*policy.Set{baseSet: {Name: baseSet, Model: base}}
	spec := make([]string, len(roles))
	if s.Checkpoint == "" {
		for i, r := range roles {
			spec[i] = r + "=" + baseSet
		}
		route, err := policy.Parse(strings.Join(spec, ","), roles)
		return route, sets, err
	}
	sum, err := HashFile(filepath.Join(s.Checkpoint, "manifest.json"))
	if err != nil {
		return policy.Map{}, nil, err
	}
	s.Sum = sum
	if _, err := checkpoint.Verify(s.Checkpoint, ""); err != nil {
		return policy.Map{}, nil, err
	}
	there, err := s.sets()
	if err != nil {
		return policy.Map{}, nil, err
	}
	routing := cfg.Policy
	if s.Transfer != TransferNone {
		if len(there) != 1 {
			return policy.Map{}, nil, fmt.Errorf("checkpoint %s: a transfer takes the one parameter set of a single agent, this has %s", s.Checkpoint, strings.Join(there, ", "))
		}
		for i, r := range roles {
			spec[i] = r + "=" + there[0]
			if s.Transfer == TransferSolvers && !workflow.Solves(r) {
				spec[i] = r + "=" + baseSet
			}
		}
		routing = strings.Join(spec, ",")
	} else if slices.Equal(there, []string{policy.SharedSet}) {
		routing = "shared"
	} else if routing == "shared" {
		routing = "isolated" // the default does not fit what is there
	}
	route, err := policy.Parse(routing, roles)
	if err != nil {
		return route, nil, err
	}
	for _, name := range there {
		if sets[name], err = loadSet(base, name, filepath.Join(s.Checkpoint, name)); err != nil {
			return route, nil, err
		}
	}
	for _, r := range roles {
		if name := route.Set(r, 0); sets[name] == nil {
			return route, nil, fmt.Errorf("checkpoint %s has no parameter set %s for the role %s, only %s", s.Checkpoint, name, r, strings.Join(there, ", "))
		}
	}
	return route, sets, nil
}

// sets lists the parameter sets in the checkpoint.
func (s *Subject) sets() ([]string, error) {
	entries, err := os.ReadDir(s.Checkpoint)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("checkpoint %s has no parameter set", s.Checkpoint)
	}
	return names, nil
}

func loadSet(base *model.Model, name, dir string) (*policy.Set, error) {
	_, err := os.Stat(filepath.Join(dir, lora.ConfigFile))
	switch {
	case err == nil:
		a, err := base.LoadAdapter(dir)
		return &policy.Set{Name: name, Model: base, Adapter: a}, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	m, err := model.Load(dir, model.LoadOptions{Numerics: base.Numerics(), Vocab: base.Vocab()})
	return &policy.Set{Name: name, Model: m}, err
}

// Right is, by task, the share of judged samples that were right; tasks of
// which none could be judged are NaN.
func (e *Evaluation) Right() []float64 {
	out := make([]float64, len(e.Tasks))
	for i, eps := range e.Episodes {
		right, n := 0.0, 0
		for _, ep := range eps {
			if ep.Verdict.Rewarded() {
				right += ep.Verdict.Reward
				n++
			}
		}
		out[i] = right / float64(n)
	}
	return out
}

// PassAt1 is the mean of Right over the judged tasks and its standard error.
func (e *Evaluation) PassAt1() (accuracy, stderr float64, n int) {
	var judged []float64
	for _, r := range e.Right() {
		if !math.IsNaN(r) {
			judged = append(judged, r)
		}
	}
	accuracy, n = metrics.Mean(judged), len(judged)
	if len(e.Episodes[0]) == 1 {
		return accuracy, metrics.BinomialSE(accuracy, n), n
	}
	return accuracy, metrics.Std(judged) / math.Sqrt(math.Max(1, float64(n))), n
}

// PassAtN is the share of judged tasks with a right answer among the samples.
func (e *Evaluation) PassAtN() float64 {
	right := make([]float64, 0, len(e.Tasks))
	for _, eps := range e.Episodes {
		if k, n := rightAmong(eps); n > 0 {
			right = append(right, metrics.PassAtK(n, k, n))
		}
	}
	return metrics.Mean(right)
}

// MajorityAtN is the share of tasks where the answer given most often was
// right; key tells answers apart. The one seen first wins a tie.
func (e *Evaluation) MajorityAtN(key func(data.Task, string) string) float64 {
	var right []float64
	for i, eps := range e.Episodes {
		var votes []string
		var rewards []float64
		for _, ep := range eps {
			if ep.Verdict.Rewarded() {
				votes = append(votes, key(e.Tasks[i], ep.Answer))
				rewards = append(rewards, ep.Verdict.Reward)
			}
		}
		if len(votes) > 0 {
			right = append(right, rewards[metrics.Majority(votes)])
		}
	}
	return metrics.Mean(right)
}

func rightAmong(eps []workflow.Episode) (right, judged int) {
	for _, ep := range eps {
		if ep.Verdict.Rewarded() {
			judged++
			if ep.Verdict.Reward > 0 {
				right++
			}
		}
	}
	return right, judged
}

// Paired compares two evaluations task by task.
type Paired struct {
	N            int // tasks that both judged
	Gain, SE     float64
	P            float64 // McNemar, exact; with several samples by the bootstrap, two-sided
	Gained, Lost int     // tasks that were better and worse
}

// Against compares e with an earlier evaluation of the same tasks.
func (e *Evaluation) Against(before *Evaluation) Paired {
	a, b := before.Right(), e.Right()
	var p Paired
	var d []float64
	for i := range a {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) {
			continue
		}
		d = append(d, b[i]-a[i])
		switch {
		case b[i] > a[i]:
			p.Gained++
		case b[i] < a[i]:
			p.Lost++
		}
	}
	p.N, p.Gain = len(d), metrics.Mean(d)
	p.SE = metrics.Std(d) / math.Sqrt(math.Max(1, float64(len(d))))
	if len(e.Episodes[0]) == 1 && len(before.Episodes[0]) == 1 {
		p.P, _ = metrics.McNemar(p.Lost, p.Gained)
		return p
	}
	const resamples = 10000
	p.P = metrics.PairedBootstrap(d, resamples, 1).P(resamples)
	return p
}
