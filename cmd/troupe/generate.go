package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"troupe/internal/prng"
	"troupe/model"
	"troupe/model/tokenizer"
)

type generateCmd struct {
	checkpointFlags

	Prompt      []string `sep:"none" placeholder:"TEXT" help:"What the user says; repeatable. With --chat off the text to go on with."`
	In          string   `placeholder:"FILE" help:"JSON lines of {\"id\", \"prompt\" | \"messages\" | \"ids\"}; - is standard input."`
	Chat        string   `enum:"auto,official,chatml,paper,off" default:"auto" help:"How prompts and messages are rendered: auto, official, chatml, paper or off."`
	Thinking    bool     `negatable:"" default:"true" help:"Let the model think, where the layout has a way to say so."`
	MaxTokens   int      `default:"256" placeholder:"N" help:"Longest continuation."`
	Temperature float32  `default:"1" placeholder:"T" help:"Sampling temperature; 0 takes the likeliest token."`
	TopP        float32  `name:"top-p" default:"1" placeholder:"P" help:"Sample from the likeliest tokens that have this probability together."`
	TopK        int      `name:"top-k" default:"0" placeholder:"K" help:"Sample from the K likeliest tokens; 0 is all."`
	MinP        float32  `name:"min-p" default:"0" placeholder:"P" help:"Leave out tokens less likely than P times the likeliest."`
	Seed        uint64   `default:"0" placeholder:"N" help:"Seed of the draws."`
	IgnoreEOS   bool     `name:"ignore-eos" help:"Go on past end tokens."`
	JSON        bool     `name:"json" help:"JSON lines, also for --prompt."`
}

// Help is the long text of `troupe generate --help`.
func (generateCmd) Help() string {
	return `Output, a line for each prompt: {"id", "prompt_ids": [int], "ids": [int],
"logprobs": [num], "text": str, "finish": "stop|length"}. ids include the end
token; logprobs are at the sampling temperature. --prompt without --json prints
only the text.

  troupe generate --model DIR --prompt "What is 17 + 25?" --temperature 0`
}

// promptRecord is a line of --in.
type promptRecord struct {
	ID       recordID             `json:"id"`
	Prompt   *string              `json:"prompt"`
	Messages *[]tokenizer.Message `json:"messages"`
	IDs      []int32              `json:"ids"`
}

// generated is a line of the output.
type generated struct {
	ID        recordID  `json:"id"`
	PromptIDs []int32   `json:"prompt_ids"`
	IDs       []int32   `json:"ids"`
	LogProbs  []float32 `json:"logprobs"`
	Text      string    `json:"text"`
	Finish    string    `json:"finish"`
}

// generateBatch is the number of prompts handed to the decoder together; their
// results are written before the next ones start.
const generateBatch = 256

// generator is a generate command at work.
type generator struct {
	*generateCmd
	ck      *loadedModel
	decoder *model.Decoder
	render  *tokenizer.Renderer
	stops   []int32
	out     *jsonWriter
	env     *environment
	asked   int // prompts so far: the place of a prompt is part of its draws
	ids     []recordID
	reqs    []model.GenRequest
}

// Run answers every prompt.
func (c *generateCmd) Run(env *environment) error {
	if err := c.check(); err != nil {
		return err
	}
	ck, err := c.load(env)
	if err != nil {
		return err
	}
	g := &generator{generateCmd: c, ck: ck, out: newJSONWriter(env.Stdout), env: env}
	g.decoder = ck.model.NewDecoder(model.DecoderOptions{Vocab: ck.vocab()})
	if !c.IgnoreEOS {
		g.stops = ck.stops()
	}
	for i := range c.Prompt {
		if err := g.add(fmt.Sprintf("prompt %d", i+1), promptRecord{Prompt: &c.Prompt[i]}); err != nil {
			return inputf("--prompt %d: %w", i+1, err)
		}
	}
	if c.In != "" {
		if err := eachRecord(env, c.In, g.add); err != nil {
			return err
		}
	}
	return g.flush()
}

