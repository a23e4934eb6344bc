package model

import (
	"fmt"
	"math"
	"strings"

	"troupe/model/gguf"
	"troupe/model/lora"
)

// ggufNames is what llama.cpp calls the projections.
var ggufNames = map[string]string{
	"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
	"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}

// WriteGGUF writes an adapter for a model of this shape as a file that
// llama.cpp loads with --lora.
func (c *Config) WriteGGUF(path string, a *lora.Adapter) error {
	if !a.Fits(c.AdapterBase()) {
		return fmt.Errorf("write %s: the adapter belongs to a model of another shape", path)
	}
	alpha := a.Alpha
	if a.RSLoRA {
		alpha *= math.Sqrt(float64(a.Rank)) // the reader divides by the rank
	}
	meta := []gguf.Pair{
		{Key: "general.architecture", Value: c.Type},
		{Key: "general.type", Value: "adapter"},
		{Key: "adapter.type", Value: "lora"},
		{Key: "adapter.lora.alpha", Value: float32(alpha)},
	}
	if a.BaseName != "" {
		meta = append(meta, gguf.Pair{Key: "general.base_model.name", Value: a.BaseName})
	}
	var tensors []gguf.Tensor
	for _, p := range a.Params() {
		t, err := c.ggufTensor(p)
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		tensors = append(tensors, t)
	}
	return gguf.Write(path, meta, tensors)
}

// ggufTensor renames base_model.model.model.layers.N.MODULE.lora_A.weight to
// blk.N.NAME.weight.lora_a. llama.cpp pairs neighbouring elements in the
// rotation of Llama models, so the outputs of q and k change places there.
func (c *Config) ggufTensor(p Param) (gguf.Tensor, error) {
	rest, ok := strings.CutPrefix(p.Name, "base_model.model.model.layers.")
	layer, module, ok2 := strings.Cut(rest, ".")
	module, side, ok3 := strings.Cut(module, ".lora_")
	name := ggufNames[module]
	if !ok || !ok2 || !ok3 || name == "" {
		return gguf.Tensor{}, fmt.Errorf("tensor %q has no place in a GGUF adapter", p.Name)
	}
	t := gguf.Tensor{Shape: p.Shape, Data: p.Data}
	if side == "A.weight" {
		t.Name = "blk." + layer + "." + name + ".weight.lora_a"
		return t, nil
	}
	t.Name = "blk." + layer + "." + name + ".weight.lora_b"
	if c.Type == "llama" && (name == "attn_q" || name == "attn_k") {
		t.Data = interleaveHalves(p.Data, c.HeadDim, p.Shape[1])
	}
	return t, nil
}

// interleaveHalves puts row i of each head's second half behind row i of its
// first half.
func interleaveHalves(w []float32, headDim, n int) []float32 {
	out := make([]float32, len(w))
	for head := 0; head < len(w)/n; head += headDim {
		for i := range headDim {
			from := head + i/2 + i%2*headDim/2
			copy(out[(head+i)*n:][:n], w[from*n:][:n])
		}
	}
	return out
}
