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
	"troupe/trainer/workflow"
)

// Options are what a study is run with. The caller opens and closes verifier
// and database.
type Options struct {
	Cells      []Cell
	Scale      string // name of a shape; empty: the smallest
	Iterations int
	Seed       uint64
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
	shape Shape
	tok   *tokenizer.Tokenizer
	enc   trainer.Encoder
	tasks map[data.Kind][]data.Task
	bases map[data.Kind]*basis
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
	s := &Study{opt: opt, bases: map[data.Kind]*basis{data.Math: {}, data.Code: {}}}
	if s.opt.Scale == "" {
		s.opt.Scale = Shapes()[0].Name
	}
	var err error
	if s.shape, err = shapeByName(s.opt.Scale); err != nil {
		return nil, err
	}
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
	for _, c := range order(s.opt.Cells) {
		queue <- c
	}
	close(queue)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return s.results(ctx)
}

// start is the base of a kind of task and its model, made once.
func (s *Study) start(ctx context.Context, kind data.Kind) (Base, *model.Model, error) {
	b := s.bases[kind]
	b.once.Do(func() {
		if b.base, b.err = s.base(ctx, s.shape, kind, s.opt.Seed); b.err != nil {
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
	cfg.Iterations, cfg.Seed, cfg.LR, cfg.EvalEvery = s.opt.Iterations, s.opt.Seed, s.shape.Rate, s.opt.EvalEvery
	cfg.Out = filepath.Join(s.opt.Out, cfg.ID())
	return cfg
}

// cell trains one cell to its end.
func (s *Study) cell(ctx context.Context, c Cell) error {
	b, m, err := s.start(ctx, c.Kind)
	if err != nil {
		return err
	}
	t, err := trainer.New(s.config(c, b), trainer.Parts{
		Base: m, Encoder: s.enc, Verifier: s.opt.Verifier, Tasks: s.tasks[c.Kind], DB: s.opt.DB,
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
