package trainer

import (
	"context"
	"sync"
	"time"

	"troupe/data"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Progress is where a run stands.
type Progress struct {
	Run       string
	Iteration int // done; 0 after the base evaluation
	Of        int
	Reward    float64 // mean of the iteration's episodes
	Accuracy  float64 // of the last evaluation at the training temperature
	Evaluated bool    // in this iteration
	Roles     []RoleProgress
	Tokens    float64 // sampled in the iteration's rollout
	Rollout   float64 // seconds of it
}

// RoleProgress is how a role does its work: how many of its replies of the
// iteration could not be read at all, and how often it was right.
// For a solver that is the share of its solutions that are right, and for an
// evaluator the mean of how often it accepts right ones and refuses wrong ones,
// both at the last probe; for who has the last word it is the reward.
type RoleProgress struct {
	Role   string
	Unread float64
	Right  float64
	Known  bool // Right was measured
}

// Rate is the tokens sampled per second of rollout.
func (p *Progress) Rate() float64 {
	if p.Rollout <= 0 {
		return 0
	}
	return p.Tokens / p.Rollout
}

// report tells the caller about an iteration that is in the log.
func (t *Trainer) report(log *record) {
	if t.parts.Report == nil {
		return
	}
	p := Progress{Run: t.id, Iteration: log.Iteration, Of: t.cfg.Iterations, Accuracy: t.accuracy, Evaluated: len(log.Evals) > 0}
	for _, s := range log.Steps {
		if s.Metric == "critic/rewards/mean" {
			p.Reward = s.Value
		}
	}
	for _, x := range log.Timings {
		if isRollout(x.Phase) {
			p.Rollout += x.Seconds
		}
	}
	roles := t.workflow.Roles()
	for _, name := range roles {
		r := RoleProgress{Role: name}
		of := map[string]float64{}
		for _, s := range log.RoleSteps {
			if s.Role == name {
				of[s.Metric] = s.Value
			}
		}
		r.Unread = of["parse/default"]
		p.Tokens += of["calls"] * of["response_length/mean"]
		t.judgeRole(&r, of, name == roles[len(roles)-1], p.Reward)
		p.Roles = append(p.Roles, r)
	}
	t.parts.Report(p)
}

// judgeRole fills in how often a role was right, from this iteration's metrics
// or from those of the last probe.
func (t *Trainer) judgeRole(r *RoleProgress, of map[string]float64, last bool, reward float64) {
	if t.right == nil {
		t.right = map[string]float64{}
	}
	accepts, judges := of["workflow/true_positive"]
	refuses, also := of["workflow/false_positive"]
	right, solves := of["workflow/right"]
	switch {
	case judges && also:
		t.right[r.Role] = (accepts + 1 - refuses) / 2
	case solves:
		t.right[r.Role] = right
	case last && r.Role != workflow.PromptEvaluator:
		t.right[r.Role] = reward
	}
	r.Right, r.Known = t.right[r.Role]
}

// Live is what a run does at the moment.
type Live struct {
	Iteration int
	Phase     string // rollout, update, probe or evaluation
	Episodes  int    // of the phase
	Ended     int    // of them
	Tokens    int    // sampled in the phase
	Since     time.Time
}

// live is a Live under its lock.
type live struct {
	mu     sync.Mutex
	now    Live
	open   int           // verdicts in the making
	opened time.Time     // when the first of them was begun
	judged time.Duration // in which there were any
}

// Now tells what the run does. It may be called while Run works.
func (t *Trainer) Now() Live {
	t.live.mu.Lock()
	defer t.live.mu.Unlock()
	return t.live.now
}

// phase begins a phase of an iteration.
func (l *live) phase(iteration int, name string, episodes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = Live{Iteration: iteration, Phase: name, Episodes: episodes, Since: time.Now()}
}

// sampled counts the tokens of a reply.
func (l *live) sampled(tokens int) {
	l.mu.Lock()
	l.now.Tokens += tokens
	l.mu.Unlock()
}

// watched is the verifier of a phase that begins. An episode ends with its
// verdict, so the verdicts say how many have ended.
func (t *Trainer) watched(iteration int, phase string, episodes int) workflow.Verifier {
	t.live.phase(iteration, phase, episodes)
	return watched{t.parts.Verifier, &t.live}
}

type watched struct {
	workflow.Verifier
	*live
}

func (w watched) Verify(ctx context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	w.judging(1)
	v, err := w.Verifier.Verify(ctx, t, answer)
	w.judging(-1)
	w.mu.Lock()
	w.now.Ended++
	w.mu.Unlock()
	return v, err
}
