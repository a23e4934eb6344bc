package model

import (
	"fmt"

	"troupe/model/lora"
)

// Param is a named float32 tensor that training changes.
type Param = lora.Param

// The names that Hugging Face checkpoints give to tensors outside the layers.
const (
	embedName = "model.embed_tokens.weight"
	normName  = "model.norm.weight"
	headName  = "lm_head.weight"
)

// place is where a tensor stands among all parameters laid end to end.
type place struct {
	name  string
	shape []int
	at, n int
}

// layout lists a model's tensors in the order of their places. Tensors that
// one product computes together (q, k, v; gate, up) are neighbours, so that
// the fused weight is one slice.
type layout struct {
	all    []place
	total  int
	embed  int
	layers []layerPlaces
	norm   int
	head   int // equal to embed when tied
}

// layerPlaces holds offsets; -1 where the model has no such tensor.
type layerPlaces struct {
	norm1, qkv, bias, qnorm, knorm, o, norm2, gateUp, down int
}

func newLayout(c *Config) *layout {
	l := &layout{}
	add := func(name string, shape ...int) int {
		n := 1
		for _, d := range shape {
			n *= d
		}
		l.all = append(l.all, place{name, shape, l.total, n})
		l.total += n
		return l.total - n
	}
	l.embed = add(embedName, c.Vocab, c.Hidden)
	nq, nkv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	for i := range c.Layers {
		in := func(s string) string { return fmt.Sprintf("model.layers.%d.%s", i, s) }
		p := layerPlaces{bias: -1, qnorm: -1, knorm: -1}
		p.norm1 = add(in("input_layernorm.weight"), c.Hidden)
		p.qkv = add(in("self_attn.q_proj.weight"), nq, c.Hidden)
		add(in("self_attn.k_proj.weight"), nkv, c.Hidden)
		add(in("self_attn.v_proj.weight"), nkv, c.Hidden)
		if c.QKVBias() {
			p.bias = add(in("self_attn.q_proj.bias"), nq)
			add(in("self_attn.k_proj.bias"), nkv)
			add(in("self_attn.v_proj.bias"), nkv)
		}
		if c.HeadNorm() {
			p.qnorm = add(in("self_attn.q_norm.weight"), c.HeadDim)
			p.knorm = add(in("self_attn.k_norm.weight"), c.HeadDim)
		}
		p.o = add(in("self_attn.o_proj.weight"), c.Hidden, nq)
		p.norm2 = add(in("post_attention_layernorm.weight"), c.Hidden)
		p.gateUp = add(in("mlp.gate_proj.weight"), c.Inner, c.Hidden)
		add(in("mlp.up_proj.weight"), c.Inner, c.Hidden)
		p.down = add(in("mlp.down_proj.weight"), c.Hidden, c.Inner)
		l.layers = append(l.layers, p)
	}
	l.norm = add(normName, c.Hidden)
	l.head = l.embed
	if !c.Tied {
		l.head = add(headName, c.Vocab, c.Hidden)
	}
	return l
}

// params cuts flat into the layout's tensors.
func (l *layout) params(flat []float32) []Param {
	out := make([]Param, len(l.all))
	for i, p := range l.all {
		out[i] = Param{Name: p.name, Shape: p.shape, Data: flat[p.at : p.at+p.n : p.at+p.n]}
	}
	return out
}

// Parameters is the number of a model's parameters, tied ones once.
func (c *Config) Parameters() int { return newLayout(c).total }
