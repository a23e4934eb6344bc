package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"troupe/model/kernels"
	"troupe/model/safetensors"
)

// Kinds of numerics for products with frozen bfloat16 weights; kernels.Numerics
// defines them.
const (
	NumericsF32   = "f32"
	NumericsF32x3 = "f32x3"
	NumericsBF16  = "bf16"
)

// LoadOptions says how a checkpoint is held in memory.
type LoadOptions struct {
	// Numerics is the kind of products with frozen weights; "" means NumericsF32
	// and "auto" what AutoNumerics says. Weights that are trained, and weights that
	// the file has in another type than bfloat16, are float32 in every kind.
	Numerics string
	// Trainable makes every parameter float32 and trainable. Otherwise the
	// weights stay bfloat16 where the file has them so, and only adapters learn.
	Trainable bool
	// Pool does the work; nil means kernels.Default().
	Pool *kernels.Pool
	// ActivationBytes bounds the activations that training keeps; 0 means 2 GiB.
	// Of longer sequences some layers are recomputed. How a batch is cut depends
	// on it, and so do the last bits of gradients.
	ActivationBytes int64
	// KV is the precision of keys and values, f32 or bf16; "" means f32. With bf16
	// they are rounded everywhere, in training too, where the gradient passes the
	// rounding unchanged: sampler and trainer still agree bit for bit. The sampler
	// then keeps them in half the memory.
	KV string
	// Vocab is the number of ids the tokenizer knows, where the checkpoint's
	// vocabulary is padded beyond them. Padding has no probability: it is never
	// sampled, and log-probabilities, entropies and gradients are those of the
	// distribution over the ids before it. 0 means all.
	Vocab int
}

// AutoNumerics is the kind of numerics that suits this machine: NumericsF32x3 for
// frozen weights where AMX is usable, NumericsF32 otherwise.
func AutoNumerics(trainable bool) string {
	if trainable {
		return NumericsF32
	}
	return kernels.AutoNumerics().String()
}

// Load reads the checkpoint in dir: config.json and its safetensors.
func Load(dir string, opt LoadOptions) (*Model, error) {
	kind := kernels.F32
	if opt.Numerics == "auto" {
		opt.Numerics = AutoNumerics(opt.Trainable)
	}
	if opt.Numerics != "" {
		var err error
		if kind, err = kernels.ParseNumerics(opt.Numerics); err != nil {
			return nil, err
		}
		if opt.Trainable && kind != kernels.F32 {
			return nil, fmt.Errorf("numerics %q is for frozen weights: all parameters are trained in %s", opt.Numerics, NumericsF32)
		}
	}
	if opt.KV != "" && opt.KV != "f32" && opt.KV != "bf16" {
		return nil, fmt.Errorf("keys and values in %q: want f32 or bf16", opt.KV)
	}
	cfg, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	ck, err := safetensors.OpenCheckpoint(dir)
	if err != nil {
		return nil, err
	}
	defer ck.Close()
	if opt.Vocab < 0 || opt.Vocab > cfg.Vocab {
		return nil, fmt.Errorf("%s: the tokenizer has ids up to %d, the model's vocabulary ends at %d: they do not belong together", dir, opt.Vocab-1, cfg.Vocab-1)
	}
	m := &Model{Config: cfg, numerics: kind, pool: opt.Pool, budget: opt.ActivationBytes, vocab: opt.Vocab, kv16: opt.KV == "bf16"}
	if m.pool == nil {
		m.pool = kernels.Default()
	}
	src, err := m.openTensors(dir, ck)
	if err != nil {
		return nil, err
	}
	m.layout = newLayout(&m.Config)
	if err := src.checkShapes(m.layout); err != nil {
		return nil, err
	}
	if opt.Trainable {
		return m, m.loadTrainable(src)
	}
	return m, m.loadFrozen(src)
}

// source reads a checkpoint's tensors under the names of the layout.
type source struct {
	dir   string
	ck    *safetensors.Checkpoint
	alias map[string]string // a name of the layout that another tensor serves
}

// openTensors decides about the head: tied, untied, or only one of the two
// there; what is odd becomes a warning.
func (m *Model) openTensors(dir string, ck *safetensors.Checkpoint) (*source, error) {
	s := &source{dir: dir, ck: ck, alias: map[string]string{}}
	_, _, hasEmbed := ck.Find(embedName)
	_, _, hasHead := ck.Find(headName)
	c := &m.Config
	switch {
	case c.Tied && hasEmbed && hasHead:
		_, fe, _ := ck.Find(embedName)
		_, fh, _ := ck.Find(headName)
		same, err := safetensors.Equal(fe, embedName, fh, headName)
		if err != nil {
			return nil, err
		}
		if !same {
			c.Tied = false
			m.Warnings = append(m.Warnings, fmt.Sprintf("%s: %s differs from %s although tie_word_embeddings is true: they are kept apart", dir, headName, embedName))
		}
	case c.Tied && hasHead:
		s.alias[embedName] = headName
	}
	known := map[string]bool{headName: c.Tied}
	for _, p := range newLayout(c).all {
		known[p.name] = true
	}
	for _, n := range ck.Names() {
		if !known[n] && !strings.HasSuffix(n, "rotary_emb.inv_freq") {
			m.Warnings = append(m.Warnings, fmt.Sprintf("%s: tensor %q is not part of this model and is left out", dir, n))
		}
	}
	return s, nil
}

func (s *source) find(name string) (safetensors.Tensor, *safetensors.File, error) {
	if a := s.alias[name]; a != "" {
		name = a
	}
	t, f, ok := s.ck.Find(name)
	if !ok {
		return t, nil, fmt.Errorf("%s: tensor %q is missing", s.dir, name)
	}
	return t, f, nil
}

