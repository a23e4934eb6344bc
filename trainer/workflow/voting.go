package workflow

import (
	"context"
	"fmt"
	"strings"

	"troupe/data"
	"troupe/internal/prng"
)

func init() {
	Register("voting", func(o Options) (Workflow, error) { return &voting{o}, nil })
}

// voting asks several generators the same question side by side; an
// aggregator, which sees all solutions, names the one that counts.
type voting struct{ opt Options }

func (w *voting) Roles() []string { return []string{"generator", "aggregator"} }

func (w *voting) Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error) {
	p := w.opt.begin(ctx, t, key, g)
	voters := make([]turn, w.opt.Voters)
	for s := range voters {
		voters[s] = p.turn(Role{Name: "generator", Slot: s}, nil, PromptGenerator)
	}
	first, err := p.solve(voters...)
	if err != nil {
		return Episode{}, err
	}
	candidates := p.ep.Calls[first : first+w.opt.Voters : first+w.opt.Voters]
	a, err := p.ask(p.turn(Role{Name: "aggregator"}, nil, PromptAggregator, "{solutions}", p.solutions(candidates)))
	if err != nil {
		return Episode{}, err
	}
	call := &p.ep.Calls[a]
	var chosen int
	chosen, call.Tier = w.opt.Prompts.choice(t.Kind, call.Text, candidates)
	if w.opt.taken(call.Tier) == Default {
		if !w.opt.Defaults {
			return p.end(v, "")
		}
		chosen = 1
	}
	return p.end(v, candidates[chosen-1].Text)
}

// solutions is the numbered list an aggregator reads.
func (p *play) solutions(calls []Call) string {
	var b strings.Builder
	for i, c := range calls {
		b.WriteString(p.opt.Prompts.listed(p.task.Kind, i+1, c.Text))
	}
	return b.String()
}

// SolutionHeader stands before the n-th solution an aggregator reads.
func SolutionHeader(n int) string { return fmt.Sprintf("\n\n--- Solution %d ---\n", n) }
