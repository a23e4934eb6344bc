package doctor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"troupe/model"
	"troupe/model/lora"
)

// Plan is a training run as far as its cost goes.
type Plan struct {
	Workflow     string `json:"workflow"`
	Policy       string `json:"policy"`
	Kind         string `json:"task"` // math or code
	Full         bool   `json:"full_parameters"`
	Rank         int    `json:"rank"`
	Tasks        int    `json:"tasks"`
	Rollouts     int    `json:"rollouts"`
	Iterations   int    `json:"iterations"`
	MaxTokens    int    `json:"max_tokens"`
	PromptTokens int    `json:"prompt_tokens"` // of a call, on average
	ReplyTokens  int    `json:"reply_tokens"`  // of a call, on average
}

// Check names what is wrong with a plan.
func (p Plan) Check() error {
	if _, ok := workflows[p.Workflow]; !ok {
		return fmt.Errorf("workflow %q is not known: single, voting, evalopt or orch", p.Workflow)
	}
	if p.Tasks < 1 || p.Rollouts < 1 || p.Iterations < 1 || p.MaxTokens < 1 || p.PromptTokens < 1 || p.ReplyTokens < 1 || p.Rank < 1 {
		return errors.New("tasks, rollouts, iterations, rank and numbers of tokens must be at least 1")
	}
	return nil
}

// shape is a workflow's calls in one episode: those whose prompt all rollouts
// of a task share, and those with a prompt of their own, at most.
type shape struct{ shared, own, roles int }

var workflows = map[string]shape{
	"single":  {1, 0, 1},
	"voting":  {3, 1, 2},
	"evalopt": {1, 5, 2}, // up to three evaluations, two refinements
	"orch":    {1, 4, 3},
}

// calls is the workflow's shape for the kind of task.
func (p Plan) calls() shape {
	s := workflows[p.Workflow]
	if p.Workflow == "evalopt" && p.Kind == "code" {
		s.own = 3
	}
	return s
}

// sets is the number of parameter sets that are trained.
func (p Plan) sets() int {
	if p.Policy == "shared" {
		return 1
	}
	return p.calls().roles
}

// Forecast is the expected cost of a run on this machine.
type Forecast struct {
	Plan        Plan   `json:"plan"`
	Decode      Rate   `json:"decode"`  // sampled tokens
	Prefill     Rate   `json:"prefill"` // prompt tokens
	Train       Rate   `json:"train"`   // forward and backward
	Sampled     int    `json:"sampled_tokens"`
	Trained     int    `json:"trained_tokens"`
	RolloutS    int    `json:"rollout_s"` // of an iteration
	TrainS      int    `json:"train_s"`
	RunHours    Hours  `json:"run_hours"`
	Memory      Memory `json:"memory"`
	Available   int64  `json:"available"`
	Fits        bool   `json:"fits"`
	Recomputes  bool   `json:"recomputes_layers"`
	CalibratedS Hours  `json:"calibrated_s"`
}

// Rate is tokens a second.
type Rate = float64

// Hours is a duration in the unit its field names.
type Hours = float64

// Memory is bytes by what holds them.
type Memory struct {
	Weights     int64 `json:"weights"`
	Transposed  int64 `json:"transposed"` // for the backward
	Adapters    int64 `json:"adapters"`   // or all parameters, with gradients and optimizer
	Activations int64 `json:"activations"`
	KV          int64 `json:"kv"`
	Head        int64 `json:"head"`
	Rest        int64 `json:"rest"` // runtime, tokenizer, sandbox workers
}

// Total is the sum of all parts.
func (m Memory) Total() int64 {
	return m.Weights + m.Transposed + m.Adapters + m.Activations + m.KV + m.Head + m.Rest
}

const (
	slots      = model.LargeSlots
	restBytes  = 200 << 20 // and per sandbox worker
	workerSize = 90 << 20
	calibrate  = 300 * time.Millisecond // least time of a measurement; three are made
)

// Predict calibrates with the loaded model for about two seconds and works the plan
// out. available is the memory in bytes that a run could take before the model was
// loaded, which is part of what it takes; 0 is unknown.
func Predict(ctx context.Context, m *model.Model, p Plan, available int64) (Forecast, error) {
	if err := p.Check(); err != nil {
		return Forecast{}, err
	}
	begin := time.Now()
	f := Forecast{Plan: p}
	var err error
	if f.Prefill, f.Train, f.Decode, err = rates(ctx, m, p); err != nil {
		return f, err
	}
	s := p.calls()
	episodes := p.Tasks * p.Rollouts
	calls := episodes * (s.shared + s.own)
	f.Sampled = calls * p.ReplyTokens
	prompts := (p.Tasks*min(s.shared, 1) + episodes*s.own) * p.PromptTokens
	f.Trained = f.Sampled + prompts
	rollout := float64(f.Sampled)/f.Decode + float64(prompts)/f.Prefill
	train := float64(f.Trained) / f.Train
	f.RolloutS, f.TrainS = int(rollout+0.5), int(train+0.5)
	f.RunHours = (rollout + train) * float64(p.Iterations) / 3600
	f.Memory, f.Recomputes = memoryOf(m, p)
	f.Available = available
	f.Fits = f.Available == 0 || f.Memory.Total() <= f.Available
	f.CalibratedS = time.Since(begin).Seconds()
	return f, ctx.Err()
}

