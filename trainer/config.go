package trainer

import (
	"fmt"
	"strings"

	"troupe/trainer/grpo"
	"troupe/trainer/optim"
)

// Config is everything that decides what a run computes, and a few settings
// that don't. Each field is a key of the config file, of an override and, for
// the common ones, a flag. Fields marked hash:"-" are not part of a run's
// identity.
type Config struct {
	Profile  string `key:"profile"`
	Model    string `key:"model" hash:"-"` // folder; its content is hashed instead
	Workflow string `key:"workflow"`
	Policy   string `key:"policy"`
	Task     string `key:"task"`
	Data     string `key:"data" hash:"-"` // file; its content is hashed instead
	Seed     uint64 `key:"seed"`
	Chat     string `key:"chat"`
	Prompts  string `key:"prompts" hash:"-"` // file; its content is hashed instead
	Numerics string `key:"numerics"`         // auto until the run's machine is known

	// Content hashes of what the paths above name.
	ModelSum   string `key:"model.sha256"`
	DataSum    string `key:"data.sha256"`
	PromptsSum string `key:"prompts.sha256"`

	Iterations  int            `key:"iterations"`
	Tasks       int            `key:"tasks"`    // a batch
	Rollouts    int            `key:"rollouts"` // a task
	Temperature float64        `key:"temperature"`
	MaxTokens   int            `key:"max-tokens"`
	RoleTokens  map[string]int `key:"role-tokens"`   // longest reply by role, where it differs
	Budget      string         `key:"budget"`        // time to keep to, such as 45m; empty: none
	Ends        int            `key:"ends" hash:"-"` // iteration after which a budget ended the run: it ends there again; 0: by the clock

	Voters       int    `key:"voting.voters"`
	Evaluations  int    `key:"evalopt.evaluations"` // 0: 3 for math, 2 for code
	Workers      int    `key:"orch.workers"`
	OrchOverflow string `key:"orch.overflow"`  // truncate or end
	Defaults     bool   `key:"parse.defaults"` // an unreadable reply stands for a default
	Fallback     bool   `key:"parse.fallback"` // a reply in another form than asked for is read leniently
	Thinking     bool   `key:"chat.thinking"`

	Params    string  `key:"params"` // lora or full
	Rank      int     `key:"rank"`
	Alpha     float64 `key:"alpha"`
	Alternate int     `key:"policy.alternate"` // iterations a set's turn lasts; 0: all always

	LR         float64 `key:"lr"`
	LRSchedule string  `key:"lr.schedule"`
	LRWarmup   int     `key:"lr.warmup"`
	LRTotal    int     `key:"lr.total"` // 0: iterations
	LRStep     string  `key:"lr.step"`  // iteration or call
	LRClamp    bool    `key:"lr.clamp"`
	LRFromZero bool    `key:"lr.from-zero"` // call 0 has rate 0; otherwise the warm-up starts one step in
	Beta1      float64 `key:"adam.beta1"`
	Beta2      float64 `key:"adam.beta2"`
	Epsilon    float64 `key:"adam.eps"`
	Decay      float64 `key:"adam.decay"`
	Clip       float64 `key:"clip"`

	Estimator   string            `key:"grpo.estimator"`
	Grouping    string            `key:"grpo.group"`
	Estimators  map[string]string `key:"grpo.estimators"` // by role, where it differs
	AdvEpsilon  float64           `key:"grpo.epsilon"`
	Singleton   string            `key:"grpo.singleton"` // zero or raw
	Shuffle     bool              `key:"grpo.shuffle"`   // deal advantages out at random: a null control
	Loss        string            `key:"loss"`
	ClipLow     float64           `key:"loss.clip-low"`
	ClipHigh    float64           `key:"loss.clip-high"`
	DualClip    float64           `key:"loss.dual-clip"`
	Cap         float64           `key:"loss.cap"`
	Clamp       float64           `key:"loss.clamp"`
	Aggregation string            `key:"loss.aggregation"`
	Entropy     float64           `key:"loss.entropy"`

	MiniBatch        int    `key:"minibatch"`         // rows of an optimizer step; 0: all of the set
	MiniBatchPartial string `key:"minibatch.partial"` // renormalise or downweight
	MiniBatchOrder   string `key:"minibatch.order"`   // rows, shuffle or length
	Epochs           int    `key:"epochs"`

	Overlong        string  `key:"overlong"` // keep, drop or full
	OverlongBuffer  int     `key:"overlong.buffer"`
	OverlongPenalty float64 `key:"overlong.penalty"`

	Dynamic     bool `key:"sampling.dynamic"`     // go on until enough groups have rewards that differ
	Generations int  `key:"sampling.generations"` // batches it may take at most; 0: no limit

	Anchor          map[string]float64 `key:"anchor"` // KL to the base, by role
	CoherenceLambda float64            `key:"coherence.lambda"`
	CoherenceWindow float64            `key:"coherence.window"`

	EvalEvery  int    `key:"eval.every"`
	EvalN      int    `key:"eval.n"`
	EvalGreedy bool   `key:"eval.greedy"`
	EvalSplit  string `key:"eval.split"` // held or dev

	ProbeEvery int `key:"metrics.every"` // iterations between metrics that need extra passes; 0: none
	ProbeTasks int `key:"metrics.tasks"` // training tasks they are taken on
	GradParts  int `key:"metrics.parts"` // a lone agent's gradient is taken apart by rollout into so many; 0: not

	CheckpointEvery int    `key:"checkpoint.every"`
	CheckpointKeep  int    `key:"checkpoint.keep" hash:"-"`
	LogCalls        string `key:"log-calls" hash:"-"` // all, none, or N: one iteration in N
	DB              string `key:"db" hash:"-"`
	Out             string `key:"out" hash:"-"`
	Fresh           int    `key:"fresh"` // counts runs of the same config
}

