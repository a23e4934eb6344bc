package tokenizer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// detect is the layout of the checkpoint in dir, by its own template.
func detect(dir string) (string, layout, error) {
	template, err := readTemplate(dir)
	if err != nil {
		return "", nil, err
	}
	switch {
	case template == "":
		return "", nil, fmt.Errorf("chat: %s has no chat template (chat_template.jinja, or chat_template in tokenizer_config.json); use --chat off, or name a layout", dir)
	case isQwen3(template):
		return ChatOfficial, officialChat(nil), nil
	case strings.Contains(template, "<|im_start|>"):
		return ChatChatML, chatML(defaultSystem(template)), nil
	}
	return "", nil, fmt.Errorf("chat: the template of %s is neither Qwen3's nor ChatML; use --chat off, or name a layout", dir)
}

// isQwen3 reports whether a template is one of Qwen3's hybrid-thinking ones.
// Their copies differ in guards that change nothing for chats of text; those
// of other models lack one of these parts.
func isQwen3(template string) bool {
	for _, part := range []string{
		"<|im_start|>", "last_query_index", "multi_step_tool", "<tool_response>", "</think>", "reasoning_content",
		"enable_thinking is defined and enable_thinking is false",
	} {
		if !strings.Contains(template, part) {
			return false
		}
	}
	return !strings.Contains(template, "<|vision_start|>")
}

// systemTurn is a system turn written out in a template.
var systemTurn = regexp.MustCompile(`<\|im_start\|>system(?:\\n|\n)([^'"<{}\\]+)<\|im_end\|>`)

// defaultSystem is the system turn that some ChatML templates put before a
// chat that has none.
func defaultSystem(template string) string {
	if m := systemTurn.FindStringSubmatch(template); m != nil {
		return m[1]
	}
	return ""
}

// readTemplate is the chat template of a checkpoint, "" if it has none.
func readTemplate(dir string) (string, error) {
	b, err := readSide(filepath.Join(dir, "chat_template.jinja"))
	if b != nil || err != nil {
		return string(b), err
	}
	path := filepath.Join(dir, "tokenizer_config.json")
	var c struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := readOptional(path, &c); err != nil {
		return "", err
	}
	if len(c.Template) == 0 {
		return "", nil
	}
	var one *string
	if json.Unmarshal(c.Template, &one) == nil {
		if one == nil {
			return "", nil
		}
		return *one, nil
	}
	var many []struct{ Name, Template string }
	if err := json.Unmarshal(c.Template, &many); err != nil {
		return "", fmt.Errorf("%s: chat_template is neither a text nor a list of named texts", path)
	}
	for _, m := range many {
		if m.Name == "default" {
			return m.Template, nil
		}
	}
	return "", nil
}
