package model

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/model/kernels"
	"troupe/model/safetensors"
)

// goldenDir is the folder with the six golden checkpoints.
func goldenDir() string {
	if d := os.Getenv("TROUPE_GOLDEN"); d != "" {
		return filepath.Join(d, "model")
	}
	return filepath.Join("testdata", "model")
}

var goldenNames = []string{"qwen3-tied", "qwen3-untied", "qwen2-tied", "llama-tied", "llama3-rope", "qwen3-hard"}

// golden is one checkpoint with the reference implementation's numbers.
type golden struct {
	dir    string
	Inputs struct {
		Sequences   map[string][]int32
		Positions   map[string][]int32
		LossWeights map[string][]float32 `json:"loss_weights"`
		AdamW       struct {
			LR          float64
			Betas       []float64
			Eps         float64
			WeightDecay float64                `json:"weight_decay"`
			MaxNorm     float64                `json:"max_grad_norm"`
			LossWeights []map[string][]float32 `json:"loss_weights"`
		}
		Group struct {
			Prompt      []int32
			Completions [][]int32
			Weights     [][]float32
		}
	}
	Greedy []struct {
		Adapter      *string
		Prompt       []int32 `json:"prompt_ids"`
		Continuation []int32 `json:"continuation_ids"`
	}
	Text struct {
		Generate []struct {
			Prompt       []int32 `json:"prompt_ids"`
			MaxTokens    int     `json:"max_new_tokens"`
			Continuation []int32 `json:"continuation_ids"`
			Stopped      bool    `json:"stopped_at_eos"`
		}
	}
	files map[string]*safetensors.File
}

// eachGolden runs f for every checkpoint that is there.
func eachGolden(t *testing.T, f func(t *testing.T, g *golden)) {
	for _, name := range goldenNames {
		t.Run(name, func(t *testing.T) {
			g := &golden{dir: filepath.Join(goldenDir(), name), files: map[string]*safetensors.File{}}
			text, err := os.ReadFile(filepath.Join(g.dir, "golden.json"))
			if err != nil {
				t.Skip("not copied into testdata; set TROUPE_GOLDEN")
			}
			if err := json.Unmarshal(text, g); err != nil {
				t.Fatal(err)
			}
			f(t, g)
		})
	}
}

// open is a file of golden tensors; the test skips where it is absent.
func (g *golden) open(t *testing.T, file string) *safetensors.File {
	t.Helper()
	f := g.files[file]
	if f == nil {
		var err error
		g.need(t, "golden", file+".safetensors")
		if f, err = safetensors.Open(filepath.Join(g.dir, "golden", file+".safetensors")); err != nil {
			t.Fatal(err)
		}
		g.files[file] = f
		t.Cleanup(func() { f.Close(); delete(g.files, file) })
	}
	return f
}

// tensor reads a golden tensor.
func (g *golden) tensor(t *testing.T, file, name string) []float32 {
	t.Helper()
	f := g.open(t, file)
	e, ok := f.Tensor(name)
	if !ok {
		t.Fatalf("%s has no %s", file, name)
	}
	out := make([]float32, e.Elements())
	if err := f.ReadF32(name, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// need skips the test where a file of the checkpoint is absent.
func (g *golden) need(t *testing.T, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if _, err := os.Stat(filepath.Join(g.dir, name)); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no golden file %s of %s", name, filepath.Base(g.dir))
	}
}

// needModel skips the test where the checkpoint has no weights.
func (g *golden) needModel(t *testing.T) {
	t.Helper()
	g.need(t, ConfigFile)
	if _, err := os.Stat(filepath.Join(g.dir, safetensors.IndexFile)); err != nil {
		g.need(t, safetensors.WeightsFile)
	}
}

func (g *golden) load(t *testing.T, trainable bool) *Model {
	t.Helper()
	g.needModel(t)
	m, err := Load(g.dir, LoadOptions{Trainable: trainable})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// relative is the largest difference over the largest magnitude wanted.
func relative(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	diff, top := 0.0, 0.0
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		diff, top = max(diff, d), max(top, math.Abs(float64(want[i])))
	}
	if diff == 0 {
		return 0
	}
	return diff / top
}

func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if r := relative(got, want); !(r <= tolerance) {
		t.Errorf("%s: off by %.2g relative, %.0g allowed", what, r, tolerance)
	}
}

// states runs a forward over whole sequences and gives the pass.
func states(m *Model, seqs []Sequence) *pass {
	p := newPass(m, m.pool, true)
	chunks := plan(seqs, 1<<20, false)
	p.load(seqs, &chunks[0], nil)
	p.forward()
	return p
}

// logits gives the logits of all rows of one sequence of ids.
func logits(m *Model, s Sequence) []float32 {
	// The last id is an action only to get the ids before it in; its own row
	// comes from one more token.
	ids := append(append([]int32(nil), s.Prompt...), s.Action...)
	p := states(m, []Sequence{{Prompt: ids, Action: []int32{0}, Adapter: s.Adapter}})
	return p.logits()
}

