package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/model"
	"troupe/model/safetensors"
	"troupe/model/tokenizer"
)

type modelCmd struct {
	Fetch modelFetchCmd `cmd:"" help:"Fetch a checkpoint from the Hugging Face hub."`
	Info  modelInfoCmd  `cmd:"" help:"Show what is in a checkpoint's folder."`
}

type modelInfoCmd struct {
	Dir  string `arg:"" placeholder:"DIR" help:"Folder of the checkpoint."`
	JSON bool   `name:"json" help:"One JSON object."`
}

// modelInfo is what `troupe model info` shows.
type modelInfo struct {
	Dir        string         `json:"dir"`
	Type       string         `json:"type"`
	Hidden     int            `json:"hidden"`
	Inner      int            `json:"inner"`
	Layers     int            `json:"layers"`
	Heads      int            `json:"heads"`
	KVHeads    int            `json:"kv_heads"`
	HeadDim    int            `json:"head_dim"`
	Vocab      int            `json:"vocab"`
	Positions  int            `json:"max_positions"`
	Tied       bool           `json:"tied"`
	Parameters int            `json:"parameters"`
	Tensors    int            `json:"tensors"`
	Bytes      int64          `json:"bytes"`
	DTypes     map[string]int `json:"dtypes"` // tensors of each
	Tokens     int            `json:"tokens,omitempty"`
	EOS        []int32        `json:"eos"`
	Chat       string         `json:"chat,omitempty"`
	ChatNote   string         `json:"chat_note,omitempty"`
}

// Run reads the headers of the files, not the weights.
func (c *modelInfoCmd) Run(env *environment) error {
	info, err := inspect(c.Dir)
	if err != nil {
		return inputf("%w", err)
	}
	if c.JSON {
		return newJSONWriter(env.Stdout).write(info)
	}
	for _, line := range info.lines() {
		fmt.Fprintln(env.Stdout, line)
	}
	return nil
}

// inspect gathers what the files of a checkpoint say.
func inspect(dir string) (*modelInfo, error) {
	cfg, err := model.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	info := &modelInfo{
		Dir: dir, Type: cfg.Type, Hidden: cfg.Hidden, Inner: cfg.Inner, Layers: cfg.Layers, Heads: cfg.Heads,
		KVHeads: cfg.KVHeads, HeadDim: cfg.HeadDim, Vocab: cfg.Vocab, Positions: cfg.MaxPositions, Tied: cfg.Tied,
		Parameters: cfg.Parameters(), DTypes: map[string]int{}, EOS: cfg.EOS,
	}
	ck, err := safetensors.OpenCheckpoint(dir)
	if err != nil {
		return nil, err
	}
	defer ck.Close()
	for _, name := range ck.Names() {
		t, _, ok := ck.Find(name)
		if !ok {
			return nil, fmt.Errorf("%s: tensor %q is missing", dir, name)
		}
		info.Tensors++
		info.Bytes += t.Bytes
		info.DTypes[strings.ToLower(fmt.Sprint(t.DType))]++
	}
	if _, err := os.Stat(filepath.Join(dir, tokenizer.FileName)); errors.Is(err, fs.ErrNotExist) {
		info.ChatNote = "no " + tokenizer.FileName + ": ids only"
		return info, nil
	}
	tok, err := tokenizer.Load(dir)
	if err != nil {
		return nil, err
	}
	info.Tokens, info.EOS = tok.Size(), tok.EOS()
	if r, err := tokenizer.Chat(tokenizer.ChatAuto, tok, dir); err != nil {
		info.ChatNote = err.Error()
	} else {
		info.Chat = r.Kind()
	}
	return info, nil
}

// lines is the same for people.
func (m *modelInfo) lines() []string {
	heads := "untied head"
	if m.Tied {
		heads = "head tied to the embedding"
	}
	var types []string
	for t, n := range m.DTypes {
		types = append(types, fmt.Sprintf("%d %s", n, t))
	}
	slices.Sort(types)
	out := []string{
		fmt.Sprintf("model       %s, %s parameters, %s", m.Type, count(m.Parameters), heads),
		fmt.Sprintf("shape       hidden %d, inner %d, %d layers, %d heads of %d, %d for keys and values", m.Hidden, m.Inner, m.Layers, m.Heads, m.HeadDim, m.KVHeads),
		fmt.Sprintf("limits      vocabulary %d, %d positions", m.Vocab, m.Positions),
		fmt.Sprintf("weights     %d tensors (%s), %.1f MiB", m.Tensors, strings.Join(types, ", "), float64(m.Bytes)/(1<<20)),
	}
	if m.Tokens > 0 {
		out = append(out, fmt.Sprintf("tokenizer   %d tokens", m.Tokens))
	}
	out = append(out, fmt.Sprintf("end tokens  %v", m.EOS))
	switch {
	case m.Chat != "":
		out = append(out, "chat        "+m.Chat)
	case m.ChatNote != "":
		out = append(out, "chat        "+m.ChatNote)
	}
	return out
}

// count is a number of parameters for people.
func count(n int) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f billion", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	}
	return fmt.Sprint(n)
}
