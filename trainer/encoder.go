package trainer

import (
	"fmt"
	"strings"

	"troupe/model/tokenizer"
	"troupe/trainer/workflow"
)

// NewEncoder makes the encoder for a checkpoint's tokenizer. chat is a kind of
// rendering as the tokenizer package names them; dir is where the checkpoint's
// template lies.
func NewEncoder(tok *tokenizer.Tokenizer, chat, dir string, thinking bool) (Encoder, error) {
	if len(tok.EOS()) == 0 {
		return nil, fmt.Errorf("tokenizer of %s: no end token is known", dir)
	}
	r, err := tokenizer.Chat(chat, tok, dir)
	if err != nil {
		return nil, err
	}
	if r.Kind() == tokenizer.ChatOff {
		return &plainEncoder{tok}, nil
	}
	return &chatEncoder{tok, r, thinking}, nil
}

// chatEncoder renders turns by a template.
type chatEncoder struct {
	tok      *tokenizer.Tokenizer
	render   *tokenizer.Renderer
	thinking bool
}

func (e *chatEncoder) Encode(chat []workflow.Message) ([]int32, error) {
	msgs := make([]tokenizer.Message, len(chat))
	for i, m := range chat {
		msgs[i] = tokenizer.Message{Role: m.Role, Content: m.Content}
	}
	return e.render.Encode(msgs, true, e.thinking)
}

func (e *chatEncoder) Text(ids []int32) string { return strings.TrimSpace(e.tok.Decode(ids, true)) }
func (e *chatEncoder) Stop() []int32           { return e.tok.EOS() }

// plainEncoder joins the contents of all turns. Its texts keep their outer
// space: a base model's continuation may begin or end with it.
type plainEncoder struct{ tok *tokenizer.Tokenizer }

func (e *plainEncoder) Encode(chat []workflow.Message) ([]int32, error) {
	var b strings.Builder
	for _, m := range chat {
		b.WriteString(m.Content)
	}
	return e.tok.EncodeSpecialPlain(b.String()), nil
}

func (e *plainEncoder) Text(ids []int32) string { return e.tok.Decode(ids, true) }
func (e *plainEncoder) Stop() []int32           { return e.tok.EOS() }
