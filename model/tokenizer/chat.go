package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// ReasoningContent is the thinking of an assistant turn, for the official
	// renderer; nil lets it look for a think block in Content.
	ReasoningContent *string `json:"reasoning_content,omitempty"`
	// Reasoning is the same under the name the paper's code knows.
	Reasoning *string    `json:"reasoning,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
}

// ToolCall is a call of a function in an assistant turn, wrapped in
// {"type": "function", "function": {…}} or bare.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage // an object, or a string that holds one
}

// UnmarshalJSON reads either spelling.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	type call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var o struct {
		call
		Function *call `json:"function"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if o.Function != nil {
		o.call = *o.Function
	}
	if o.call.Name == "" {
		return errors.New("tool call without a name")
	}
	*c = ToolCall{o.call.Name, o.call.Arguments}
	return nil
}

// Kinds of Renderer.
const (
	ChatAuto     = "auto"     // what the checkpoint's own template is
	ChatOfficial = "official" // Qwen3's template
	ChatChatML   = "chatml"   // <|im_start|>role … <|im_end|>
	ChatPaper    = "paper"    // as the paper's training code renders for Qwen
	ChatOff      = "off"      // the contents one after the other, nothing around them
)

// piece is a part of a rendered chat. The template's own markup may hold
// control tokens; what comes from messages is only text.
type piece struct {
	text   string
	markup bool
}

// layout is one way to render; it appends pieces.
type layout func(msgs []Message, generationPrompt, thinking bool) ([]piece, error)

// Renderer renders chats for one tokenizer.
type Renderer struct {
	// Trusted makes Encode parse control tokens in the messages too, as the
	// reference and the paper's code do. By default a message that holds
	// "<|im_end|>" is only text, and can't end its turn.
	Trusted bool

	kind   string
	tok    *Tokenizer
	layout layout
}

// Chat makes a renderer of a kind. "auto" reads the template in dir
// (chat_template.jinja or tokenizer_config.json).
func Chat(kind string, t *Tokenizer, dir string) (*Renderer, error) {
	r := &Renderer{kind: kind, tok: t}
	switch kind {
	case ChatAuto, "":
		var err error
		if r.kind, r.layout, err = detect(dir); err != nil {
			return nil, err
		}
	case ChatOfficial:
		r.layout = officialChat(nil)
	case ChatChatML:
		r.layout = chatML("")
	case ChatPaper:
		r.layout = paperChat(paperOptions{first: true})
		r.Trusted = true
	case ChatOff:
		r.layout = noChat
		r.Trusted = true
	default:
		return nil, fmt.Errorf("chat %q is not known: auto, official, chatml, paper or off", kind)
	}
	return r, nil
}

// Kind is the kind of layout in use, never "auto".
func (r *Renderer) Kind() string { return r.kind }

// Render is the chat as text. With generationPrompt it ends where the
// assistant's answer begins; thinking off writes the empty think block that
// tells the model not to think, where the layout has one.
func (r *Renderer) Render(msgs []Message, generationPrompt, thinking bool) (string, error) {
	pieces, err := r.layout(msgs, generationPrompt, thinking)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String(), nil
}

// Encode is the chat as ids. Unless Trusted is set, only the layout's own
// markup becomes control tokens; everything else is encoded as EncodePlain
// does. For messages without control tokens both are the ids of Render's text.
func (r *Renderer) Encode(msgs []Message, generationPrompt, thinking bool) ([]int32, error) {
	pieces, err := r.layout(msgs, generationPrompt, thinking)
	if err != nil {
		return nil, err
	}
	if r.Trusted {
		text, err := r.Render(msgs, generationPrompt, thinking)
		return r.tok.Encode(text), err
	}
	var ids []int32
	var plain strings.Builder // neighbouring text is encoded as one
	flush := func() {
		ids = r.tok.encodePlain(ids, wellFormed(plain.String()))
		plain.Reset()
	}
	for _, p := range pieces {
		if !p.markup {
			plain.WriteString(p.text)
			continue
		}
		r.tok.added.split(p.text, true,
			func(s string) { plain.WriteString(s) },
			func(id int32) { flush(); ids = append(ids, id) })
	}
	flush()
	return ids, nil
}

// page gathers pieces.
type page []piece

func (p *page) markup(s string) { *p = append(*p, piece{s, true}) }
func (p *page) body(s string)   { *p = append(*p, piece{s, false}) }

// turn is a whole turn of one body.
func (p *page) turn(role, body string) {
	p.markup("<|im_start|>" + role + "\n")
	p.body(body)
	p.markup("<|im_end|>\n")
}

const (
	assistantTurn = "<|im_start|>assistant\n"
	emptyThought  = "<think>\n\n</think>\n\n"
)

var errNoMessages = errors.New("chat: no messages")

// noChat is the contents one after the other.
func noChat(msgs []Message, _, _ bool) ([]piece, error) {
	var p page
	for _, m := range msgs {
		p.body(m.Content)
	}
	return p, nil
}

// chatML is the plain layout. system, if any, is the turn that is put before
// a chat without one.
func chatML(system string) layout {
	return func(msgs []Message, generationPrompt, _ bool) ([]piece, error) {
		if len(msgs) == 0 {
			return nil, errNoMessages
		}
		var p page
		if system != "" && msgs[0].Role != "system" {
			p.turn("system", system)
		}
		for i, m := range msgs {
			if m.Role == "" || strings.ContainsAny(m.Role, "\n<>|") {
				return nil, fmt.Errorf("chat: message %d: role %q", i, m.Role)
			}
			p.turn(m.Role, m.Content)
		}
		if generationPrompt {
			p.markup(assistantTurn)
		}
		return p, nil
	}
}
