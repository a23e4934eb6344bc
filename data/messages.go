package data

import (
	"bytes"
	"encoding/json"
)

// LastUserMessage is the content of the last user message in a JSON list of
// {"role", "content"}, as training sets have prompts; ok is false if raw is no
// such list. Messages are looked at one by one, so that a list of a million
// empty ones takes no memory.
func LastUserMessage(raw []byte) (text string, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return "", false
	}
	var m struct{ Role, Content string }
	for d.More() {
		m.Role, m.Content = "", ""
		if err := d.Decode(&m); err != nil {
			return "", false
		}
		if m.Role == "user" {
			text = m.Content
		}
	}
	_, err := d.Token()
	return text, err == nil
}
