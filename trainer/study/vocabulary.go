package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/data"
	"troupe/trainer/workflow"
)

// The phrases of replies. Each is one token.
const (
	boxOpen   = `\boxed{`
	boxClose  = `}`
	codeOpen  = "```python\nn=int(input())\nprint("
	codeClose = ")\n```"
	correct   = "Correct"
	incorrect = "Incorrect"

	endOfText = "<|endoftext|>"
	endOfTurn = "<|im_end|>"
)

// maxSubtasks is what {max_subtasks} stands for in the orchestrator's prompt.
const maxSubtasks = 3

// characters are the tokens of one character.
const characters = "0123456789+-*n=,>()"

// strategies are what an orchestrator can name, by kind of task.
var strategies = map[data.Kind][]string{
	data.Math: {"calculate it directly", "calculate tens and units apart", "find the last digit first"},
	data.Code: {"add or subtract a constant", "multiply by a constant", "multiply, then add or subtract", "square, then add or subtract"},
}

// strategyMark stands before the k-th strategy of an orchestrator's reply,
// from 1.
func strategyMark(k int) string {
	mark := fmt.Sprintf("STRATEGY %d: ", k)
	if k > 1 {
		mark = "\n" + mark
	}
	return mark
}

// vocabulary is the list of tokens; a token's id is its place.
func vocabulary() []string {
	v := []string{endOfText, endOfTurn}
	for _, c := range characters {
		v = append(v, string(c))
	}
	v = append(v, phrases()...)
	for len(v)%16 != 0 {
		v = append(v, fmt.Sprintf("<|pad%d|>", len(v)%16))
	}
	return v
}

// phrases are the texts that are one token each: parts of replies, and the
// fixed parts of all prompts.
func phrases() []string {
	p := []string{boxOpen, boxClose, codeOpen, codeClose, correct, incorrect}
	for k := 1; k <= maxSubtasks; k++ {
		p = append(p, strategyMark(k))
	}
	for _, kind := range []data.Kind{data.Math, data.Code} {
		p = append(p, strategies[kind]...)
	}
	for k := 1; k <= maxSubtasks; k++ {
		head, tail, _ := strings.Cut(workflow.StrategyHeader(k, "\x00"), "\x00")
		p = append(p, workflow.SolutionHeader(k), head, tail)
	}
	prompts := workflow.OwnPrompts()
	for _, kind := range []data.Kind{data.Math, data.Code} {
		for _, name := range workflow.PromptNames() {
			p = append(p, segments(prompts.Template(kind, name))...)
		}
	}
	var unique []string
	for _, s := range p {
		if s != "" && !slices.Contains(unique, s) {
			unique = append(unique, s)
		}
	}
	return unique
}

// segments are the parts of a template between its placeholders.
func segments(template string) []string {
	t := strings.ReplaceAll(template, "{max_subtasks}", fmt.Sprint(maxSubtasks))
	for _, ph := range []string{"{problem}", "{solutions}", "{strategy}"} {
		t = strings.ReplaceAll(t, ph, "\x00")
	}
	return strings.Split(t, "\x00")
}

// hfToken is an added token as tokenizer.json writes it.
type hfToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// splitExpression is Qwen's: what the standard tokenizer libraries know best.
// With one-character tokens and no merges it decides nothing.
const splitExpression = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// writeTokenizer writes tokenizer.json, tokenizer_config.json and
// generation_config.json in the standard form into dir.
func writeTokenizer(dir string) error {
	v := vocabulary()
	vocab, tokens := map[string]int{}, []hfToken{}
	for id, s := range v {
		special := strings.HasPrefix(s, "<|")
		if len(s) == 1 && s != boxClose {
			vocab[s] = id
			continue
		}
		tokens = append(tokens, hfToken{ID: id, Content: s, Special: special})
	}
	byteLevel := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}
	tokenizer := map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": tokens,
		"normalizer": map[string]any{"type": "NFC"},
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "pattern": map[string]any{"Regex": splitExpression}, "behavior": "Isolated", "invert": false},
			byteLevel}},
		"post_processor": byteLevel,
		"decoder":        map[string]any{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"model": map[string]any{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
			"vocab": vocab, "merges": []string{}},
	}
	for name, value := range map[string]any{
		"tokenizer.json": tokenizer,
		"tokenizer_config.json": map[string]any{"tokenizer_class": "Qwen2Tokenizer", "add_bos_token": false, "bos_token": nil,
			"eos_token": endOfTurn, "pad_token": endOfText, "unk_token": nil, "model_max_length": maxPositions},
		"generation_config.json": map[string]any{"eos_token_id": []int{endOfTurnID}, "pad_token_id": 0, "do_sample": true, "temperature": 1.0},
	} {
		b, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// endOfTurnID is the place of endOfTurn in the vocabulary.
const endOfTurnID = 1

// maxPositions bounds a sequence, prompt and reply. The longest prompt is an
// evaluator's third.
const maxPositions = 160
