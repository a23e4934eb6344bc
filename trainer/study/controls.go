package study

import (
	"context"
	"hash/fnv"

	"troupe/data"
	"troupe/trainer"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Control is a pair of runs that differ in one thing, on the same seeds, tasks
// and base.
type Control struct {
	Name     string
	Question string
	A, B     Cell
	Labels   [2]string
	Slots    bool // it is about the amplification of the generators
}

// arms are the departures from the recipe, by name. Both runs of a control are
// in it: they are shorter than a cell of the grid, and measured more often.
var arms = map[string]func(*trainer.Config){
	"schedule/clamped":  scheduled("iteration", true),
	"schedule/per-call": scheduled("call", false),
	"rate/recipe": func(c *trainer.Config) {
		few(c, 150)
	},
	"rate/ramp": func(c *trainer.Config) {
		few(c, 150)
		c.LRSchedule, c.LR, c.LRWarmup = "ramp", 4e-3, 0
	},
	"steps/unequal":  func(c *trainer.Config) { short(c, 80); c.MiniBatch = 256 },
	"steps/equal":    func(c *trainer.Config) { short(c, 80) },
	"rewards/true":   func(c *trainer.Config) { short(c, 40) },
	"rewards/by-lot": func(c *trainer.Config) { short(c, 40) },

	"advantages/earned":   func(c *trainer.Config) { short(c, 40) },
	"advantages/shuffled": func(c *trainer.Config) { short(c, 40); c.Shuffle = true },

	"voters/three":   func(c *trainer.Config) { short(c, 80) },
	"voters/one":     func(c *trainer.Config) { short(c, 80); c.Voters, c.Rollouts, c.GradParts = 1, 24, 3 },
	"slots/together": func(c *trainer.Config) { short(c, 80) },
	"slots/apart":    func(c *trainer.Config) { short(c, 80) },
	"batch/32":       func(c *trainer.Config) { short(c, 6) },
	"batch/256":      func(c *trainer.Config) { short(c, 6); c.Tasks = 256 },
	"parse/strict":   func(c *trainer.Config) { few(c, 100); c.LR, c.Fallback = 1e-3, false },
	"parse/lenient":  func(c *trainer.Config) { few(c, 100); c.LR, c.Defaults = 1e-3, true },
}

// short sets the length of a control; ten iterations lie between measurements.
func short(c *trainer.Config, iterations int) {
	c.Iterations, c.EvalEvery, c.EvalGreedy = iterations, 10, false
}

// few is a control with an eighth of the recipe's rollouts.
func few(c *trainer.Config, iterations int) {
	short(c, iterations)
	c.Tasks, c.Rollouts = 16, 4
}

func scheduled(step string, clamp bool) func(*trainer.Config) {
	return func(c *trainer.Config) {
		short(c, 120)
		c.Tasks, c.LR = 16, 2e-3
		c.LRSchedule, c.LRStep, c.LRClamp = "cosine", step, clamp
	}
}

// Controls are the suspected artefacts of the reference stack, and nulls, each
// as a pair on voting over sums, with the given seed.
func Controls(seed uint64) []Control {
	all := []Control{
		pair("schedule", "Does a cosine that is stepped at every update call, and not held at its end, cost accuracy late in a run?",
			"clamped", "per-call", "isolated", false),
		pair("rate", "Does a learning rate that grows too high, with few rollouts, make a run peak and then collapse?",
			"recipe", "ramp", "isolated", false),
		pair("steps", "Is it the number of optimizer steps, three for the generator and one for the aggregator, that makes the difference?",
			"equal", "unequal", "isolated", false),
		pair("rewards", "What do the metrics show when the reward of a training answer is drawn by lot?",
			"true", "by-lot", "isolated", true),
		pair("advantages", "What is left of the amplification when advantages are dealt out at random?",
			"earned", "shuffled", "isolated", true),
		pair("voters", "Do three generators give more, and pull together more, than thirds of one with as many rollouts?",
			"three", "one", "isolated", true),
		pair("slots", "Does it matter that the generators share one parameter set?",
			"together", "apart", "isolated", true),
		pair("batch", "How much of the amplification is hidden by the noise of a small batch?",
			"32", "256", "isolated", true),
		pair("parse", "Does lenient reading, with a default for what can't be read, hide a role that has died?",
			"strict", "lenient", "isolated", false),
	}
	for i := range all {
		all[i].A.Seed, all[i].B.Seed = seed, seed
	}
	return all
}

// ControlCells are both runs of every control.
func ControlCells(controls []Control) []Cell {
	var cells []Cell
	for _, c := range controls {
		cells = append(cells, c.A, c.B)
	}
	return cells
}

func pair(name, question, a, b, policy string, slots bool) Control {
	cell := func(arm string) Cell {
		c := Cell{Workflow: "voting", Policy: policy, Kind: data.Math, Arm: name + "/" + arm}
		if c.Arm == "slots/apart" {
			c.Policy = "slot"
		}
		return c
	}
	return Control{Name: name, Question: question, A: cell(a), B: cell(b), Labels: [2]string{a, b}, Slots: slots}
}

// verifier is what judges a cell's answers.
func (s *Study) verifier(c Cell) workflow.Verifier {
	if c.Arm == "rewards/by-lot" {
		return lot{s.opt.Verifier, c.seed()}
	}
	return s.opt.Verifier
}

// lot rewards training answers by a hash of task and text: half of them,
// whether right or not, the same every time. What is measured on held-out tasks
// is judged as ever.
type lot struct {
	workflow.Verifier
	seed uint64
}

// Verify draws the reward of a training answer.
func (l lot) Verify(ctx context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	if t.Split != data.Train {
		return l.Verifier.Verify(ctx, t, answer)
	}
	h := fnv.New64a()
	h.Write([]byte{byte(l.seed)})
	h.Write([]byte(t.ID + "\x00" + answer))
	v := verdict.Verdict{Code: verdict.WA, Reason: "by lot", Total: 1}
	if h.Sum64()>>17&1 == 1 { // low bits of FNV are weak
		v.Code, v.Reward, v.Passed = verdict.AC, 1, 1
	}
	return v, ctx.Err()
}