// memoryOf is the memory of the plan for a model of this shape.
func memoryOf(m *model.Model, p Plan) (Memory, bool) {
	c := &m.Config
	all, matrices := int64(c.Parameters()), int64(c.MatrixParameters())
	out := Memory{Head: c.HeadBytes(p.MaxTokens, m.ActivationBytes()) + slots*int64(c.Vocab)*4, Rest: restBytes + int64(runtime.GOMAXPROCS(0))*workerSize}
	longest := p.PromptTokens + p.MaxTokens
	var recompute bool
	out.Activations, recompute = c.TrainingBytes(longest, p.Rank, m.ActivationBytes())
	out.KV = min(model.KVBudget, slots*c.KVBytes(p.PromptTokens+p.MaxTokens))
	if p.Full {
		// float32 values, two packed orientations, gradients, two moments
		out.Weights = 4 * all
		out.Transposed = 8 * matrices
		out.Adapters = int64(p.sets()-1)*(4*all+8*matrices) + int64(p.sets())*12*all
		return out, recompute
	}
	out.Weights = 2 * all
	out.Transposed = 2 * matrices
	out.Adapters = int64(p.sets()) * 24 * adapterSize(c, p.Rank)
	return out, recompute
}

// adapterSize is the number of parameters of an adapter on all projections.
func adapterSize(c *model.Config, rank int) int64 {
	b := c.AdapterBase()
	n := 0
	for i := range b.In {
		n += rank * (b.In[i] + b.Out[i])
	}
	return int64(n * b.Layers)
}

// rates measures prefill, training and decoding, in tokens a second.
func rates(ctx context.Context, m *model.Model, p Plan) (prefill, train, decode float64, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	var adapter *lora.Adapter
	var grads *model.Grads
	if p.Full {
		if !m.Trainable() {
			return 0, 0, 0, errors.New("forecast: the model was not loaded trainable")
		}
		grads = model.NewGrads(m.Params())
	} else {
		adapter, err = lora.New(lora.Config{Rank: p.Rank, Alpha: 32, Targets: []string{"all-linear"}}, m.Config.AdapterBase(), rng)
		if err != nil {
			return 0, 0, 0, err
		}
		grads = model.NewGrads(adapter.Params())
	}
	loss := func(_ int, logp, _ []float32) ([]float32, []float32) {
		d := make([]float32, len(logp))
		for i := range d {
			d[i] = 1
		}
		return d, nil
	}
	prefill, err = tokensPerSecond(ctx, func(n int) error {
		_, err := m.Score(ctx, sequences(&m.Config, rng, n, adapter), 1)
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	train, err = tokensPerSecond(ctx, func(n int) error {
		_, err := m.Backward(ctx, sequences(&m.Config, rng, n, adapter), 1, loss, grads)
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	d := m.NewDecoder(model.DecoderOptions{})
	decode, err = tokensPerSecond(ctx, func(n int) error {
		_, err := d.Generate(ctx, requests(&m.Config, rng, n, adapter))
		return err
	})
	return prefill, train, decode, err
}

// tokensPerSecond doubles the work until it takes long enough to be measured.
// The first call, which packs weights and makes buffers, does not count.
func tokensPerSecond(ctx context.Context, work func(tokens int) error) (float64, error) {
	if err := work(32); err != nil {
		return 0, err
	}
	for n := 64; ; n *= 2 {
		begin := time.Now()
		if err := work(n); err != nil {
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if d := time.Since(begin); d > calibrate || n >= 1<<20 {
			return float64(n) / d.Seconds(), nil
		}
	}
}

// sequences is n tokens of training data, in sequences of up to 512.
func sequences(c *model.Config, rng *rand.Rand, n int, a *lora.Adapter) []model.Sequence {
	var out []model.Sequence
	for n > 0 {
		k := min(n, 512, c.MaxPositions)
		ids := randomIDs(c, rng, max(k, 2))
		out = append(out, model.Sequence{Prompt: ids[:1], Action: ids[1:], Adapter: a})
		n -= k
	}
	return out
}

// requests asks for n tokens in all, over up to the decoder's slots.
func requests(c *model.Config, rng *rand.Rand, n int, a *lora.Adapter) []model.GenRequest {
	out := make([]model.GenRequest, min(slots, n/4))
	for i := range out {
		out[i] = model.GenRequest{Prompt: randomIDs(c, rng, 4), MaxTokens: n / len(out), Temperature: 1, Adapter: a}
	}
	return out
}

func randomIDs(c *model.Config, rng *rand.Rand, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(rng.IntN(c.Vocab))
	}
	return ids
}
