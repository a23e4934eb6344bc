package study

import (
	"fmt"
	"strings"

	"troupe/data"
	"troupe/trainer"
	"troupe/trainer/grid"
)

// Cell is one run of the study: a workflow under a policy on a task, from one
// of the bases. The zero Scale is the smallest, the zero Seed is 1.
type Cell struct {
	Workflow   string
	Policy     string
	Kind       data.Kind
	Scale      string
	Seed       uint64
	Arm        string // of a control, or another departure from the recipe; empty in the grid
	Iterations int    // 0: as many as the study's
}

// Name is the cell as tables show it: the scale where it is not the smallest,
// the seed where it is not 1.
func (c Cell) Name() string {
	name := fmt.Sprintf("%s-%s-%s", c.Workflow, policyName(c.Policy), c.Kind)
	if c.Workflow == "single" {
		name = fmt.Sprintf("single-%s", c.Kind)
	}
	if c.Arm != "" {
		name = c.Arm
	}
	if c.Scale != "" && c.Scale != Shapes()[0].Name {
		name += "-" + strings.TrimPrefix(c.Scale, "tiny-")
	}
	if c.Seed > 1 {
		name += fmt.Sprintf("#%d", c.Seed)
	}
	return name
}

func policyName(policy string) string {
	switch policy {
	case "shared":
		return "SP"
	case "isolated":
		return "IP"
	}
	return policy
}

// Named picks cells by their names, in their own order.
func Named(cells []Cell, names []string) ([]Cell, error) {
	var picked []Cell
	var known []string
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	for _, c := range cells {
		known = append(known, c.Name())
		if wanted[c.Name()] {
			picked = append(picked, c)
			delete(wanted, c.Name())
		}
	}
	for _, n := range names {
		if wanted[n] {
			return nil, fmt.Errorf("%q is none of %s", n, strings.Join(known, ", "))
		}
	}
	return picked, nil
}

// Cross repeats cells for every scale and seed, seeds outermost: the first
// seed's tables are complete before the second one starts.
func Cross(cells []Cell, scales []string, seeds []uint64) []Cell {
	var all []Cell
	for _, seed := range seeds {
		for _, scale := range scales {
			for _, c := range cells {
				c.Scale, c.Seed = scale, seed
				all = append(all, c)
			}
		}
	}
	return all
}

// crossed crosses the workflows with both tasks and, where there is more than one
// role, both policies.
func crossed(workflows ...string) []Cell {
	var cells []Cell
	for _, kind := range []data.Kind{data.Math, data.Code} {
		for _, w := range workflows {
			cells = append(cells, Cell{Workflow: w, Policy: "shared", Kind: kind})
			if w != "single" {
				cells = append(cells, Cell{Workflow: w, Policy: "isolated", Kind: kind})
			}
		}
	}
	return cells
}

// SmokeCells are the six cells of the smoke grid.
func SmokeCells() []Cell { return crossed("single", "voting") }

// DefaultCells are the fourteen cells of the full grid.
func DefaultCells() []Cell { return crossed("single", "voting", "evalopt", "orch") }

// replyTokens is the most tokens a role may reply with: its longest right reply and
// a little more.
var replyTokens = map[string]int{
	"generator": 11, "aggregator": 12, "evaluator": 10, "orchestrator": 8, "worker": 16, "synthesizer": 11,
}

// cellConfig is the recipe of the study: one on-policy update per policy and
// iteration with all its rows, full parameters, constant rate.
func cellConfig(c Cell) trainer.Config {
	cfg, err := trainer.Profile("clean")
	if err != nil {
		panic(err) // the name is a constant
	}
	shape, err := ShapeNamed(c.Scale)
	if err != nil {
		panic(err) // New has looked at every cell
	}
	cfg.Profile, cfg.LR = "study", shape.Rate
	cfg.Workflow, cfg.Policy, cfg.Task = c.Workflow, c.Policy, string(c.Kind)
	cfg.Chat, cfg.Numerics, cfg.Params, cfg.Rank, cfg.Alpha = "off", "f32", "full", 0, 0
	cfg.Tasks, cfg.Rollouts, cfg.Temperature, cfg.RoleTokens, cfg.MaxTokens = 32, 8, 1, replyTokens, 16
	cfg.LRSchedule, cfg.LRWarmup = "constant", 5
	cfg.Beta2, cfg.Decay, cfg.MiniBatch = 0.99, 0, 0
	cfg.EvalEvery, cfg.EvalN, cfg.EvalGreedy = 0, 600, true
	cfg.CheckpointEvery, cfg.CheckpointKeep, cfg.LogCalls = 10, 1, "10"
	if c.Arm != "" {
		cfg.Profile = "study/" + c.Arm
	}
	if change := arms[c.Arm]; change != nil {
		change(&cfg)
	}
	return cfg
}

// Jobs lists cells by index with what they cost, measured on the default grid
// in units of a single-agent cell of the smallest scale.
func Jobs(cells []Cell) []grid.Job {
	workflow := map[string]float64{"single": 1, "evalopt": 4, "voting": 5, "orch": 6}
	scale := map[string]float64{"tiny-m": 3, "tiny-l": 12}
	jobs := make([]grid.Job, len(cells))
	for i, c := range cells {
		jobs[i] = grid.Job{Index: i, Name: c.Name(), Cost: workflow[c.Workflow] * max(1, scale[c.Scale])}
		if c.Iterations > 0 {
			jobs[i].Cost *= float64(c.Iterations) / 80
		}
	}
	return jobs
}
