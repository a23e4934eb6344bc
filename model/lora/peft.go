package lora

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"troupe/internal/atomicfile"
	"troupe/internal/readfile"
	"troupe/model/safetensors"
)

// The names of an adapter's two files in its folder.
const (
	ConfigFile  = "adapter_config.json"
	WeightsFile = "adapter_model.safetensors"
)

// maxConfig bounds an adapter_config.json.
const maxConfig = 1 << 20

// harmless lists keys of adapter_config.json that don't change what a loaded
// adapter computes. Any other key we don't read must be null, false, zero or
// empty: ignoring it could be wrong without a sign.
var harmless = map[string]bool{
	"auto_mapping": true, "base_model_name_or_path": true, "inference_mode": true, "lora_dropout": true, "megatron_core": true,
	"peft_version": true, "qalora_group_size": true, "revision": true, "task_type": true, "runtime_config": true, "layers_pattern": true,
	"eva_config": true, "corda_config": true, "loftq_config": true, "lora_ga_config": true,
}

// ParseConfig reads an adapter_config.json.
func ParseConfig(text []byte) (Config, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return Config{}, fmt.Errorf("not a JSON object: %w", err)
	}
	var c Config
	var kind, bias string
	var targets, init json.RawMessage
	for key, dst := range map[string]any{
		"peft_type": &kind, "r": &c.Rank, "lora_alpha": &c.Alpha, "use_rslora": &c.RSLoRA, "bias": &bias,
		"target_modules": &targets, "base_model_name_or_path": &c.BaseName, "init_lora_weights": &init,
	} {
		if v, ok := raw[key]; ok && string(v) != "null" {
			if err := json.Unmarshal(v, dst); err != nil {
				return c, fmt.Errorf("%s: %w", key, err)
			}
		}
		if key != "base_model_name_or_path" {
			delete(raw, key)
		}
	}
	switch {
	case kind != "LORA":
		return c, fmt.Errorf("peft_type %q is not LORA", kind)
	case c.Rank < 1:
		return c, fmt.Errorf("r is %d, not a positive rank", c.Rank)
	case bias != "" && bias != "none":
		return c, fmt.Errorf("bias %q is not supported, only none", bias)
	}
	if s := strings.Trim(string(init), `"`); !slices.Contains([]string{"", "null", "true", "false", "gaussian", "eva", "orthogonal"}, s) {
		return c, fmt.Errorf("init_lora_weights %s changes the base weights and is not supported", s)
	}
	if err := parseTargets(targets, &c); err != nil {
		return c, err
	}
	keys := make([]string, 0, len(raw))
	for k := range raw {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if !harmless[k] && !empty(raw[k]) {
			return c, fmt.Errorf("%s is set, which is not supported", k)
		}
	}
	return c, nil
}

func parseTargets(raw json.RawMessage, c *Config) error {
	if json.Unmarshal(raw, &c.Targets) == nil {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil && one == allLinear {
		c.Targets = []string{one}
		return nil
	}
	return fmt.Errorf("target_modules is neither a list of names nor %q (patterns are not supported)", allLinear)
}

// empty tells whether a JSON value is null, false, 0, "", [] or {}.
func empty(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Load reads the PEFT adapter in dir for a base model of the given shape.
func Load(dir string, base Base) (*Adapter, error) {
	path := filepath.Join(dir, ConfigFile)
	text, err := readfile.AtMost(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there", path)
	}
	if err != nil {
		return nil, err
	}
	cfg, err := ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := safetensors.Open(filepath.Join(dir, WeightsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(f.Names()) == 0 {
		return nil, fmt.Errorf("%s holds no tensor", f.Path)
	}
	// The file must hold what the configuration asks for before memory of that
	// size is taken.
	if err := checkRank(f, cfg.Rank); err != nil {
		return nil, err
	}
	if err := checkTensors(f, cfg, base); err != nil {
		return nil, err
	}
	a, err := shape(cfg, base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range a.Params() {
		if err := f.ReadF32(p.Name, p.Data); err != nil {
			return nil, err
		}
	}
	a.Refresh()
	return a, nil
}

// checkRank compares every A and B of the file with the configured rank.
func checkRank(f *safetensors.File, rank int) error {
	for _, n := range f.Names() {
		t, _ := f.Tensor(n)
		at := -1
		switch {
		case len(t.Shape) != 2:
		case strings.HasSuffix(n, keyA):
			at = 0
		case strings.HasSuffix(n, keyB):
			at = 1
		}
		if at >= 0 && t.Shape[at] != rank {
			return fmt.Errorf("%s: tensor %q: shape %v has rank %d, %s says r = %d", f.Path, n, t.Shape, t.Shape[at], ConfigFile, rank)
		}
	}
	return nil
}

// checkTensors makes sure that the file holds exactly the tensors of an adapter
// with this configuration.
func checkTensors(f *safetensors.File, cfg Config, base Base) error {
	targets, err := matchTargets(cfg.Targets, base)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(filepath.Dir(f.Path), ConfigFile), err)
	}
	var names []string
	want := map[string][]int{}
	for i, hit := range targets {
		if hit {
			name, p := keyPrefix+moduleName(i), i%int(Projections)
			names = append(names, name+keyA, name+keyB)
			want[name+keyA], want[name+keyB] = []int{cfg.Rank, base.In[p]}, []int{base.Out[p], cfg.Rank}
		}
	}
	var extra []string
	for _, n := range f.Names() {
		if want[n] == nil {
			extra = append(extra, n)
		}
	}
	if len(extra) > 0 {
		return fmt.Errorf("%s: %d of %d tensors match no module of the model, %q first", f.Path, len(extra), len(f.Names()), extra[0])
	}
	for _, n := range names {
		t, ok := f.Tensor(n)
		if !ok {
			return fmt.Errorf("%s: tensor %q is missing", f.Path, n)
		}
		if !slices.Equal(t.Shape, want[n]) {
			return fmt.Errorf("%s: tensor %q: shape %v, the base model and r ask for %v", f.Path, n, t.Shape, want[n])
		}
	}
	return nil
}

// Save writes the adapter into dir as PEFT does: float32, no adapter name in
// the keys.
func (a *Adapter) Save(dir string) error {
	var entries []safetensors.Entry
	for _, p := range a.Params() {
		entries = append(entries, safetensors.Entry{Name: p.Name, DType: safetensors.F32, Shape: p.Shape, Data: p.Data})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := safetensors.WriteFile(filepath.Join(dir, WeightsFile), map[string]string{"format": "pt"}, entries); err != nil {
		return err
	}
	var base any
	if a.BaseName != "" {
		base = a.BaseName
	}
	targets := slices.Clone(a.Targets)
	if slices.Contains(targets, allLinear) {
		// PEFT resolves the word before it saves.
		targets = nil
		for _, n := range projectionNames {
			targets = append(targets, n[strings.LastIndexByte(n, '.')+1:])
		}
	}
	sort.Strings(targets)
	text, err := json.MarshalIndent(map[string]any{
		"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": base, "r": a.Rank, "lora_alpha": a.Alpha,
		"use_rslora": a.RSLoRA, "target_modules": targets, "bias": "none", "lora_dropout": 0.0, "fan_in_fan_out": false,
		"inference_mode": true, "init_lora_weights": true, "modules_to_save": nil, "rank_pattern": map[string]int{},
		"alpha_pattern": map[string]int{}, "use_dora": false,
	}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, ConfigFile), append(text, '\n'), 0o644)
}
