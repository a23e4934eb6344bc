package main

import (
	"errors"
	"path/filepath"

	"troupe/model/tokenizer"
)

type tokenizeCmd struct {
	Model            string   `placeholder:"DIR" xor:"tokenizer" required:"" help:"Folder with tokenizer.json, and the chat template."`
	Tokenizer        string   `placeholder:"FILE" xor:"tokenizer" required:"" help:"A tokenizer.json."`
	In               string   `default:"-" placeholder:"FILE" help:"JSON lines of {\"id\", \"text\" | \"ids\" | \"messages\"}; - is standard input."`
	Text             []string `sep:"none" placeholder:"TEXT" help:"A text instead of --in; repeatable."`
	Chat             string   `enum:"auto,official,chatml,paper,off" default:"auto" help:"How messages are rendered: auto, official, chatml, paper or off."`
	Plain            bool     `help:"Take control tokens in texts and messages for ordinary text."`
	GenerationPrompt bool     `negatable:"" default:"true" help:"End rendered messages where the assistant's answer begins."`
	Thinking         bool     `negatable:"" default:"true" help:"Let the model think, where the layout has a way to say so."`
	JSON             bool     `name:"json" help:"Has no effect: the output is always JSON lines."`
}

// Help is the long text of `troupe tokenize --help`.
func (tokenizeCmd) Help() string {
	return `Output, a line for each input: {"id", "ids": [int], "text": str}. For ids the
text is what they read; for messages it is the rendered chat.

  echo '{"text": "Hello"}' | troupe tokenize --model DIR`
}

// textRecord is a line of --in.
type textRecord struct {
	ID       recordID             `json:"id"`
	Text     *string              `json:"text"`
	IDs      []int32              `json:"ids"`
	Messages *[]tokenizer.Message `json:"messages"`
}

// tokenRecord is a line of the output.
type tokenRecord struct {
	ID   recordID `json:"id"`
	IDs  []int32  `json:"ids"`
	Text string   `json:"text"`
}

// one makes sure that exactly one of the alternatives is there.
func one(given ...bool) bool {
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	return n == 1
}

// Run tokenizes every record.
func (c *tokenizeCmd) Run(env *environment) error {
	path, dir := c.Model, c.Model
	if c.Tokenizer != "" {
		path, dir = c.Tokenizer, filepath.Dir(c.Tokenizer)
	}
	tok, err := tokenizer.Load(path)
	if err != nil {
		return inputf("%w", err)
	}
	out := newJSONWriter(env.Stdout)
	if len(c.Text) > 0 {
		for i := range c.Text {
			if err := out.write(tokenRecord{"", c.encode(tok, c.Text[i]), c.Text[i]}); err != nil {
				return err
			}
		}
		return nil
	}
	var render *tokenizer.Renderer
	return eachRecord(env, c.In, func(_ string, r textRecord) error {
		res := tokenRecord{ID: r.ID}
		switch {
		case !one(r.Text != nil, r.IDs != nil, r.Messages != nil):
			return errors.New("want exactly one of text, ids and messages")
		case r.Text != nil:
			res.IDs, res.Text = c.encode(tok, *r.Text), *r.Text
		case r.IDs != nil:
			res.IDs, res.Text = r.IDs, tok.Decode(r.IDs, false)
		default:
			if render == nil {
				if render, err = tokenizer.Chat(c.Chat, tok, dir); err != nil {
					return err
				}
				render.Trusted = !c.Plain
			}
			if res.Text, err = render.Render(*r.Messages, c.GenerationPrompt, c.Thinking); err != nil {
				return err
			}
			if res.IDs, err = render.Encode(*r.Messages, c.GenerationPrompt, c.Thinking); err != nil {
				return err
			}
		}
		return out.write(res)
	})
}

// encode is the ids of a text, never nil.
func (c *tokenizeCmd) encode(tok *tokenizer.Tokenizer, text string) []int32 {
	ids := []int32{}
	if c.Plain {
		return append(ids, tok.EncodePlain(text)...)
	}
	return append(ids, tok.Encode(text)...)
}
