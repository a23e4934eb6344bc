package workflow

import (
	"context"

	"troupe/data"
	"troupe/internal/prng"
)

// play is an episode in progress.
type play struct {
	ctx  context.Context
	task data.Task
	key  prng.Key
	opt  *Options
	gen  Generator
	ep   Episode
}

func (o *Options) begin(ctx context.Context, t data.Task, key prng.Key, g Generator) *play {
	return &play{ctx: ctx, task: t, key: key, opt: o, gen: g, ep: Episode{Task: t.ID, Rollout: key.Rollout}}
}

// turn is a role and the chat it is given.
type turn struct {
	role   Role
	chat   []Message
	values []string // of the last message's prompt
}

// turn makes the chat of a role: what was said so far, and a prompt of the
// task's kind as one more user message. values alternate placeholder and value.
func (p *play) turn(role Role, history []Message, prompt string, values ...string) turn {
	values = append([]string{"{problem}", p.task.Text}, values...)
	m := Message{Role: "user", Content: p.opt.Prompts.Render(p.task.Kind, prompt, values...)}
	return turn{role, append(append(make([]Message, 0, len(history)+1), history...), m), values}
}

// ask makes the calls side by side and appends them to the episode. It returns
// the index of the first.
func (p *play) ask(turns ...turn) (first int, err error) {
	reqs := make([]Request, len(turns))
	for i, t := range turns {
		k := p.key
		k.Role, k.Slot, k.Turn = t.role.Name, t.role.Slot, t.role.Turn
		reqs[i] = Request{Role: t.role, Messages: t.chat, MaxTokens: p.opt.limit(t.role.Name), Key: k, Values: t.values}
	}
	samples, err := p.gen.Generate(p.ctx, reqs)
	if err != nil {
		return 0, err
	}
	first = len(p.ep.Calls)
	for i := range reqs {
		p.ep.Calls = append(p.ep.Calls, Call{Request: reqs[i], Sample: samples[i], Tier: Primary})
	}
	return first, nil
}

// solve is ask for roles that write solutions: their tier says whether there
// is one in the reply.
func (p *play) solve(turns ...turn) (first int, err error) {
	first, err = p.ask(turns...)
	for i := first; i < len(p.ep.Calls) && err == nil; i++ {
		p.ep.Calls[i].Tier = p.opt.Prompts.solution(p.task.Kind, p.ep.Calls[i].Text)
	}
	return first, err
}

// end judges the answer and hands out the episode.
func (p *play) end(v Verifier, answer string) (Episode, error) {
	p.ep.Answer = answer
	var err error
	p.ep.Verdict, err = v.Verify(p.ctx, p.task, answer)
	return p.ep, err
}
