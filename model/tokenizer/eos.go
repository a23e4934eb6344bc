package tokenizer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
)

// idList is an id, a list of them, or null.
type idList []int32

// UnmarshalJSON reads either spelling.
func (l *idList) UnmarshalJSON(b []byte) error {
	var one int32
	if json.Unmarshal(b, &one) == nil {
		if string(b) != "null" {
			*l = idList{one}
		}
		return nil
	}
	var many []int32
	if err := json.Unmarshal(b, &many); err != nil {
		return fmt.Errorf("eos_token_id is neither an id nor a list of ids")
	}
	*l = many
	return nil
}

// namedToken is a token in tokenizer_config.json: its text, or an object with
// the text as content.
type namedToken string

// UnmarshalJSON reads either spelling.
func (n *namedToken) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*n = namedToken(s)
		return nil
	}
	var o struct{ Content string }
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	*n = namedToken(o.Content)
	return nil
}

// endTokens gathers the end tokens from the files of a checkpoint's folder.
func endTokens(dir string, t *Tokenizer) ([]int32, error) {
	var ids []int32
	add := func(id int32) {
		if id >= 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, name := range []string{"generation_config.json", "config.json"} {
		var c struct {
			EOS idList `json:"eos_token_id"`
		}
		if err := readOptional(filepath.Join(dir, name), &c); err != nil {
			return nil, err
		}
		for _, id := range c.EOS {
			add(id)
		}
	}
	var c struct {
		EOS namedToken `json:"eos_token"`
	}
	if err := readOptional(filepath.Join(dir, "tokenizer_config.json"), &c); err != nil {
		return nil, err
	}
	if id, ok := t.ID(string(c.EOS)); ok {
		add(id)
	}
	if len(ids) == 0 {
		return namedEndTokens(t), nil
	}
	return ids, nil
}

// namedEndTokens is the end tokens that are known by name.
func namedEndTokens(t *Tokenizer) []int32 {
	var ids []int32
	for _, a := range t.added.tokens {
		switch a.Content {
		case "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "</s>", "<eos>":
			ids = append(ids, a.ID)
		}
	}
	return ids
}
