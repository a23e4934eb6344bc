package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"troupe/model"
	"troupe/model/lora"
	"troupe/model/tokenizer"
)

// checkpointFlags name a model to run.
type checkpointFlags struct {
	Model    string `required:"" placeholder:"DIR" help:"Folder of the checkpoint: config.json, *.safetensors, tokenizer.json."`
	Adapter  string `placeholder:"DIR" help:"Folder of a PEFT adapter for it."`
	Numerics string `enum:"auto,f32,f32x3,bf16" default:"auto" help:"How products with the weights are computed: auto, f32, f32x3 or bf16."`
}

// loadedModel is a model with what belongs to it.
type loadedModel struct {
	dir   string
	model *model.Model
	tok   *tokenizer.Tokenizer // nil if the folder has none: only ids then
	lora  *lora.Adapter        // nil: the base model
}

// load reads the checkpoint and makes sure that its parts belong together.
func (f *checkpointFlags) load(env *environment) (*loadedModel, error) {
	c := &loadedModel{dir: f.Model}
	var err error
	if c.tok, err = loadTokenizer(f.Model); err != nil {
		return nil, err
	}
	if c.model, err = model.Load(f.Model, model.LoadOptions{Numerics: f.Numerics}); err != nil {
		if strings.HasPrefix(err.Error(), "numerics ") {
			return nil, usagef("%w", err)
		}
		return nil, inputf("%w", err)
	}
	for _, w := range c.model.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", w)
	}
	if c.tok != nil && c.tok.Size() > c.model.Config.Vocab {
		return nil, inputf("%s: %s has ids up to %d, the model's vocabulary ends at %d: they do not belong together",
			f.Model, tokenizer.FileName, c.tok.Size()-1, c.model.Config.Vocab-1)
	}
	if f.Adapter != "" {
		if c.lora, err = c.model.LoadAdapter(f.Adapter); err != nil {
			return nil, inputf("%w", err)
		}
	}
	return c, nil
}

// loadTokenizer is the tokenizer of a checkpoint, nil if it has none.
func loadTokenizer(dir string) (*tokenizer.Tokenizer, error) {
	if _, err := os.Stat(filepath.Join(dir, tokenizer.FileName)); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, inputf("%s: no such folder", dir)
		}
		return nil, nil
	}
	tok, err := tokenizer.Load(dir)
	if err != nil {
		return nil, inputf("%w", err)
	}
	return tok, nil
}

// needTokenizer is the error for text without a tokenizer.
func (c *loadedModel) needTokenizer() error {
	if c.tok == nil {
		return fmt.Errorf("%s has no %s; give ids", c.dir, tokenizer.FileName)
	}
	return nil
}

// stops is the ids that end a generation.
func (c *loadedModel) stops() []int32 {
	if c.tok != nil {
		return c.tok.EOS()
	}
	return c.model.Config.EOS
}

// vocab is the number of ids that may be sampled, 0 for all.
func (c *loadedModel) vocab() int {
	if c.tok != nil {
		return c.tok.Size()
	}
	return 0
}

// checkIDs refuses ids the model has no row for.
func (c *loadedModel) checkIDs(ids []int32) error {
	v := c.model.Config.Vocab
	for i, id := range ids {
		if id < 0 || int(id) >= v {
			return fmt.Errorf("id %d at position %d is not in the model's vocabulary of %d", id, i, v)
		}
	}
	if n := c.model.Config.MaxPositions; len(ids) > n {
		return fmt.Errorf("%d ids; the model takes at most %d", len(ids), n)
	}
	return nil
}
