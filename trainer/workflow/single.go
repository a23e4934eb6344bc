package workflow

import (
	"context"

	"troupe/data"
	"troupe/internal/prng"
)

func init() {
	Register("single", func(o Options) (Workflow, error) { return &single{o}, nil })
}

// single is one generator alone: the control of every other workflow.
type single struct{ opt Options }

func (w *single) Roles() []string { return []string{"generator"} }

func (w *single) Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error) {
	p := w.opt.begin(ctx, t, key, g)
	i, err := p.solve(p.turn(Role{Name: "generator"}, nil, PromptGenerator))
	if err != nil {
		return Episode{}, err
	}
	return p.end(v, p.ep.Calls[i].Text)
}
