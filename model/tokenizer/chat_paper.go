package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// paperSystem is the turn the paper's code puts before every chat that does
// not begin with a system message.
const paperSystem = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

type paperOptions struct {
	first      bool // the chat begins here; its engine always says so
	accumulate bool // write the reasoning of earlier turns back
}

// paperChat renders as the training code behind the paper does, not as the
// model's own template: think blocks stay in history, and with thinking off
// every assistant turn, history too, begins with the empty think block.
func paperChat(opt paperOptions) layout {
	return func(msgs []Message, generationPrompt, thinking bool) ([]piece, error) {
		var p page
		if opt.first {
			if len(msgs) == 0 {
				return nil, errNoMessages
			}
			if msgs[0].Role != "system" {
				p.turn("system", paperSystem)
			}
		}
		begin := assistantTurn
		if !thinking {
			begin += emptyThought
		}
		for i, m := range msgs {
			switch m.Role {
			case "system", "user":
				p.turn(m.Role, m.Content)
			case "assistant":
				p.markup(begin)
				if err := paperAssistant(&p, m, opt); err != nil {
					return nil, fmt.Errorf("chat: message %d: %w", i, err)
				}
			case "tool":
				p.markup("<|im_start|>user\n<tool_response>\n")
				p.body(m.Content)
				p.markup("\n</tool_response><|im_end|>\n")
			default:
				return nil, fmt.Errorf("chat: message %d: role %q is not known", i, m.Role)
			}
		}
		if generationPrompt {
			p.markup(begin)
		}
		return p, nil
	}
}

// paperAssistant writes what follows the beginning of an assistant turn.
func paperAssistant(p *page, m Message, opt paperOptions) error {
	content := strings.TrimFunc(m.Content, isPythonSpace)
	if opt.accumulate && m.Reasoning != nil && *m.Reasoning != "" {
		p.markup("<think>\n")
		p.body(strings.TrimFunc(*m.Reasoning, isPythonSpace))
		p.markup("\n</think>\n\n")
	}
	p.body(content)
	for i, call := range m.ToolCalls {
		if i > 0 || content != "" {
			p.markup("\n")
		}
		text, err := paperCall(call)
		if err != nil {
			return err
		}
		p.markup("<tool_call>\n")
		p.body(text)
		p.markup("\n</tool_call>")
	}
	p.markup("<|im_end|>\n")
	return nil
}

// paperCall is the function object as JSON, ASCII only; arguments given as a
// string that holds JSON are inlined.
func paperCall(call ToolCall) (string, error) {
	arguments := call.Arguments
	var s string
	if json.Unmarshal(arguments, &s) == nil && json.Valid([]byte(s)) {
		arguments = json.RawMessage(s)
	}
	text, err := pythonJSON(arguments, true)
	if err != nil {
		return "", err
	}
	return `{"name": ` + pythonString(call.Name, true) + `, "arguments": ` + text + "}", nil
}

// isPythonSpace is what str.strip of Python removes.
func isPythonSpace(r rune) bool {
	return classOf(r) == classSpace || r >= 0x1c && r <= 0x1f
}

// Completion is what an assistant's answer says, taken apart.
type Completion struct {
	Content   string     `json:"content"`
	Reasoning *string    `json:"reasoning"` // nil without exactly one </think>
	ToolCalls []ToolCall `json:"tool_calls"`
}

// ParseCompletion takes a completion, decoded with special tokens kept, apart
// as the paper's code does.
func ParseCompletion(text string) Completion {
	var c Completion
	content := text
	if strings.Count(text, "</think>") == 1 {
		left, right, _ := strings.Cut(text, "</think>")
		reasoning := strings.TrimFunc(strings.TrimPrefix(left, "<think>"), isPythonSpace)
		c.Reasoning, content = &reasoning, right
	} else {
		content = strings.TrimPrefix(content, "<think>")
	}
	content = strings.TrimSuffix(content, "<|im_end|>")
	content = strings.TrimSuffix(content, "<|im_end|>\n")
	content = strings.TrimFunc(content, isPythonSpace)
	c.Content, c.ToolCalls = cutToolCalls(content)
	return c
}

// cutToolCalls removes the blocks of tool calls from content. A block that
// holds no call is removed too; one that is never closed stays.
func cutToolCalls(content string) (string, []ToolCall) {
	const open, end = "<tool_call>", "</tool_call>"
	calls := []ToolCall{}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(content, open)
		if !ok {
			break
		}
		block, after, ok := strings.Cut(rest, end)
		if !ok {
			break
		}
		var call ToolCall
		if json.Unmarshal([]byte(block), &call) == nil {
			calls = append(calls, call)
		}
		b.WriteString(before)
		content = after
	}
	if b.Len() == 0 && len(calls) == 0 {
		return content, calls
	}
	b.WriteString(content)
	return strings.TrimFunc(b.String(), isPythonSpace), calls
}
