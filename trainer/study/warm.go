package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"troupe/data"
	"troupe/internal/atomicfile"
	"troupe/internal/prng"
	"troupe/model"
	"troupe/model/tokenizer"
	"troupe/trainer"
	"troupe/trainer/optim"
	"troupe/trainer/workflow"
)

// The constants of the warm start. It stops by accuracy, never by a number of
// steps: the step at which the arithmetic is understood varies by a factor of
// two with the seed.
const (
	warmBatch   = 64
	warmRamp    = 100 // steps until the full learning rate
	warmCheck   = 100 // steps between measurements
	warmTasks   = 200 // development tasks of a measurement
	stopSingle  = 0.35
	stopOrch    = 0.28
	warmVersion = 2 // part of the cache key: raise it when a base would come out differently
)

// Base is a warm-started model.
type Base struct {
	Kind         data.Kind
	Dir          string `json:"-"` // checkpoint folder
	Sum          string `json:"-"` // its content hash
	Steps        int
	Single, Orch float64 // accuracy on development tasks where it stopped
	Seconds      float64
	Cached       bool `json:"-"`
}

const baseFile = "warm_start.json"

// base finds or makes the warm-started model of a kind of task.
func (s *Study) base(ctx context.Context, shape Shape, kind data.Kind, seed uint64) (Base, error) {
	dir := filepath.Join(s.opt.Cache, "bases", baseKey(shape, kind, seed, s.tasks[kind]))
	b, err := readBase(dir, kind)
	if err == nil {
		b.Cached = true
		return b, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Base{}, fmt.Errorf("make cache: %w", err)
	}
	b, m, err := s.warm(ctx, shape, kind, seed)
	if err != nil {
		return Base{}, fmt.Errorf("warm start for %s: %w", kind, err)
	}
	err = atomicfile.WriteDir(dir, func(tmp string) error {
		if err := m.Save(tmp, "f32"); err != nil {
			return err
		}
		if err := writeTokenizer(tmp); err != nil {
			return err
		}
		js, err := json.MarshalIndent(b, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, baseFile), js, 0o644)
	})
	if err != nil {
		return Base{}, err
	}
	return readBase(dir, kind)
}

// readBase reads a finished base. Its hash leaves out what says how long it
// took.
func readBase(dir string, kind data.Kind) (Base, error) {
	b := Base{Kind: kind, Dir: dir}
	js, err := os.ReadFile(filepath.Join(dir, baseFile))
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(js, &b); err != nil {
		return b, err
	}
	b.Sum, err = trainer.HashFile(filepath.Join(dir, "model.safetensors"))
	return b, err
}

// baseKey names a base by everything it depends on.
func baseKey(shape Shape, kind data.Kind, seed uint64, tasks []data.Task) string {
	h := sha256.New()
	fmt.Fprintln(h, warmVersion, shape, kind, seed, warmBatch, warmRamp, warmCheck, warmTasks, stopSingle, stopOrch, mixShares(), vocabulary())
	for _, t := range tasks {
		fmt.Fprintln(h, t.ID, t.Text, t.Split)
	}
	return fmt.Sprintf("%s-%s-%d-%s", shape.Name, kind, seed, hex.EncodeToString(h.Sum(nil)[:6]))
}

func mixShares() (shares []float64) {
	for _, m := range mix {
		shares = append(shares, m.upTo)
	}
	return shares
}

// warm trains a fresh model on a teacher's transcripts until it is right often
// enough to learn from its own attempts.
func (s *Study) warm(ctx context.Context, shape Shape, kind data.Kind, seed uint64) (Base, *model.Model, error) {
	b := Base{Kind: kind}
	started := time.Now()
	m, err := shape.fresh(seed)
	if err != nil {
		return b, nil, err
	}
	problems, dev, err := s.lessons(kind)
	if err != nil {
		return b, nil, err
	}
	t := teacher{kind: kind, prompts: workflow.OwnPrompts()}
	params := values(m.Params())
	state := optim.NewState(params)
	grads := model.NewGrads(m.Params())
	adam := optim.AdamW{Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8}
	for b.Steps = 1; ; b.Steps++ {
		rng := prng.Stream(seed, "warm", string(kind), strconv.Itoa(b.Steps))
		batch := make([]model.Sequence, warmBatch)
		tokens := 0
		for i := range batch {
			batch[i] = encodeTranscript(s.tok, t.write(rng, problems[rng.IntN(len(problems))]))
			tokens += len(batch[i].Action)
		}
		grads.Zero()
		weight := float32(-1 / float64(tokens))
		_, err := m.Backward(ctx, batch, 1, func(_ int, logp, _ []float32) ([]float32, []float32) {
			d := make([]float32, len(logp))
			for i := range d {
				d[i] = weight
			}
			return d, nil
		}, grads)
		if err != nil {
			return b, nil, err
		}
		g := grads.Tensors()
		norm := optim.Norm(g)
		if !optim.Finite(norm) {
			return b, nil, fmt.Errorf("step %d: %w", b.Steps, trainer.ErrNonFinite)
		}
		optim.Clip(g, norm, 1)
		adam.Apply(params, g, state, shape.WarmRate*min(1, float64(b.Steps)/warmRamp))
		m.Refresh()
		if b.Steps%warmCheck != 0 {
			continue
		}
		stop, err := s.enough(ctx, m, kind, dev, &b)
		if err != nil {
			return b, nil, err
		}
		if stop || b.Steps >= shape.WarmCap {
			b.Seconds = time.Since(started).Seconds()
			return b, m, nil
		}
	}
}

// enough measures the model on development tasks, the second workflow only if
// the first one passes.
func (s *Study) enough(ctx context.Context, m *model.Model, kind data.Kind, dev []data.Task, b *Base) (bool, error) {
	var err error
	measure := func(name string) float64 {
		cfg := cellConfig(Cell{Workflow: name, Policy: "shared", Kind: kind})
		var a float64
		if err == nil {
			a, err = trainer.Measure(ctx, &cfg, m, s.enc, s.opt.Verifier, dev)
		}
		return a
	}
	b.Single = measure("single")
	b.Orch = 0
	if b.Single >= stopSingle {
		b.Orch = measure("orch")
	}
	if s.opt.Warm != nil && err == nil {
		s.opt.Warm(*b)
	}
	return b.Single >= stopSingle && b.Orch >= stopOrch, err
}

// lessons are the problems a teacher draws from, and the tasks that say when to
// stop. Neither is ever evaluated on.
func (s *Study) lessons(kind data.Kind) (problems []problem, dev []data.Task, err error) {
	for _, task := range s.tasks[kind] {
		switch task.Split {
		case data.Train:
			p, err := parseProblem(task)
			if err != nil {
				return nil, nil, err
			}
			problems = append(problems, p)
		case data.Dev:
			dev = append(dev, task)
		}
	}
	if len(problems) == 0 || len(dev) == 0 {
		return nil, nil, fmt.Errorf("no tasks to learn from")
	}
	return problems, dev[:min(len(dev), warmTasks)], nil
}

// encodeTranscript is a transcript as a model sees it; the end of the turn is
// learnt like any other token.
func encodeTranscript(tok *tokenizer.Tokenizer, t transcript) model.Sequence {
	return model.Sequence{Prompt: tok.EncodeSpecialPlain(t.prompt),
		Action: append(tok.EncodeSpecialPlain(t.reply), endOfTurnID)}
}

func values(params []model.Param) [][]float32 {
	v := make([][]float32, len(params))
	for i, p := range params {
		v[i] = p.Data
	}
	return v
}
