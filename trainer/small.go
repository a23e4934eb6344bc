package trainer

// small is clean with what suits a pretrained checkpoint of some hundred
// million parameters on questions with short answers: bare temperature,
// adapters of rank 16, few replies of few tokens, and a rate that stays below
// the one at which such models slip again after a while.
func small() Config {
	c := clean()
	c.Profile = "small"
	c.Task = "sums2"
	c.Iterations, c.Tasks, c.Rollouts = 100, 8, 8
	c.Temperature, c.MaxTokens = 1, 24
	c.RoleTokens = map[string]int{"evaluator": 8, "orchestrator": 40}
	c.Defaults = true // without it, roles that can't be read yet would leave nothing to learn from
	c.Rank, c.Alpha = 16, 32
	c.LR, c.LRSchedule, c.LRWarmup = 8e-5, "constant", 0
	c.EvalEvery, c.EvalN, c.EvalGreedy = 20, 500, true
	c.ProbeEvery = 50
	c.CheckpointEvery = 10
	return c
}
