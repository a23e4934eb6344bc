package model

import (
	"math"

	"troupe/model/kernels"
	"troupe/model/lora"
)

// pass is the memory of one forward, or forward and backward, over the rows
// of a chunk. It is kept and used again: a step allocates nothing of note.
type pass struct {
	m    *Model
	pool *kernels.Pool // nil: everything on the calling goroutine
	att  kernels.Attention
	keep bool // the backward needs each layer's activations
	// steps says that no span reads a cache which another span of the pass extends.
	steps bool
	// shared is the number of bottom layers that have one set of activations
	// between them: the backward runs their forward again. It changes no bit.
	shared int
	filled int // the layer whose activations acts[0] holds

	rows     int
	ids, pos []int32
	cos, sin []float32
	spans    [][]kernels.Span // per layer
	caches   []kernels.KVCache
	kv       []float32 // memory of caches, when the pass owns them
	adapters []adapterRows

	x    [][]float32 // x[l] goes into layer l, x[Layers] comes out: [R, H]
	acts []activations
	scr  kernels.Scratch
	low  []float32 // LoRA: gradients of x·Aᵀ of a product's projections, [3][R, rank]
	then []kernels.Addend

	back backBuffers
	head headBuffers
}

// adapterRows says that rows [from, to) go through an adapter.
type adapterRows struct {
	from, to int
	adapter  *lora.Adapter
	grads    *Grads // of the adapter; nil forward only
}

// activations is what one layer's backward needs. R rows each.
type activations struct {
	inv1, inv2 []float32 // [R] 1/rms of the two norms
	n1, n2     []float32 // [R, H] normalised input of attention and MLP
	raw        []float32 // [R, (Nq+2Nkv)·D] projections q, k, v
	rot        []float32 // [R, (Nq+Nkv)·D] q, k after head norm and rotation
	invHead    []float32 // [Nq+Nkv, R] 1/rms of the head norm
	stats      kernels.Stats
	att        []float32 // [R, Nq·D]
	mid        []float32 // [R, H] residual stream between attention and MLP
	gup        []float32 // [R, 2F] gate and up
	act        []float32 // [R, F] silu(gate)·up
	low        []float32 // LoRA: x·Aᵀ of each projection
}

// sizes of one row, and the strides of rows in the buffers of a pass: a buffer [R, n]
// has R·stride(n) values.
type sizes struct {
	hidden, inner, q, kv, qkv, rot, dim int
	ld                                  strides
}

type strides struct{ hidden, inner, gup, q, qkv, rot int }

// stride is kernels.Stride; tests move rows further apart.
var stride = kernels.Stride

func (c *Config) sizes() sizes {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return sizes{c.Hidden, c.Inner, q, kv, q + 2*kv, q + kv, c.HeadDim, strides{
		stride(c.Hidden), stride(c.Inner), stride(2 * c.Inner), stride(q), stride(q + 2*kv), stride(q + kv)}}
}

func newPass(m *Model, pool *kernels.Pool, keep bool) *pass {
	c := &m.Config
	p := &pass{m: m, pool: pool, keep: keep}
	p.att = kernels.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}
	p.x = make([][]float32, c.Layers+1)
	p.acts = make([]activations, c.Layers)
	p.spans = make([][]kernels.Span, c.Layers)
	return p
}

// floats makes *s hold n values, whose old content is lost if it grows. Small
// slices get some to spare; large ones are most of the memory of training.
func floats(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		spare := n / 4
		if n > 1<<20 {
			spare = 0
		}
		*s = nil // let it go before its successor is made
		*s = make([]float32, n+spare)
	}
	*s = (*s)[:n]
	return *s
}

// size makes room for the rows of p.ids. Without keep, all layers share one
// set of activations and the residual stream is updated in place.
func (p *pass) size() {
	p.rows = len(p.ids)
	z, r := p.m.Config.sizes(), p.rows
	if !p.keep {
		p.shared = len(p.acts)
	}
	for i := range p.x {
		if i == 0 || p.keep {
			floats(&p.x[i], r*z.ld.hidden)
		} else {
			p.x[i] = p.x[0]
		}
	}
	for i := range p.acts {
		if i > 0 && i < p.shared {
			continue
		}
		a := &p.acts[i]
		floats(&a.inv1, r)
		floats(&a.inv2, r)
		floats(&a.n1, r*z.ld.hidden)
		floats(&a.n2, r*z.ld.hidden)
		floats(&a.raw, r*z.ld.qkv)
		if p.m.Config.HeadNorm() {
			floats(&a.rot, r*z.ld.rot)
			floats(&a.invHead, r*z.rot/z.dim)
		}
		floats(&a.att, r*z.ld.q)
		floats(&a.gup, r*z.ld.gup)
		floats(&a.act, r*z.ld.inner)
		if p.keep {
			floats(&a.mid, r*z.ld.hidden)
			floats(&a.stats.Max, r*z.q/z.dim)
			floats(&a.stats.Inv, r*z.q/z.dim)
		}
	}
	end := int32(0)
	for _, v := range p.pos {
		end = max(end, v+1)
	}
	p.cos, p.sin = p.m.angles(int(end))
}

// layerActs gives the activations of layer l.
func (p *pass) layerActs(l int) *activations {
	if l < p.shared {
		l = 0
	}
	return &p.acts[l]
}

// keepLayers gives as many layers their own activations as kept says, the top
// ones; the others share one more set.
func (p *pass) keepLayers(kept int) {
	p.shared = 0
	if l := len(p.acts); kept < l {
		p.shared = l - max(kept, 1) + 1
	}
}

// rowBytes is the memory of one row in training: the residual stream, the
// activations of kept layers, keys and values included, and gradients.
func (c *Config) rowBytes(rank, kept int) int64 {
	z := c.sizes()
	layer := 3*z.ld.hidden + z.ld.qkv + z.ld.q + z.ld.gup + z.ld.inner + 2*z.kv + 7*rank
	if c.HeadNorm() {
		layer += z.ld.rot
	}
	back := 2*z.ld.hidden + z.ld.gup + z.ld.inner + z.ld.q + 2*z.ld.qkv
	return 4 * int64(c.Layers*z.ld.hidden+kept*layer+back)
}

// keptLayers is the number of layers whose activations fit the budget for so
// many rows, at least one.
func (c *Config) keptLayers(rows, rank int, budget int64) int {
	fixed := c.rowBytes(rank, 0)
	layer := c.rowBytes(rank, 1) - fixed
	return int(max(1, min(int64(c.Layers), (budget/int64(rows)-fixed)/layer)))
}

// rotated gives the rotated queries and keys and their stride: a buffer of
// their own under head norm, else they lie where they were projected.
func (a *activations) rotated(z sizes, headNorm bool) ([]float32, int) {
	if headNorm {
		return a.rot, z.ld.rot
	}
	return a.raw, z.ld.qkv
}
