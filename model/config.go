package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"troupe/internal/atomicfile"
	"troupe/internal/readfile"
)

// ConfigFile is the name of the configuration in a checkpoint's folder.
const ConfigFile = "config.json"

// Config is the shape of a model, as config.json gives it. Qwen3, Qwen2 and
// Llama are one block with parts switched on and off.
type Config struct {
	Type         string // model_type: qwen3, qwen2 or llama
	Hidden       int    // hidden_size
	Inner        int    // intermediate_size
	Layers       int    // num_hidden_layers
	Heads        int    // num_attention_heads
	KVHeads      int    // num_key_value_heads
	HeadDim      int    // head_dim
	Vocab        int    // vocab_size
	MaxPositions int    // max_position_embeddings
	Eps          float64
	RopeTheta    float64
	Llama3       *Llama3Scaling // nil: none
	Tied         bool           // tie_word_embeddings
	BOS          int32          // -1: none
	EOS          []int32
}

// Llama3Scaling stretches the slow rotary frequencies, as Llama 3.1 does.
type Llama3Scaling struct {
	Factor, LowFreq, HighFreq float64
	OriginalPositions         int
}

// HeadNorm tells whether queries and keys are normalised per head.
func (c *Config) HeadNorm() bool { return c.Type == "qwen3" }

// QKVBias tells whether the query, key and value projections have a bias.
func (c *Config) QKVBias() bool { return c.Type == "qwen2" }

// Limits on sizes, far above any published model: a lie in a file must fail
// here and not in an allocation.
const (
	maxDim    = 1 << 20
	maxVocab  = 1 << 24
	maxLayers = 1 << 12
	maxConfig = 1 << 20
)

// ReadConfig reads config.json in dir.
func ReadConfig(dir string) (Config, error) {
	path := filepath.Join(dir, ConfigFile)
	text, err := readfile.AtMost(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("%s is not there", path)
	}
	if err != nil {
		return Config{}, err
	}
	c, err := ParseConfig(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads a configuration in either spelling: rope_theta and
// rope_scaling of transformers 4, or rope_parameters of transformers 5.
func ParseConfig(text []byte) (Config, error) {
	k, err := newKeys(text)
	if err != nil {
		return Config{}, err
	}
	c := Config{Type: k.text("model_type", "")}
	if k.err == nil && !slices.Contains([]string{"qwen3", "qwen2", "llama"}, c.Type) {
		return c, fmt.Errorf("model_type %q is not one of qwen3, qwen2, llama", c.Type)
	}
	c.Hidden = k.size("hidden_size", maxDim, 0)
	c.Inner = k.size("intermediate_size", maxDim, 0)
	c.Layers = k.size("num_hidden_layers", maxLayers, 0)
	c.Heads = k.size("num_attention_heads", maxDim, 0)
	c.Vocab = k.size("vocab_size", maxVocab, 0)
	c.MaxPositions = k.size("max_position_embeddings", math.MaxInt32, 0)
	c.KVHeads = k.size("num_key_value_heads", maxDim, max(c.Heads, 1))
	if k.err == nil && !k.has("head_dim") && c.Hidden%c.Heads != 0 {
		return c, fmt.Errorf("hidden_size %d is not a multiple of num_attention_heads %d, and there is no head_dim", c.Hidden, c.Heads)
	}
	c.HeadDim = k.size("head_dim", maxDim, max(c.Hidden/max(c.Heads, 1), 1))
	c.Eps = k.positive("rms_norm_eps", 0)
	c.Tied = k.flag("tie_word_embeddings", false)
	c.BOS = -1
	if ids := k.ids("bos_token_id"); len(ids) > 0 {
		c.BOS = ids[0]
	}
	c.EOS = k.ids("eos_token_id")
	k.refuseVariants()
	c.readRope(k)
	if k.err != nil {
		return c, k.err
	}
	return c, c.Check()
}

// refuseVariants stops at every key that would change what is computed.
func (k *keys) refuseVariants() {
	if act := k.text("hidden_act", ""); k.err == nil && act != "silu" {
		k.fail("hidden_act %q is not supported, only silu", act)
	}
	for _, name := range []string{"attention_bias", "mlp_bias", "use_sliding_window"} {
		if k.flag(name, false) {
			k.fail("%s true is not supported", name)
		}
	}
	if k.has("quantization_config") {
		k.fail("quantization_config is not supported: the weights must be bf16, f16 or f32")
	}
	k.refusePartialRotary()
	var kinds []string
	k.into("layer_types", &kinds)
	for _, t := range kinds {
		if t != "full_attention" {
			k.fail("layer_types has %q, only full_attention is supported", t)
		}
	}
}

// refusePartialRotary stops where only a part of each head would be turned;
// the key stands at the top or among the rotary parameters.
func (k *keys) refusePartialRotary() {
	if p := k.positive("partial_rotary_factor", 1); k.err == nil && p != 1 {
		k.fail("partial_rotary_factor %v is not supported", p)
	}
}

// ropeKeys are the rotary parameters that are read, or that say nothing about
// the kinds supported here.
var ropeKeys = []string{
	"rope_type", "type", "rope_theta", "factor", "low_freq_factor", "high_freq_factor",
	"original_max_position_embeddings", "partial_rotary_factor", "attention_factor", "finetuned",
}

func (c *Config) readRope(k *keys) {
	defaultTheta := 0.0
	if c.Type == "llama" {
		defaultTheta = 10000
	}
	rope := k.object("rope_parameters")
	if rope == nil {
		rope = k.object("rope_scaling")
	} else if k.has("rope_scaling") {
		k.fail("rope_scaling beside rope_parameters: one of them would be ignored")
	}
	if rope != nil && rope.has("rope_theta") {
		c.RopeTheta = rope.positive("rope_theta", 0)
	} else {
		c.RopeTheta = k.positive("rope_theta", defaultTheta)
	}
	if rope == nil || k.err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rope.values)) {
		if !slices.Contains(ropeKeys, name) && rope.has(name) {
			rope.fail("%s is not supported", name)
		}
	}
	rope.refusePartialRotary()
	kind := rope.text("rope_type", rope.text("type", "default"))
	switch kind {
	case "default":
	case "llama3":
		c.Llama3 = &Llama3Scaling{
			Factor: rope.positive("factor", 0), LowFreq: rope.positive("low_freq_factor", 0), HighFreq: rope.positive("high_freq_factor", 0),
			OriginalPositions: rope.size("original_max_position_embeddings", math.MaxInt32, 0),
		}
		if rope.err == nil && c.Llama3.HighFreq <= c.Llama3.LowFreq {
			rope.fail("high_freq_factor must be above low_freq_factor")
		}
	default:
		rope.fail("rope type %q is not supported (default and llama3 are)", kind)
	}
	if rope.err != nil && k.err == nil {
		k.err = rope.err
	}
}