func (p *pass) logits() []float32 {
	h, v := p.m.Config.Hidden, p.m.Config.Vocab
	n, out := make([]float32, p.rows*h), make([]float32, 0, p.rows*v)
	p.pool.RMSNorm(n, h, p.x[len(p.x)-1], h, p.rows, h, p.m.norm, float32(p.m.Config.Eps), nil)
	head := kernels.Head{W: p.m.head}
	z := make([]float32, p.rows*head.Stride())
	head.Logits(p.pool, z, n, h, p.rows)
	for r := range p.rows {
		out = append(out, z[r*head.Stride():][:v]...)
	}
	return out
}

func TestGoldenForward(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		tolLogits, tolHidden := 2e-5, 2e-5
		if strings.HasSuffix(g.dir, "qwen3-hard") {
			tolLogits, tolHidden = 5e-4, 2e-4
		}
		g.checkForward(t, g.load(t, false), tolLogits, tolHidden)
		m, err := Load(g.dir, LoadOptions{Numerics: NumericsF32x3})
		if err != nil {
			t.Fatal(err)
		}
		g.checkForward(t, m, tolLogits, tolHidden)
		// Rounding every activation costs 8e-3 to 2e-2, says the README.
		if m, err = Load(g.dir, LoadOptions{Numerics: NumericsBF16}); err != nil {
			t.Fatal(err)
		}
		if tolLogits == 2e-5 {
			g.checkForward(t, m, 5e-2, 5e-2)
		}
	})
}

func (g *golden) checkForward(t *testing.T, m *Model, tolLogits, tolHidden float64) {
	t.Helper()
	for name, ids := range g.Inputs.Sequences {
		got, want := logits(m, Sequence{Prompt: ids}), g.tensor(t, "forward", "logits/"+name)
		if at := g.Inputs.Positions[name]; at != nil {
			v, all := m.Config.Vocab, got
			got = nil
			for _, r := range at {
				got = append(got, all[int(r)*v:][:v]...)
			}
		}
		near(t, "logits of "+name, got, want, tolLogits)
		if len(ids) == 1 {
			continue
		}
		for label, temp := range map[string]float32{"T1.0/": 1, "T0.7/": 0.7} {
			s, err := m.Score(context.Background(), []Sequence{{Prompt: ids[:1], Action: ids[1:]}}, temp)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "log-probs of "+label+name, s[0].LogProbs, g.tensor(t, "forward", "logprobs/"+label+name), tolLogits)
			near(t, "entropies of "+label+name, s[0].Entropy, g.tensor(t, "forward", "entropy/"+label+name)[:len(ids)-1], tolLogits)
		}
	}
	h := m.Config.Hidden
	p := states(m, []Sequence{{Prompt: g.Inputs.Sequences["s33"], Action: []int32{0}}})
	near(t, "embedding", p.x[0], g.tensor(t, "forward", "hidden/embedding"), 0)
	for l := range m.layers {
		near(t, "hidden", p.x[l+1][:33*h], g.tensor(t, "forward", "hidden/layer"+string(rune('0'+l))), tolHidden)
	}
	final := make([]float32, p.rows*h)
	p.pool.RMSNorm(final, h, p.x[len(m.layers)], h, p.rows, h, m.norm, float32(m.Config.Eps), nil)
	near(t, "state after the final norm", final[:33*h], g.tensor(t, "forward", "hidden/final_norm"), tolHidden)
}

// weighted is the golden loss: the sum of w_t · -logprob_t.
func weighted(weights func(seq int) []float32, loss *float64) LossFunc {
	return func(seq int, logp, _ []float32) ([]float32, []float32) {
		d := make([]float32, len(logp))
		for i, w := range weights(seq) {
			d[i] = -w
			*loss -= float64(w) * float64(logp[i])
		}
		return d, nil
	}
}

// lossBatch is the sequences of the golden loss.
func (g *golden) lossBatch(weights map[string][]float32) ([]Sequence, [][]float32) {
	var seqs []Sequence
	var ws [][]float32
	for _, name := range []string{"s7", "s33", "s300"} {
		if w := weights[name]; w != nil {
			ids := g.Inputs.Sequences[name]
			seqs = append(seqs, Sequence{Prompt: ids[:1], Action: ids[1:]})
			ws = append(ws, w)
		}
	}
	return seqs, ws
}

func TestGoldenGradients(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		if len(g.Inputs.LossWeights) == 0 {
			t.Skip("forward only")
		}
		m := g.load(t, true)
		seqs, ws := g.lossBatch(g.Inputs.LossWeights)
		loss, sum := 0.0, 0.0
		for _, w := range ws {
			for _, v := range w {
				sum += math.Abs(float64(v))
			}
		}
		grads := NewGrads(m.Params())
		if _, err := m.Backward(context.Background(), seqs, 1, weighted(func(s int) []float32 { return ws[s] }, &loss), grads); err != nil {
			t.Fatal(err)
		}
		if want := g.tensor(t, "gradients", "loss/full")[0]; math.Abs(loss-float64(want)) > 1e-5*sum {
			t.Errorf("loss %v, want %v", loss, want)
		}
		for _, p := range grads.Params() {
			near(t, "gradient of "+p.Name, p.Data, g.tensor(t, "gradients", "grad/"+p.Name), 5e-5)
		}
	})
}
