package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"troupe/data"
	"troupe/data/store"
	"troupe/model"
	"troupe/model/tokenizer"
	"troupe/trainer"
	"troupe/trainer/grid"
	"troupe/trainer/workflow"
)

// Options are what a study is run with. The caller opens and closes verifier
// and database.
type Options struct {
	Cells      []Cell
	Iterations int
	EvalEvery  int
	Cache      string // base models are kept below it
	Out        string // checkpoints are kept below it
	DB         *store.DB
	Verifier   workflow.Verifier
	Parallel   int // cells at a time
	Version    string
	Kernels    string
	Host       string

	Warm     func(Base)                   // told at every measurement of a warm start; may be nil
	Based    func(Base)                   // told when a base is ready; may be nil
	Progress func(Cell, trainer.Progress) // told after every iteration; may be nil
	Fail     func(site string)            // test hook
}

// Study is a grid in progress.
type Study struct {
	opt   Options
	tok   *tokenizer.Tokenizer
	enc   trainer.Encoder
	tasks map[data.Kind][]data.Task
	mu    sync.Mutex
	bases map[root]*basis
}

// root is what a base model depends on.
type root struct {
	kind  data.Kind
	scale string
	seed  uint64
}

// basis is a base that the first cell to need it makes.
type basis struct {
	once sync.Once
	base Base
	err  error
	mod  *model.Model
}

// New prepares a study: its tasks and its tokenizer.
func New(opt Options) (*Study, error) {
	s := &Study{opt: opt, bases: map[root]*basis{}}
	for _, c := range opt.Cells {
		if _, err := ShapeNamed(c.Scale); err != nil {
			return nil, err
		}
	}
	var err error
	if s.tasks, err = tasks(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tokenizer")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeTokenizer(dir); err != nil {
		return nil, err
	}
	if s.tok, err = tokenizer.Load(dir); err != nil {
		return nil, err
	}
	s.enc, err = trainer.NewEncoder(s.tok, tokenizer.ChatOff, dir, false)
	return s, err
}

// Run trains every cell, several at a time, each from the base of its task. An
// interrupted study goes on where it was.
func (s *Study) Run(ctx context.Context) ([]Result, error) {
	if err := s.train(ctx, s.opt.Cells); err != nil {
		return nil, err
	}
	return s.results(ctx, s.opt.Cells)
}

// Prepare builds the base models of all cells, so that jobs which share the
// cache find them there.
func (s *Study) Prepare(ctx context.Context) error {
	for _, c := range s.opt.Cells {
		if _, _, err := s.start(ctx, c); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name(), err)
		}
	}
	return nil
}

// train brings cells to their ends.
func (s *Study) train(ctx context.Context, cells []Cell) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan Cell)
	var workers sync.WaitGroup
	for range max(1, s.opt.Parallel) {
		workers.Go(func() {
			for c := range queue {
				if ctx.Err() != nil {
					continue
				}
				if err := s.cell(ctx, c); err != nil {
					cancel(fmt.Errorf("cell %s: %w", c.Name(), err))
				}
			}
		})
	}
	for _, i := range grid.Dearest(Jobs(cells)) {
		queue <- cells[i]
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

// start is the base of a cell and its model, made once.
func (s *Study) start(ctx context.Context, c Cell) (Base, *model.Model, error) {
	shape, err := ShapeNamed(c.Scale)
	if err != nil {
		return Base{}, nil, err
	}
	r := root{c.Kind, shape.Name, c.seed()}
	s.mu.Lock()
	b := s.bases[r]
	if b == nil {
		b = &basis{}
		s.bases[r] = b
	}
	s.mu.Unlock()
	b.once.Do(func() {
		if b.base, b.err = s.base(ctx, shape, r.kind, r.seed); b.err != nil {
			return
		}
		b.mod, b.err = model.Load(b.base.Dir, model.LoadOptions{Trainable: true})
		if b.err == nil && s.opt.Based != nil {
			s.opt.Based(b.base)
		}
	})
	return b.base, b.mod, b.err
}

// config is a cell's configuration; the base is part of it.
func (s *Study) config(c Cell, b Base) trainer.Config {
	cfg := cellConfig(c)
	cfg.Model, cfg.ModelSum, cfg.DataSum = b.Dir, b.Sum, tasksSum(s.tasks[c.Kind])
	cfg.Seed = c.seed()
	if c.Arm == "" || c.Iterations > 0 {
		cfg.Iterations, cfg.EvalEvery = s.opt.Iterations, s.opt.EvalEvery
	}
	if c.Iterations > 0 {
		cfg.Iterations, cfg.EvalEvery = c.Iterations, equalStep
	}
	cfg.Out = filepath.Join(s.opt.Out, cfg.ID())
	return cfg
}

// seed is the cell's seed or its default.
func (c Cell) seed() uint64 { return max(1, c.Seed) }

// cell trains one cell to its end.
func (s *Study) cell(ctx context.Context, c Cell) error {
	b, m, err := s.start(ctx, c)
	if err != nil {
		return err
	}
	t, err := trainer.New(s.config(c, b), trainer.Parts{
		Base: m, Encoder: s.enc, Verifier: s.verifier(c), Tasks: s.tasks[c.Kind], DB: s.opt.DB,
		Version: s.opt.Version, Kernels: s.opt.Kernels, Host: s.opt.Host, Fail: s.opt.Fail,
		Report: func(p trainer.Progress) {
			if s.opt.Progress != nil {
				s.opt.Progress(c, p)
			}
		},
	})
	if err != nil {
		return err
	}
	return t.Run(ctx)
}

// ErrNoResult is returned for a cell that has no complete pair of evaluations.
var ErrNoResult = errors.New("no evaluation of base and end")