// checkShapes compares every tensor with the configuration before anything is
// allocated.
func (s *source) checkShapes(l *layout) error {
	for _, p := range l.all {
		t, f, err := s.find(p.name)
		if err != nil {
			return err
		}
		if !slices.Equal(t.Shape, p.shape) {
			return fmt.Errorf("%s: tensor %q: shape %v, the configuration asks for %v", f.Path, t.Name, t.Shape, p.shape)
		}
	}
	return nil
}

func (s *source) f32(name string, dst []float32) error {
	t, f, err := s.find(name)
	if err != nil {
		return err
	}
	return f.ReadF32(t.Name, dst)
}

func (m *Model) loadTrainable(s *source) error {
	m.flat = make([]float32, m.layout.total)
	for _, p := range m.Params() {
		if err := s.f32(p.Name, p.Data); err != nil {
			return err
		}
	}
	m.bind()
	return nil
}

// loadFrozen packs matrices as the file has them, bfloat16 or else float32,
// several layers at a time.
func (m *Model) loadFrozen(s *source) error {
	l, c := m.layout, &m.Config
	at := map[int]int{}
	for i, p := range l.all {
		at[p.at] = i
	}
	m.layers = make([]layer, c.Layers)
	errs := make([]error, c.Layers+1)
	var next atomic.Int32
	var wg sync.WaitGroup
	for range m.pool.Workers() {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(errs); i = int(next.Add(1)) - 1 {
				r := &frozen{source: s, l: l, at: at, kind: m.numerics}
				if i == 0 { // the largest first
					m.readOuter(r)
				} else {
					m.readLayer(r, i-1)
				}
				errs[i] = r.err
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// readOuter reads what is outside the layers.
func (m *Model) readOuter(r *frozen) {
	l, c := m.layout, &m.Config
	m.norm = r.vector(l.norm, c.Hidden)
	m.head = r.matrix(l.head, c.Vocab, c.Hidden)
	if l.head != l.embed && r.err == nil {
		m.embed.f32, m.embed.bf16 = r.values(l.embed, c.Vocab*c.Hidden)
	}
}

func (m *Model) readLayer(r *frozen, i int) {
	p, z, w := &m.layout.layers[i], m.Config.sizes(), &m.layers[i]
	w.norm1, w.norm2 = r.vector(p.norm1, z.hidden), r.vector(p.norm2, z.hidden)
	w.qnorm, w.knorm = r.vector(p.qnorm, z.dim), r.vector(p.knorm, z.dim)
	w.bias = r.vector(p.bias, z.qkv)
	w.qkv, w.o = r.matrix(p.qkv, z.qkv, z.hidden), r.matrix(p.o, z.hidden, z.q)
	w.gup, w.down = r.matrix(p.gateUp, 2*z.inner, z.hidden), r.matrix(p.down, z.hidden, z.inner)
}

// frozen reads runs of neighbouring tensors by their place and keeps the first
// error.
type frozen struct {
	*source
	l    *layout
	at   map[int]int
	kind kernels.Numerics
	err  error
}

// run lists the tensors that fill n values from a place on.
func (r *frozen) run(at, n int) []place {
	first := r.at[at]
	last := first
	for r.l.all[last].at+r.l.all[last].n < at+n {
		last++
	}
	return r.l.all[first : last+1]
}

func (r *frozen) vector(at, n int) []float32 {
	if at < 0 {
		return nil
	}
	out := make([]float32, n)
	for _, p := range r.run(at, n) {
		if r.err == nil {
			r.err = r.f32(p.name, out[p.at-at:][:p.n])
		}
	}
	return out
}

// values reads n values as bfloat16 if all of them are, else as float32.
func (r *frozen) values(at, n int) ([]float32, []uint16) {
	for _, p := range r.run(at, n) {
		if t, _, err := r.find(p.name); err != nil || t.DType != safetensors.BF16 {
			return r.vector(at, n), nil
		}
	}
	out := make([]uint16, n)
	for _, p := range r.run(at, n) {
		t, f, err := r.find(p.name)
		if err == nil {
			err = f.ReadBF16(t.Name, out[p.at-at:][:p.n])
		}
		if err != nil && r.err == nil {
			r.err = err
		}
	}
	return nil, out
}

func (r *frozen) matrix(at, n, k int) *kernels.Matrix {
	if r.err != nil {
		return nil
	}
	f, h := r.values(at, n*k)
	if r.err != nil {
		return nil
	}
	if h != nil {
		return kernels.PackNumerics(h, n, k, r.kind)
	}
	return kernels.PackF32(f, n, k)
}

// Save writes config.json and model.safetensors into dir, each atomically.
// dtype is "f32" or "bf16".
func (m *Model) Save(dir, dtype string) error {
	if m.flat == nil {
		return fmt.Errorf("save %s: a frozen model has no parameters of its own to save", dir)
	}
	kind, name := safetensors.F32, "float32"
	switch dtype {
	case "f32":
	case "bf16":
		kind, name = safetensors.BF16, "bfloat16"
	default:
		return fmt.Errorf("save %s: dtype %q is not f32 or bf16", dir, dtype)
	}
	var entries []safetensors.Entry
	for _, p := range m.Params() {
		entries = append(entries, safetensors.Entry{Name: p.Name, DType: kind, Shape: p.Shape, Data: p.Data})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := safetensors.WriteFile(filepath.Join(dir, safetensors.WeightsFile), map[string]string{"format": "pt"}, entries); err != nil {
		return err
	}
	return m.Config.Write(dir, name)
}
