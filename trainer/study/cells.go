package study

import (
	"fmt"
	"slices"

	"troupe/data"
	"troupe/trainer"
)

// Cell is one run of the grid: a workflow under a policy on a task.
type Cell struct {
	Workflow string
	Policy   string
	Kind     data.Kind
}

// Name is the cell as tables show it.
func (c Cell) Name() string {
	policy := map[string]string{"shared": "SP", "isolated": "IP"}[c.Policy]
	if c.Workflow == "single" {
		return fmt.Sprintf("single-%s", c.Kind)
	}
	return fmt.Sprintf("%s-%s-%s", c.Workflow, policy, c.Kind)
}

// grid crosses the workflows with both tasks and, where there is more than one
// role, both policies.
func grid(workflows ...string) []Cell {
	var cells []Cell
	for _, kind := range []data.Kind{data.Math, data.Code} {
		for _, w := range workflows {
			cells = append(cells, Cell{w, "shared", kind})
			if w != "single" {
				cells = append(cells, Cell{w, "isolated", kind})
			}
		}
	}
	return cells
}

// SmokeCells are the six cells of the smoke grid.
func SmokeCells() []Cell { return grid("single", "voting") }

// DefaultCells are the fourteen cells of the full grid.
func DefaultCells() []Cell { return grid("single", "voting", "evalopt", "orch") }

// budget is the most tokens a role may reply with: its longest right reply and
// a little more.
var budget = map[string]int{
	"generator": 11, "aggregator": 12, "evaluator": 10, "orchestrator": 8, "worker": 16, "synthesizer": 11,
}

// cellConfig is the recipe of the study: one on-policy update per policy and
// iteration with all its rows, full parameters, constant rate.
func cellConfig(c Cell) trainer.Config {
	cfg, err := trainer.Profile("clean")
	if err != nil {
		panic(err) // the name is a constant
	}
	cfg.Profile = "study"
	cfg.Workflow, cfg.Policy, cfg.Task = c.Workflow, c.Policy, string(c.Kind)
	cfg.Chat, cfg.Params, cfg.Rank, cfg.Alpha = "off", "full", 0, 0
	cfg.Tasks, cfg.Rollouts, cfg.Temperature, cfg.Budget, cfg.MaxTokens = 32, 8, 1, budget, 16
	cfg.LRSchedule, cfg.LRWarmup = "constant", 5
	cfg.Beta2, cfg.Decay, cfg.MiniBatch = 0.99, 0, 0
	cfg.EvalEvery, cfg.EvalN, cfg.EvalGreedy = 0, 600, true
	cfg.CheckpointEvery, cfg.CheckpointKeep, cfg.LogCalls = 10, 1, "10"
	return cfg
}

// order puts cells that cost most first, so that the last ones to finish are
// short.
func order(cells []Cell) []Cell {
	cost := map[string]int{"orch": 4, "voting": 3, "evalopt": 2, "single": 1}
	sorted := slices.Clone(cells)
	slices.SortStableFunc(sorted, func(a, b Cell) int { return cost[b.Workflow] - cost[a.Workflow] })
	return sorted
}