// Profiles lists the named starting points of a config.
func Profiles() []string { return []string{"clean", "paper", "small"} }

// Profile is a starting point: clean is what a careful engineer would run,
// paper is the authors' recipe as they configured it, quirks included, and small
// is clean for a small checkpoint on questions with short answers.
func Profile(name string) (Config, error) {
	switch name {
	case "clean", "":
		return clean(), nil
	case "paper":
		return paper(), nil
	case "small":
		return small(), nil
	}
	return Config{}, fmt.Errorf("profile %q is none of %v", name, Profiles())
}

func clean() Config {
	return Config{
		Profile: "clean", Workflow: "single", Policy: "shared", Task: "math", Chat: "auto", Numerics: "auto", Seed: 1,
		Iterations: 500, Tasks: 64, Rollouts: 8, Temperature: 0.7, MaxTokens: 1024,
		Voters: 3, Workers: 3, OrchOverflow: "truncate", Fallback: true,
		Params: "lora", Rank: 64, Alpha: 32,
		LR: 2e-5, LRSchedule: "cosine", LRWarmup: 15, LRStep: "iteration", LRClamp: true,
		Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.01, Clip: 1,
		Estimator: "grpo", Grouping: "task×role", AdvEpsilon: 1e-6, Singleton: "zero",
		Loss: "ppo", ClipLow: 0.2, ClipHigh: 0.28, DualClip: 3, Cap: 5, Clamp: 20, Aggregation: "seq-mean-token-mean",
		MiniBatch: 512, MiniBatchPartial: "renormalise", MiniBatchOrder: "shuffle", Epochs: 1,
		Overlong: "keep", Generations: 10, CoherenceWindow: 128,
		EvalEvery: 10, EvalN: 600, EvalSplit: "held",
		ProbeEvery: 10, ProbeTasks: 64,
		CheckpointEvery: 5, CheckpointKeep: 2, LogCalls: "all", DB: "runs.db",
	}
}

// paper differs from clean by the keys set here and by no other.
func paper() Config {
	c := clean()
	c.Profile = "paper"
	c.Chat = "paper"
	c.Defaults = true
	c.Grouping = "paper"
	c.Singleton = "raw"
	c.LRStep, c.LRClamp, c.LRFromZero = "call", false, true
	c.MiniBatchPartial, c.MiniBatchOrder = "downweight", "length"
	c.MaxTokens = 5120
	return c
}

func (c *Config) adam() optim.AdamW {
	return optim.AdamW{Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.Decay}
}

func (c *Config) schedule() optim.Schedule {
	s := optim.Schedule{Shape: optim.Shape(c.LRSchedule), Rate: c.LR, Warmup: c.LRWarmup, Total: c.LRTotal, Clamp: c.LRClamp}
	if s.Total == 0 {
		s.Total = c.Iterations
	}
	if s.Shape != optim.Constant {
		s.Warmup = min(s.Warmup, max(0, s.Total-1)) // a short trial run is no reason to refuse
	}
	if !c.LRFromZero && s.Warmup > 0 {
		s.Init = 1 / float64(s.Warmup)
	}
	return s
}

func (c *Config) loss() grpo.Loss {
	return grpo.Loss{Kind: grpo.Kind(c.Loss), ClipLow: c.ClipLow, ClipHigh: c.ClipHigh, DualClip: c.DualClip, Cap: c.Cap, Clamp: c.Clamp}
}

// Compose resolves a config: the profile, then the text of a config file, then
// KEY=VALUE overrides, then flags as pairs of key and value, of which empty
// values were not given.
func Compose(profile string, file []byte, overrides []string, flags [][2]string) (Config, error) {
	name := profile
	if name == "" && file != nil {
		// The file may choose the profile that it builds on.
		var probe Config
		if err := probe.Merge(file); err != nil {
			return probe, err
		}
		name = probe.Profile
	}
	c, err := Profile(name)
	if err != nil {
		return c, err
	}
	if err := c.apply(file, overrides, flags); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// apply sets what a file, overrides and flags say, in this order.
func (c *Config) apply(file []byte, overrides []string, flags [][2]string) error {
	if err := c.Merge(file); err != nil {
		return err
	}
	for _, o := range overrides {
		key, value, ok := strings.Cut(o, "=")
		if !ok {
			return fmt.Errorf("%q is not KEY=VALUE", o)
		}
		if err := c.Set(strings.TrimPrefix(key, "+"), value); err != nil {
			return err
		}
	}
	for _, f := range flags {
		if f[1] == "" {
			continue
		}
		if err := c.Set(f[0], f[1]); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	return nil
}
