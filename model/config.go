package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

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
	if p := k.positive("partial_rotary_factor", 1); k.err == nil && p != 1 {
		k.fail("partial_rotary_factor %v is not supported", p)
	}
	var kinds []string
	k.into("layer_types", &kinds)
	for _, t := range kinds {
		if t != "full_attention" {
			k.fail("layer_types has %q, only full_attention is supported", t)
		}
	}
}

func (c *Config) readRope(k *keys) {
	defaultTheta := 0.0
	if c.Type == "llama" {
		defaultTheta = 10000
	}
	rope := k.object("rope_parameters")
	if rope == nil {
		c.RopeTheta = k.positive("rope_theta", defaultTheta)
		rope = k.object("rope_scaling")
	} else {
		c.RopeTheta = rope.positive("rope_theta", defaultTheta)
	}
	if rope == nil || k.err != nil {
		return
	}
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

// keys reads values of a JSON object by name and keeps the first fault.
type keys struct {
	values map[string]json.RawMessage
	prefix string
	err    error
}

func newKeys(text []byte) (*keys, error) {
	k := &keys{}
	if err := json.Unmarshal(text, &k.values); err != nil {
		var syn *json.SyntaxError
		if errors.As(err, &syn) {
			// What stands before the fault holds the key the reader looks for.
			at := int(min(max(syn.Offset, 0), int64(len(text))))
			near := bytes.ToValidUTF8(text[max(at-40, 0):at], nil)
			return nil, fmt.Errorf("not valid JSON at offset %d, after %q: %w", syn.Offset, near, err)
		}
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if k.values == nil {
		return nil, errors.New("not a JSON object")
	}
	return k, nil
}

func (k *keys) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(k.prefix+format, args...)
	}
}

// has tells whether the key is there and not null.
func (k *keys) has(name string) bool {
	v, ok := k.values[name]
	return ok && string(v) != "null"
}

// into decodes the key if it is there, and tells whether it is.
func (k *keys) into(name string, dst any) bool {
	if !k.has(name) {
		return false
	}
	if err := json.Unmarshal(k.values[name], dst); err != nil {
		k.fail("%s: %s is not what belongs there (%T)", name, shorten(k.values[name]), dst)
		return false
	}
	return true
}

func shorten(b []byte) string {
	s := string(b[:min(len(b), 40)])
	return strings.Join(strings.Fields(s), " ")
}

func (k *keys) text(name, missing string) string {
	v := missing
	k.into(name, &v)
	return v
}

func (k *keys) flag(name string, missing bool) bool {
	v := missing
	k.into(name, &v)
	return v
}

// size reads an integer in 1..top; missing 0 means that it must be there.
func (k *keys) size(name string, top, missing int) int {
	v := int64(missing)
	if !k.has(name) {
		if missing == 0 {
			k.fail("%s is missing", name)
			return 1
		}
		return missing
	}
	if k.into(name, &v) && (v < 1 || v > int64(top)) {
		k.fail("%s is %d, not in 1..%d", name, v, top)
	}
	if k.err != nil {
		return 1
	}
	return int(v)
}

// positive reads a positive finite number; missing 0 means that it must be
// there.
func (k *keys) positive(name string, missing float64) float64 {
	v := missing
	if !k.has(name) {
		if missing == 0 {
			k.fail("%s is missing", name)
		}
		return missing
	}
	if k.into(name, &v) && (!(v > 0) || math.IsInf(v, 0)) {
		k.fail("%s %v is not a positive finite number", name, v)
	}
	return v
}

// ids reads a token id or a list of them.
func (k *keys) ids(name string) []int32 {
	if !k.has(name) {
		return nil
	}
	var one int32
	if json.Unmarshal(k.values[name], &one) == nil {
		return []int32{one}
	}
	var many []int32
	k.into(name, &many)
	return many
}

// object opens a nested object, nil if it is not there.
func (k *keys) object(name string) *keys {
	if !k.has(name) {
		return nil
	}
	o := &keys{prefix: k.prefix + name + ": "}
	if !k.into(name, &o.values) {
		return nil
	}
	return o
}
