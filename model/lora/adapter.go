package lora

import (
	"fmt"
	"math"
	"math/rand/v2"

	"troupe/model/kernels"
)

// Projection is one of the seven linear layers of a block.
type Projection int

// The projections, in the order in which an adapter lists its parameters.
const (
	Q Projection = iota
	K
	V
	O
	Gate
	Up
	Down
	Projections
)

var projectionNames = [Projections]string{
	"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
}

// Base is the shape of the model under an adapter.
type Base struct {
	Layers int
	// In and Out are the sizes of each projection.
	In, Out [Projections]int
}

// Config says what an adapter is like.
type Config struct {
	Rank   int
	Alpha  float64
	RSLoRA bool // scaling alpha/√rank in place of alpha/rank
	// Targets are module names, endings of module names, or "all-linear".
	Targets  []string
	BaseName string // base_model_name_or_path, for the record
}

// Scaling is the factor in front of B·A.
func (c *Config) Scaling() float64 {
	if c.RSLoRA {
		return c.Alpha / math.Sqrt(float64(c.Rank))
	}
	return c.Alpha / float64(c.Rank)
}

// Adapter is a set of low-rank modules for one base model.
type Adapter struct {
	Config
	base    Base
	modules []Module // layer·Projections + projection; Rank 0 where there is none
	flat    []float32
}

// Module is the adapter of one linear layer: A [Rank, In], B [Out, Rank].
type Module struct {
	Rank, In, Out int
	Scale         float32
	A, B          *kernels.Matrix
	// GradA and GradB are the places of A's and B's gradients among the
	// adapter's parameters laid end to end.
	GradA, GradB int
	name         string
}

// New makes an adapter as PEFT initialises one: A uniform in ±1/√In, B zero,
// so that it changes nothing yet.
func New(cfg Config, base Base, rng *rand.Rand) (*Adapter, error) {
	a, err := shape(cfg, base)
	if err != nil {
		return nil, err
	}
	for i := range a.modules {
		m := &a.modules[i]
		if m.Rank == 0 {
			continue
		}
		bound := 1 / math.Sqrt(float64(m.In))
		w := a.flat[m.GradA:][:m.Rank*m.In]
		for j := range w {
			w[j] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	a.Refresh()
	return a, nil
}

// shape lays out an adapter with zero weights.
func shape(cfg Config, base Base) (*Adapter, error) {
	if cfg.Rank < 1 || cfg.Rank > 1<<16 {
		return nil, fmt.Errorf("r is %d, not a positive rank", cfg.Rank)
	}
	if !(cfg.Alpha > 0) || math.IsInf(cfg.Alpha, 0) {
		return nil, fmt.Errorf("lora_alpha %v is not a positive number", cfg.Alpha)
	}
	targets, err := matchTargets(cfg.Targets, base)
	if err != nil {
		return nil, err
	}
	a := &Adapter{Config: cfg, base: base, modules: make([]Module, base.Layers*int(Projections))}
	total := 0
	for i := range a.modules {
		if !targets[i] {
			continue
		}
		p := Projection(i % int(Projections))
		m := Module{Rank: cfg.Rank, In: base.In[p], Out: base.Out[p], Scale: float32(cfg.Scaling()), name: moduleName(i)}
		m.GradA = total
		m.GradB = total + m.Rank*m.In
		total = m.GradB + m.Out*m.Rank
		a.modules[i] = m
	}
	a.flat = make([]float32, total)
	for i := range a.modules {
		if m := &a.modules[i]; m.Rank > 0 {
			m.A = kernels.PackF32(a.flat[m.GradA:m.GradB], m.Rank, m.In)
			m.B = kernels.PackF32(a.flat[m.GradB:][:m.Out*m.Rank], m.Out, m.Rank)
		}
	}
	return a, nil
}

func moduleName(i int) string {
	return fmt.Sprintf("model.layers.%d.%s", i/int(Projections), projectionNames[i%int(Projections)])
}

// Module gives the adapter of one projection, nil if there is none.
func (a *Adapter) Module(layer int, p Projection) *Module {
	m := &a.modules[layer*int(Projections)+int(p)]
	if m.Rank == 0 {
		return nil
	}
	return m
}

// Size is the number of the adapter's parameters.
func (a *Adapter) Size() int { return len(a.flat) }

// Fits tells whether the adapter belongs to a model of this shape.
func (a *Adapter) Fits(b Base) bool { return a.base == b }

// Params lists A and B of every module. After their Data changed, call
// Refresh.
func (a *Adapter) Params() []Param {
	var out []Param
	for i := range a.modules {
		m := &a.modules[i]
		if m.Rank == 0 {
			continue
		}
		end := m.GradB + m.Out*m.Rank
		out = append(out,
			Param{keyPrefix + m.name + keyA, []int{m.Rank, m.In}, a.flat[m.GradA:m.GradB:m.GradB]},
			Param{keyPrefix + m.name + keyB, []int{m.Out, m.Rank}, a.flat[m.GradB:end:end]})
	}
	return out
}

// Refresh takes over changed parameters. Nothing may use the adapter
// meanwhile.
func (a *Adapter) Refresh() {
	for i := range a.modules {
		if m := &a.modules[i]; m.Rank > 0 {
			m.A.Repack(a.flat[m.GradA:m.GradB])
			m.B.Repack(a.flat[m.GradB:][:m.Out*m.Rank])
		}
	}
}

// Clone copies an adapter.
func (a *Adapter) Clone() *Adapter {
	out, err := shape(a.Config, a.base)
	if err != nil {
		panic("lora: an adapter that exists has a bad shape: " + err.Error())
	}
	copy(out.flat, a.flat)
	out.Refresh()
	return out
}

// CopyFrom sets the parameters to those of another adapter of the same shape.
func (a *Adapter) CopyFrom(other *Adapter) error {
	if len(a.flat) != len(other.flat) || a.base != other.base {
		return fmt.Errorf("copy adapter: %d parameters into %d", len(other.flat), len(a.flat))
	}
	copy(a.flat, other.flat)
	a.Refresh()
	return nil
}

// AddDelta adds Scale·B·A of a module to the weight w [Out, In], each sum in
// float32 and added once.
func (m *Module) AddDelta(a *Adapter, w []float32) {
	A, B := a.flat[m.GradA:m.GradB], a.flat[m.GradB:][:m.Out*m.Rank]
	row := make([]float32, m.In)
	for o := range m.Out {
		clear(row)
		for r := range m.Rank {
			kernels.Axpy(row, B[o*m.Rank+r], A[r*m.In:][:m.In])
		}
		kernels.Axpy(w[o*m.In:][:m.In], m.Scale, row)
	}
}
