package model

import (
	"fmt"
	"sync"

	"troupe/model/kernels"
)

// Model is a language model in memory. Its methods may be called from several
// goroutines as long as none changes the weights meanwhile.
type Model struct {
	Config Config
	// Warnings tells what was odd about the files the model came from.
	Warnings []string

	numerics kernels.Numerics
	pool     *kernels.Pool
	budget   int64 // bytes for activations; 0 means defaultActivations
	kv16     bool  // keys and values are rounded to bfloat16
	vocab    int   // ids from here on are padding; 0 means none
	large    bool  // treat as large whatever the size: for tests
	layout   *layout
	flat     []float32 // all parameters end to end; nil for a frozen model
	layers   []layer
	norm     []float32
	head     *kernels.Matrix
	embed    table
	rope     ropeTable

	training sync.Mutex // held by Backward, which uses grads
	mu       sync.Mutex
	passes   []*pass  // free workspaces
	lanes    []*lane  // free workspaces of decoders
	grads    []*Grads // of the chunks of a wave; guarded by training
}

// layer is one block's weights, packed for products.
type layer struct {
	norm1, norm2      []float32
	qnorm, knorm      []float32 // nil without head norm
	bias              []float32 // of q, k, v; nil without
	qkv, o, gup, down *kernels.Matrix
}

// table is the embedding: float32 or bfloat16 rows, or the tied head's.
type table struct {
	f32  []float32
	bf16 []uint16
}

// New makes a trainable float32 model whose parameters init fills, tensor by
// tensor in the order of Params.
func New(cfg Config, init func(name string, shape []int, w []float32)) (*Model, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	m := &Model{Config: cfg, pool: kernels.Default(), layout: newLayout(&cfg)}
	m.flat = make([]float32, m.layout.total)
	for _, p := range m.Params() {
		init(p.Name, p.Shape, p.Data)
	}
	m.bind()
	return m, nil
}

// bind packs flat for the first time and points the small tensors into it.
func (m *Model) bind() {
	c, l := &m.Config, m.layout
	nq, nkv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	part := func(at, n int) []float32 { return m.flat[at : at+n : at+n] }
	pack := func(at, n, k int) *kernels.Matrix { return kernels.PackF32(part(at, n*k), n, k) }
	m.layers = make([]layer, c.Layers)
	for i, p := range l.layers {
		w := &m.layers[i]
		w.norm1, w.norm2 = part(p.norm1, c.Hidden), part(p.norm2, c.Hidden)
		if p.qnorm >= 0 {
			w.qnorm, w.knorm = part(p.qnorm, c.HeadDim), part(p.knorm, c.HeadDim)
		}
		if p.bias >= 0 {
			w.bias = part(p.bias, nq+2*nkv)
		}
		w.qkv, w.o = pack(p.qkv, nq+2*nkv, c.Hidden), pack(p.o, c.Hidden, nq)
		w.gup, w.down = pack(p.gateUp, 2*c.Inner, c.Hidden), pack(p.down, c.Hidden, c.Inner)
	}
	m.norm = part(l.norm, c.Hidden)
	m.head = pack(l.head, c.Vocab, c.Hidden)
	m.embed = table{f32: part(l.embed, c.Vocab*c.Hidden)}
}

// Numerics names the kind of products with the weights, for the record.
func (m *Model) Numerics() string { return m.numerics.String() }

// Vocab is the number of ids that have a probability: all of the vocabulary
// but its padding (LoadOptions.Vocab).
func (m *Model) Vocab() int {
	if m.vocab > 0 {
		return m.vocab
	}
	return m.Config.Vocab
}

// output is the head at a temperature.
func (m *Model) output(temperature float32) kernels.Head {
	return kernels.Head{W: m.head, Temperature: temperature, Live: m.Vocab()}
}

// Trainable tells whether the model has parameters of its own to train.
func (m *Model) Trainable() bool { return m.flat != nil }

// Params lists all parameters of a trainable model. After their Data changed,
// call Refresh. A frozen model has none.
func (m *Model) Params() []Param {
	if m.flat == nil {
		return nil
	}
	return m.layout.params(m.flat)
}

// Refresh takes over changed parameters. Nothing may use the model meanwhile.
func (m *Model) Refresh() {
	c, l := &m.Config, m.layout
	if m.flat == nil {
		return
	}
	for i, p := range l.layers {
		w := &m.layers[i]
		w.qkv.Repack(m.flat[p.qkv:])
		w.o.Repack(m.flat[p.o:])
		w.gup.Repack(m.flat[p.gateUp:])
		w.down.Repack(m.flat[p.down:])
	}
	m.head.Repack(m.flat[l.head : l.head+c.Vocab*c.Hidden])
}

// Clone copies a trainable model: parameters of its own, shared by nobody. A
// frozen model shares its weights with the clone.
func (m *Model) Clone() *Model {
	out := &Model{Config: m.Config, numerics: m.numerics, Warnings: m.Warnings, pool: m.pool, budget: m.budget, vocab: m.vocab, kv16: m.kv16, layout: m.layout}
	if m.flat == nil {
		out.layers, out.norm, out.head, out.embed = m.layers, m.norm, m.head, m.embed
		return out
	}
	out.flat = append([]float32(nil), m.flat...)
	out.bind()
	return out
}

// CopyFrom sets the parameters to those of another trainable model of the same
// shape.
func (m *Model) CopyFrom(other *Model) error {
	if len(m.flat) == 0 || len(m.flat) != len(other.flat) {
		return fmt.Errorf("copy parameters: %d into %d", len(other.flat), len(m.flat))
	}
	copy(m.flat, other.flat)
	m.Refresh()
	return nil
}
