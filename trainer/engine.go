package trainer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"troupe/model"
	"troupe/trainer/policy"
	"troupe/trainer/workflow"
)

// Encoder turns a chat into the ids a model is given, and sampled ids into the
// text that other roles and the verifier see. Its methods may be called from
// several goroutines.
type Encoder interface {
	Encode(chat []workflow.Message) ([]int32, error)
	Text(ids []int32) string
	Stop() []int32 // ids that end a reply
}

// engine answers the requests of workflows: it encodes them, sends each to the
// parameter set of its role, and decodes what is for one model together. It is a
// server of rollouts with a line for each model.
type engine struct {
	enc         Encoder
	route       policy.Map
	sets        map[string]*policy.Set
	models      []*model.Model // of the lines
	temperature float32        // 0 is greedy
	live        *live          // told of every reply; may be nil
	meter       *model.Meter   // told of every step; may be nil
	chats       *chats
}

// newEngine makes an engine for the parameter sets behind the roles.
func newEngine(enc Encoder, route policy.Map, sets map[string]*policy.Set, temperature float64) *engine {
	e := &engine{enc: enc, route: route, sets: sets, temperature: float32(temperature), chats: &chats{enc: enc}}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if m := sets[name].Model; !slices.Contains(e.models, m) {
			e.models = append(e.models, m)
		}
	}
	return e
}

// set is the parameter set that answers a role.
func (e *engine) set(r workflow.Role) (*policy.Set, error) {
	set, ok := e.sets[e.route.Set(r.Name, r.Slot)]
	if !ok {
		return nil, fmt.Errorf("no parameter set for %s %d", r.Name, r.Slot)
	}
	return set, nil
}

// Lines is the number of models.
func (e *engine) Lines() int { return len(e.models) }

// Line is the model that answers a request.
func (e *engine) Line(r *workflow.Request) (int, error) {
	set, err := e.set(r.Role)
	if err != nil {
		return 0, err
	}
	return slices.Index(e.models, set.Model), nil
}

// Serve decodes the requests of one model. A prompt that leaves no room for a
// reply gets an empty one, marked Overflow.
func (e *engine) Serve(ctx context.Context, line int, more func(idle bool) []workflow.Request, done func(n int, s workflow.Sample)) error {
	l := &ledger{engine: e, more: more, done: done}
	return e.models[line].NewDecoder(model.DecoderOptions{Meter: e.meter}).Serve(ctx, l.next, l.finished)
}

// ledger translates between a rollout's requests and a decoder's, which leave
// out those that overflow.
type ledger struct {
	*engine
	more func(idle bool) []workflow.Request
	done func(n int, s workflow.Sample)

	mu    sync.Mutex
	came  int
	given []entry // to the decoder
}

type entry struct {
	number int
	prompt []int32
}

func (l *ledger) next(idle bool) ([]model.GenRequest, error) {
	for {
		reqs := l.more(idle)
		out := make([]model.GenRequest, 0, len(reqs))
		for i := range reqs {
			gen, err := l.request(&reqs[i])
			if err != nil {
				return nil, err
			}
			n := l.came
			l.came++
			if gen.MaxTokens < 1 || len(gen.Prompt) == 0 {
				l.done(n, workflow.Sample{PromptIDs: gen.Prompt, Finish: workflow.Overflow})
				continue
			}
			l.mu.Lock()
			l.given = append(l.given, entry{n, gen.Prompt})
			l.mu.Unlock()
			out = append(out, gen)
		}
		if !idle || len(reqs) == 0 || len(out) > 0 {
			return out, nil
		}
	}
}

func (l *ledger) finished(n int, r model.GenResult) {
	l.mu.Lock()
	of := l.given[n]
	l.mu.Unlock()
	s := workflow.Sample{PromptIDs: of.prompt, IDs: r.IDs, LogProbs: r.LogProbs, Text: l.enc.Text(r.IDs), Finish: workflow.Length}
	if r.Finish == model.FinishStop {
		s.Finish = workflow.Stop
	}
	if l.live != nil {
		l.live.sampled(len(r.IDs))
	}
	l.done(of.number, s)
}

// request is a workflow's request as the decoder takes it.
func (e *engine) request(r *workflow.Request) (model.GenRequest, error) {
	set, err := e.set(r.Role)
	if err != nil {
		return model.GenRequest{}, err
	}
	prompt, err := e.encode(r.Messages)
	if err != nil {
		return model.GenRequest{}, fmt.Errorf("prompt of %s: %w", r.Role.Name, err)
	}
	return model.GenRequest{
		Prompt: prompt, MaxTokens: min(r.MaxTokens, set.Model.Config.MaxPositions-len(prompt)),
		Temperature: e.temperature, TopP: 1, Stop: e.enc.Stop(), Key: r.Key.State(), Adapter: set.Adapter,
	}, nil
}

// chats remembers what chats were encoded to; rollouts of a task share theirs.
type chats struct {
	enc  Encoder
	mu   sync.Mutex
	kept map[string][]int32
}

// chatsKept bounds their memory.
const chatsKept = 1 << 14

// encode is the ids of a chat.
func (e *engine) encode(chat []workflow.Message) ([]int32, error) { return e.chats.encode(chat) }

func (p *chats) encode(chat []workflow.Message) ([]int32, error) {
	var b strings.Builder
	for _, m := range chat {
		b.WriteString(m.Role + "\x00" + m.Content + "\x00")
	}
	key := b.String()
	p.mu.Lock()
	defer p.mu.Unlock()
	if ids, ok := p.kept[key]; ok {
		return ids, nil
	}
	ids, err := p.enc.Encode(chat)
	if err != nil {
		return nil, err
	}
	if p.kept == nil || len(p.kept) >= chatsKept {
		p.kept = map[string][]int32{}
	}
	p.kept[key] = ids
	return ids, nil
}
