package trainer

import (
	"context"
	"fmt"
	"strings"

	"troupe/model"
	"troupe/trainer/policy"
	"troupe/trainer/workflow"
)

// Encoder turns a chat into the ids a model is given, and sampled ids into the
// text that other roles and the verifier see.
type Encoder interface {
	Encode(chat []workflow.Message) ([]int32, error)
	Text(ids []int32) string
	Stop() []int32 // ids that end a reply
}

// engine answers the requests of workflows: it encodes them, sends each to the
// parameter set of its role, and decodes all of one model in one batch.
type engine struct {
	enc         Encoder
	route       policy.Map
	sets        map[string]*policy.Set
	temperature float32 // 0 is greedy
	prompts     map[string][]int32
}

// promptsKept bounds the memory of encoded prompts; rollouts of a task share
// theirs.
const promptsKept = 1 << 14

// encode is the ids of a chat, remembered.
func (e *engine) encode(chat []workflow.Message) ([]int32, error) {
	var b strings.Builder
	for _, m := range chat {
		fmt.Fprintf(&b, "%s\x00%s\x00", m.Role, m.Content)
	}
	key := b.String()
	ids, ok := e.prompts[key]
	if !ok {
		if len(e.prompts) >= promptsKept || e.prompts == nil {
			e.prompts = map[string][]int32{}
		}
		var err error
		if ids, err = e.enc.Encode(chat); err != nil {
			return nil, err
		}
		e.prompts[key] = ids
	}
	return ids, nil
}

// batch is the requests that one model answers together.
type batch struct {
	model *model.Model
	reqs  []model.GenRequest
	place []int // of each request among all
}

// Generate answers all requests. A prompt that leaves no room for a reply gets
// an empty one, marked Overflow.
func (e *engine) Generate(ctx context.Context, reqs []workflow.Request) ([]workflow.Sample, error) {
	samples := make([]workflow.Sample, len(reqs))
	var batches []*batch
	byModel := map[*model.Model]*batch{}
	for i, r := range reqs {
		set, ok := e.sets[e.route.Set(r.Role.Name, r.Role.Slot)]
		if !ok {
			return nil, fmt.Errorf("no parameter set for %s %d", r.Role.Name, r.Role.Slot)
		}
		prompt, err := e.encode(r.Messages)
		if err != nil {
			return nil, fmt.Errorf("prompt of %s: %w", r.Role.Name, err)
		}
		samples[i].PromptIDs = prompt
		room := min(r.MaxTokens, set.Model.Config.MaxPositions-len(prompt))
		if room < 1 || len(prompt) == 0 {
			samples[i].Finish = workflow.Overflow
			continue
		}
		b := byModel[set.Model]
		if b == nil {
			b = &batch{model: set.Model}
			byModel[set.Model], batches = b, append(batches, b)
		}
		b.place = append(b.place, i)
		b.reqs = append(b.reqs, model.GenRequest{
			Prompt: prompt, MaxTokens: room, Temperature: e.temperature, TopP: 1,
			Stop: e.enc.Stop(), Key: r.Key.State(), Adapter: set.Adapter,
		})
	}
	for _, b := range batches {
		results, err := b.model.NewDecoder(model.DecoderOptions{}).Generate(ctx, b.reqs)
		if err != nil {
			return nil, err
		}
		for j, res := range results {
			s := &samples[b.place[j]]
			s.IDs, s.LogProbs, s.Text = res.IDs, res.LogProbs, e.enc.Text(res.IDs)
			s.Finish = workflow.Length
			if res.Finish == "stop" {
				s.Finish = workflow.Stop
			}
		}
	}
	return samples, nil
}