// check refuses settings that mean nothing.
func (c *generateCmd) check() error {
	switch {
	case (len(c.Prompt) == 0) == (c.In == ""):
		return usagef("give either --prompt or --in")
	case c.MaxTokens < 1:
		return usagef("--max-tokens %d: at least 1", c.MaxTokens)
	case !(c.Temperature >= 0 && c.Temperature < 1e6):
		return usagef("--temperature %v: 0 or more", c.Temperature)
	case !(c.TopP > 0 && c.TopP <= 1):
		return usagef("--top-p %v: above 0, at most 1", c.TopP)
	case !(c.MinP >= 0 && c.MinP <= 1):
		return usagef("--min-p %v: between 0 and 1", c.MinP)
	case c.TopK < 0:
		return usagef("--top-k %d: 0 or more", c.TopK)
	}
	return nil
}

// add takes one prompt in, and works off a full batch.
func (g *generator) add(_ string, r promptRecord) error {
	ids, err := g.encode(r)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("empty prompt")
	}
	if err := g.ck.checkIDs(ids); err != nil {
		return err
	}
	if n := g.ck.model.Config.MaxPositions; len(ids) >= n {
		return fmt.Errorf("a prompt of %d ids leaves no room: the model takes at most %d", len(ids), n)
	}
	key := prng.Key{Seed: g.Seed, Task: "generate", Rollout: g.asked}
	g.asked++
	g.ids = append(g.ids, r.ID)
	g.reqs = append(g.reqs, model.GenRequest{
		Prompt: ids, MaxTokens: g.MaxTokens, Temperature: g.Temperature, TopP: g.TopP, MinP: g.MinP, TopK: g.TopK,
		Stop: g.stops, Key: key.State(), Adapter: g.ck.lora,
	})
	if len(g.reqs) == generateBatch {
		return g.flush()
	}
	return nil
}

// encode is the ids of a prompt.
func (g *generator) encode(r promptRecord) ([]int32, error) {
	if !one(r.Prompt != nil, r.Messages != nil, r.IDs != nil) {
		return nil, errors.New("want exactly one of prompt, messages and ids")
	}
	if r.IDs != nil {
		return r.IDs, nil
	}
	if err := g.ck.needTokenizer(); err != nil {
		return nil, err
	}
	if g.render == nil {
		render, err := tokenizer.Chat(g.Chat, g.ck.tok, g.ck.dir)
		if err != nil {
			return nil, err
		}
		g.render = render
	}
	msgs := []tokenizer.Message{{Role: "user"}}
	if r.Messages != nil {
		msgs = *r.Messages
	} else {
		if strings.TrimSpace(*r.Prompt) == "" {
			return nil, errors.New("empty prompt")
		}
		msgs[0].Content = *r.Prompt
	}
	return g.render.Encode(msgs, true, g.Thinking)
}

// flush generates for the prompts that wait and writes the results in order.
func (g *generator) flush() error {
	if len(g.reqs) == 0 {
		return nil
	}
	results, err := g.decoder.Generate(g.env.Ctx, g.reqs)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return inputf("%w", err)
	}
	for i, r := range results {
		if err := g.write(g.ids[i], g.reqs[i].Prompt, r); err != nil {
			return err
		}
	}
	g.ids, g.reqs = g.ids[:0], g.reqs[:0]
	return nil
}

func (g *generator) write(id recordID, prompt []int32, r model.GenResult) error {
	text := ""
	if g.ck.tok != nil {
		text = g.ck.tok.Decode(r.IDs, true)
	}
	if g.In == "" && !g.JSON {
		_, err := fmt.Fprintln(g.env.Stdout, text)
		return err
	}
	return g.out.write(generated{id, prompt, r.IDs, r.LogProbs, text, r.Finish})
}
