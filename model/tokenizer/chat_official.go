package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
)

const toolsHead = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
	"You are provided with function signatures within <tools></tools> XML tags:\n<tools>"

const toolsTail = "\n</tools>\n\nFor each function call, return a json object with function name and arguments " +
	"within <tool_call></tool_call> XML tags:\n<tool_call>\n" +
	`{"name": <function-name>, "arguments": <args-json-object>}` + "\n</tool_call><|im_end|>\n"

// officialChat is Qwen3's own template: a think block is kept only in
// assistant turns after the last question, a last one gets an empty block if
// it has none, and results of tools that follow each other share one turn.
func officialChat(tools []json.RawMessage) layout {
	return func(msgs []Message, generationPrompt, thinking bool) ([]piece, error) {
		if len(msgs) == 0 {
			return nil, errNoMessages
		}
		var p page
		if err := officialSystem(&p, msgs, tools); err != nil {
			return nil, err
		}
		query := lastQuery(msgs)
		for i, m := range msgs {
			switch m.Role {
			case "user":
				p.turn("user", m.Content)
			case "system":
				if i > 0 {
					p.turn("system", m.Content)
				}
			case "assistant":
				if err := officialAssistant(&p, m, i > query, i == len(msgs)-1); err != nil {
					return nil, fmt.Errorf("chat: message %d: %w", i, err)
				}
			case "tool":
				officialTool(&p, msgs, i)
			}
		}
		if generationPrompt {
			p.markup(assistantTurn)
			if !thinking {
				p.markup(emptyThought)
			}
		}
		return p, nil
	}
}

// officialSystem writes the system turn with the signatures of tools.
func officialSystem(p *page, msgs []Message, tools []json.RawMessage) error {
	system := msgs[0].Role == "system"
	if len(tools) == 0 {
		if system {
			p.turn("system", msgs[0].Content)
		}
		return nil
	}
	p.markup("<|im_start|>system\n")
	if system {
		p.body(msgs[0].Content + "\n\n")
	}
	p.markup(toolsHead)
	for i, tool := range tools {
		text, err := pythonJSON(tool, false)
		if err != nil {
			return fmt.Errorf("chat: tool %d: %w", i, err)
		}
		p.markup("\n")
		p.body(text)
	}
	p.markup(toolsTail)
	return nil
}

// lastQuery is the place of the last user message that is no tool's result.
func lastQuery(msgs []Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		c := msgs[i].Content
		if msgs[i].Role == "user" && !(strings.HasPrefix(c, "<tool_response>") && strings.HasSuffix(c, "</tool_response>")) {
			return i
		}
	}
	return len(msgs) - 1
}

// officialAssistant writes an assistant turn; after says that no question
// follows it.
func officialAssistant(p *page, m Message, after, last bool) error {
	content, reasoning := m.Content, ""
	if m.ReasoningContent != nil {
		reasoning = *m.ReasoningContent
	} else if parts := strings.Split(content, "</think>"); len(parts) > 1 {
		content = strings.TrimLeft(parts[len(parts)-1], "\n")
		head := strings.Split(strings.TrimRight(parts[0], "\n"), "<think>")
		reasoning = strings.TrimLeft(head[len(head)-1], "\n")
	}
	p.markup(assistantTurn)
	if after && (last || reasoning != "") {
		p.markup("<think>\n")
		p.body(strings.Trim(reasoning, "\n"))
		p.markup("\n</think>\n\n")
		p.body(strings.TrimLeft(content, "\n"))
	} else {
		p.body(content)
	}
	for i, call := range m.ToolCalls {
		if i > 0 || content != "" {
			p.markup("\n")
		}
		arguments, err := officialArguments(call.Arguments)
		if err != nil {
			return err
		}
		p.markup("<tool_call>\n")
		p.body(`{"name": "` + call.Name + `", "arguments": ` + arguments + "}")
		p.markup("\n</tool_call>")
	}
	p.markup("<|im_end|>\n")
	return nil
}

// officialArguments is a string as it is, anything else as JSON.
func officialArguments(raw json.RawMessage) (string, error) {
	var s string
	if len(raw) > 0 && raw[0] == '"' {
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	return pythonJSON(raw, false)
}

// officialTool writes a tool's result; neighbouring ones share a turn.
func officialTool(p *page, msgs []Message, i int) {
	if i == 0 || msgs[i-1].Role != "tool" {
		p.markup("<|im_start|>user")
	}
	p.markup("\n<tool_response>\n")
	p.body(msgs[i].Content)
	p.markup("\n</tool_response>")
	if i == len(msgs)-1 || msgs[i+1].Role != "tool" {
		p.markup("<|im_end|>\n")
	}
}
