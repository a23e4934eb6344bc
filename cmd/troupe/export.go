package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"troupe/internal/atomicfile"
	"troupe/internal/readfile"
	"troupe/model"
	"troupe/model/lora"
	"troupe/model/safetensors"
	"troupe/trainer/checkpoint"
)

type exportCmd struct {
	Checkpoint string `placeholder:"DIR" xor:"source" required:"" help:"A checkpoint of a run (runs/ID/step-N): every parameter set in it."`
	Adapter    string `placeholder:"DIR" xor:"source" required:"" help:"Folder of one PEFT adapter."`
	Model      string `required:"" placeholder:"DIR" help:"The base model."`
	As         string `enum:"peft,merged,gguf" required:"" help:"peft: adapter folders; merged: whole checkpoints; gguf: adapters for llama.cpp."`
	Out        string `required:"" placeholder:"DIR" help:"Folder to make; it must not exist."`
	DType      string `name:"dtype" enum:"bf16,f32" default:"bf16" help:"Of merged weights: bf16 or f32."`
	BaseName   string `placeholder:"NAME" help:"Name of the base model that adapters record (default: the folder's)."`
}

// Help is the long text of `troupe export --help`.
func (exportCmd) Help() string {
	return `Writes OUT/lora_adapter_ROLE (peft), OUT/ROLE (merged) or OUT/ROLE.gguf for every
parameter set of a checkpoint. From --adapter, ROLE is the folder's name.

  troupe export --checkpoint runs/ID/step-000100 --model DIR --as peft --out adapters`
}

// Run exports everything or nothing.
func (c *exportCmd) Run(env *environment) error {
	if _, err := os.Stat(c.Out); err == nil {
		return usagef("--out %s exists already", c.Out)
	}
	sets, err := c.sets()
	if err != nil {
		return inputf("%w", err)
	}
	if c.BaseName == "" {
		c.BaseName = folderName(c.Model)
	}
	var made []string
	err = atomicfile.WriteDir(c.Out, func(dir string) error {
		for _, set := range sets {
			name, err := c.export(set, dir)
			if err != nil {
				return err
			}
			made = append(made, name)
			if err := env.Ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range made {
		fmt.Fprintln(env.Stdout, filepath.Join(c.Out, name))
	}
	return nil
}

// parameterSet is a folder with an adapter, or with a whole model.
type parameterSet struct {
	name, dir string
	full      bool
}

// sets lists what there is to export.
func (c *exportCmd) sets() ([]parameterSet, error) {
	if c.Adapter != "" {
		return []parameterSet{{name: folderName(c.Adapter), dir: c.Adapter}}, nil
	}
	if _, err := checkpoint.Verify(c.Checkpoint, ""); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(c.Checkpoint)
	if err != nil {
		return nil, err
	}
	var out []parameterSet
	for _, e := range entries {
		dir := filepath.Join(c.Checkpoint, e.Name())
		switch {
		case exists(filepath.Join(dir, lora.WeightsFile)):
			out = append(out, parameterSet{name: e.Name(), dir: dir})
		case exists(filepath.Join(dir, safetensors.WeightsFile)):
			out = append(out, parameterSet{e.Name(), dir, true})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no parameter sets", c.Checkpoint)
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// export writes one set into dir and returns the name of what it made.
func (c *exportCmd) export(set parameterSet, dir string) (string, error) {
	if c.As == "merged" {
		return set.name, c.merge(set, filepath.Join(dir, set.name))
	}
	if set.full {
		return "", inputf("%s holds whole weights, not an adapter: export it as merged", set.dir)
	}
	cfg, err := model.ReadConfig(c.Model)
	if err != nil {
		return "", inputf("%w", err)
	}
	a, err := lora.Load(set.dir, cfg.AdapterBase())
	if err != nil {
		return "", inputf("%w", err)
	}
	a.BaseName = c.BaseName
	if c.As == "gguf" {
		return set.name + ".gguf", cfg.WriteGGUF(filepath.Join(dir, set.name+".gguf"), a)
	}
	name := "lora_adapter_" + strings.TrimPrefix(set.name, "lora_adapter_")
	return name, a.Save(filepath.Join(dir, name))
}

// merge writes a whole checkpoint: weights, configuration, tokenizer.
func (c *exportCmd) merge(set parameterSet, dir string) error {
	from := c.Model
	if set.full {
		from = set.dir
	}
	m, err := model.Load(from, model.LoadOptions{Trainable: true})
	if err != nil {
		return inputf("%w", err)
	}
	if !set.full {
		a, err := m.LoadAdapter(set.dir)
		if err != nil {
			return inputf("%w", err)
		}
		if err := m.Merge(a); err != nil {
			return inputf("%w", err)
		}
	}
	if err := m.Save(dir, c.DType); err != nil {
		return err
	}
	return copyCompanions(c.Model, dir)
}

// maxCompanion bounds a file that is copied beside weights.
const maxCompanion = 256 << 20

// companions are the files that go with weights.
var companions = []string{
	"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json",
	"special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt",
}

func copyCompanions(from, to string) error {
	for _, name := range companions {
		b, err := readfile.AtMost(filepath.Join(from, name), maxCompanion)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type importCmd struct {
	Dir   string `arg:"" placeholder:"DIR" help:"Folder with lora_adapter_ROLE folders, or an actor folder that has them."`
	Model string `required:"" placeholder:"DIR" help:"The model the adapters belong to."`
	Out   string `required:"" placeholder:"DIR" help:"Folder to make: OUT/ROLE is a PEFT adapter; it must not exist."`
}

// Help is the long text of `troupe import --help`.
func (importCmd) Help() string {
	return `Reads the per-role adapters of the reference implementation
(global_step_N/actor/lora_adapter_ROLE), checks them against the model, and
writes them as OUT/ROLE for --adapter.`
}

// Run imports all adapters or none.
func (c *importCmd) Run(env *environment) error {
	if exists(c.Out) {
		return usagef("--out %s exists already", c.Out)
	}
	cfg, err := model.ReadConfig(c.Model)
	if err != nil {
		return inputf("%w", err)
	}
	found, err := adapterFolders(c.Dir)
	if err != nil {
		return inputf("%w", err)
	}
	err = atomicfile.WriteDir(c.Out, func(dir string) error {
		for _, path := range found {
			a, err := lora.Load(path, cfg.AdapterBase())
			if err != nil {
				return inputf("%w", err)
			}
			if a.BaseName == "" {
				a.BaseName = folderName(c.Model)
			}
			if err := a.Save(filepath.Join(dir, role(path))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range found {
		fmt.Fprintln(env.Stdout, filepath.Join(c.Out, role(path)))
	}
	return nil
}

// adapterFolders lists the lora_adapter_ROLE folders in dir, or else in its
// actor folder.
func adapterFolders(dir string) ([]string, error) {
	for _, d := range []string{dir, filepath.Join(dir, "actor")} {
		entries, err := os.ReadDir(d)
		if err != nil && !(d != dir && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		var found []string
		for _, e := range entries {
			if path := filepath.Join(d, e.Name()); strings.HasPrefix(e.Name(), "lora_adapter_") && role(path) != "" {
				found = append(found, path)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s has no lora_adapter_ROLE folders", dir)
}

// folderName is the last part of a folder's path, also of "." and "..".
func folderName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// role is the name behind lora_adapter_.
func role(path string) string {
	return strings.TrimPrefix(filepath.Base(path), "lora_adapter_")
}
