package workflow

import (
	"context"
	"fmt"
	"strings"

	"troupe/data"
	"troupe/internal/prng"
)

func init() {
	Register("orch", func(o Options) (Workflow, error) { return &orchWorkers{o}, nil })
}

// orchWorkers has an orchestrator that names strategies, one worker for each
// strategy, and a synthesizer that writes the answer from all solutions.
type orchWorkers struct{ opt Options }

func (w *orchWorkers) Roles() []string { return []string{"orchestrator", "worker", "synthesizer"} }

func (w *orchWorkers) Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error) {
	p := w.opt.begin(ctx, t, key, g)
	o, err := p.ask(p.turn(Role{Name: "orchestrator"}, nil, PromptOrchestrator, "{max_subtasks}", fmt.Sprint(w.opt.Workers)))
	if err != nil {
		return Episode{}, err
	}
	strategies, tier := w.opt.Prompts.strategies(t.Kind, p.ep.Calls[o].Text)
	p.ep.Calls[o].Tier = tier
	if w.opt.taken(tier) == Default {
		if !w.opt.Defaults {
			return p.end(v, "")
		}
		strategies = []string{strings.TrimSpace(p.ep.Calls[o].Text)}
	}
	if len(strategies) > w.opt.Workers {
		if w.opt.EndOnOverflow {
			return p.end(v, "")
		}
		strategies = strategies[:w.opt.Workers]
	}
	workers := make([]turn, len(strategies))
	for s, text := range strategies {
		workers[s] = p.turn(Role{Name: "worker", Slot: s}, nil, PromptWorker, "{strategy}", text)
	}
	first, err := p.solve(workers...)
	if err != nil {
		return Episode{}, err
	}
	var b strings.Builder
	for s, text := range strategies {
		b.WriteString(w.opt.Prompts.listedBy(t.Kind, s+1, text, p.ep.Calls[first+s].Text))
	}
	y, err := p.solve(p.turn(Role{Name: "synthesizer"}, nil, PromptSynthesizer, "{solutions}", b.String()))
	if err != nil {
		return Episode{}, err
	}
	return p.end(v, p.ep.Calls[y].Text)
}

// StrategyHeader stands before the n-th solution a synthesizer reads.
func StrategyHeader(n int, strategy string) string {
	return fmt.Sprintf("\n\n--- Solution %d (Strategy: %s) ---\n", n, strategy)
}