// Check tells what is wrong with a configuration.
func (c *Config) Check() error {
	for _, s := range []struct {
		name       string
		value, top int
	}{
		{"hidden_size", c.Hidden, maxDim}, {"intermediate_size", c.Inner, maxDim}, {"num_hidden_layers", c.Layers, maxLayers},
		{"num_attention_heads", c.Heads, maxDim}, {"num_key_value_heads", c.KVHeads, maxDim}, {"head_dim", c.HeadDim, maxDim},
		{"vocab_size", c.Vocab, maxVocab}, {"max_position_embeddings", c.MaxPositions, math.MaxInt32},
		{"num_attention_heads x head_dim", c.Heads * c.HeadDim, maxDim},
	} {
		if s.value < 1 || s.value > s.top {
			return fmt.Errorf("%s is %d, not in 1..%d", s.name, s.value, s.top)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("num_attention_heads %d is not a multiple of num_key_value_heads %d", c.Heads, c.KVHeads)
	}
	if c.HeadDim%2 != 0 {
		return fmt.Errorf("head_dim %d is odd: rotary embedding turns pairs", c.HeadDim)
	}
	if !(c.Eps > 0) || math.IsInf(c.Eps, 0) {
		return fmt.Errorf("rms_norm_eps %v is not a positive finite number", c.Eps)
	}
	if !(c.RopeTheta > 0) || math.IsInf(c.RopeTheta, 0) {
		return fmt.Errorf("rope_theta %v is not a positive finite number", c.RopeTheta)
	}
	for _, id := range append([]int32{max(c.BOS, 0)}, c.EOS...) {
		if id < 0 || int(id) >= c.Vocab {
			return fmt.Errorf("bos_token_id or eos_token_id holds %d, not below vocab_size %d", id, c.Vocab)
		}
	}
	return nil
}

// Write puts config.json into dir, in the spelling of transformers 4, which
// transformers 5 reads too. dtype is bfloat16 or float32.
func (c *Config) Write(dir, dtype string) error {
	m := map[string]any{
		"architectures": []string{map[string]string{"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}[c.Type]},
		"model_type":    c.Type, "hidden_size": c.Hidden, "intermediate_size": c.Inner, "num_hidden_layers": c.Layers,
		"num_attention_heads": c.Heads, "num_key_value_heads": c.KVHeads, "head_dim": c.HeadDim, "vocab_size": c.Vocab,
		"max_position_embeddings": c.MaxPositions, "rms_norm_eps": c.Eps, "rope_theta": c.RopeTheta, "rope_scaling": nil,
		"tie_word_embeddings": c.Tied, "hidden_act": "silu", "torch_dtype": dtype, "attention_bias": false, "attention_dropout": 0.0,
	}
	if c.Type == "qwen2" {
		delete(m, "attention_bias")
	}
	if s := c.Llama3; s != nil {
		m["rope_scaling"] = map[string]any{"rope_type": "llama3", "factor": s.Factor, "low_freq_factor": s.LowFreq,
			"high_freq_factor": s.HighFreq, "original_max_position_embeddings": s.OriginalPositions}
	}
	if c.BOS >= 0 {
		m["bos_token_id"] = c.BOS
	}
	if len(c.EOS) == 1 {
		m["eos_token_id"] = c.EOS[0]
	} else if len(c.EOS) > 1 {
		m["eos_token_id"] = c.EOS
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, ConfigFile), append(text, '\n'), 0o644)
}
