package workflow

import (
	"context"

	"troupe/data"
	"troupe/internal/prng"
)

func init() {
	Register("evalopt", func(o Options) (Workflow, error) { return &evalopt{o}, nil })
}

// evalopt has a generator and an evaluator. As long as the evaluator is not
// satisfied, and evaluations are left, the generator writes a new solution.
//
// The chat grows as in the reference: solution and judgement are both added as
// assistant turns, and the user prompts of the evaluator and of the refinement
// are dropped from it again.
type evalopt struct{ opt Options }

func (w *evalopt) Roles() []string { return []string{"generator", "evaluator"} }

func (w *evalopt) Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error) {
	p := w.opt.begin(ctx, t, key, g)
	first := p.turn(Role{Name: "generator"}, nil, PromptGenerator)
	history := first.chat
	say := func(text string) { history = append(history, Message{"assistant", text}) }
	last, err := p.solve(first)
	if err != nil {
		return Episode{}, err
	}
	for n := range w.opt.Evaluations {
		say(p.ep.Calls[last].Text)
		e, err := p.ask(p.turn(Role{Name: "evaluator", Turn: n}, history, PromptEvaluator))
		if err != nil {
			return Episode{}, err
		}
		call := &p.ep.Calls[e]
		var satisfied bool
		satisfied, call.Tier = w.opt.Prompts.judgement(t.Kind, call.Text)
		satisfied = satisfied && w.opt.taken(call.Tier) != Default
		if satisfied || n == w.opt.Evaluations-1 {
			break
		}
		say(call.Text)
		last, err = p.solve(p.turn(Role{Name: "generator", Turn: n + 1}, history, PromptRefinement))
		if err != nil {
			return Episode{}, err
		}
	}
	return p.end(v, p.ep.Calls[last].Text)
}
