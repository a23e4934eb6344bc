package model

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"troupe/internal/prng"
	"troupe/model/lora"
	"troupe/model/safetensors"
	"troupe/trainer/optim"
)

func (g *golden) adapter(t *testing.T, m *Model, name string) *lora.Adapter {
	t.Helper()
	g.need(t, "adapters", name, lora.ConfigFile)
	g.need(t, "adapters", name, lora.WeightsFile)
	a, err := m.LoadAdapter(filepath.Join(g.dir, "adapters", name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// adapters lists the names of a checkpoint's adapters.
func (g *golden) adapters() []string {
	var out []string
	es, _ := os.ReadDir(filepath.Join(g.dir, "adapters"))
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

func TestGoldenAdapters(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		g.need(t, "adapters")
		g.needModel(t)
		for i, name := range append(g.adapters(), g.adapters()...) {
			kind := NumericsF32
			if i >= len(g.adapters()) {
				kind = NumericsF32x3
			}
			m, err := Load(g.dir, LoadOptions{Numerics: kind})
			if err != nil {
				t.Fatal(err)
			}
			a := g.adapter(t, m, name)
			key := "lora/" + name + "/"
			for _, s := range []string{"s7", "s33"} {
				near(t, name+" logits of "+s, logits(m, Sequence{Prompt: g.Inputs.Sequences[s], Adapter: a}), g.tensor(t, "lora", key+"logits/"+s), 2e-5)
			}
			if name != "qv" {
				seqs, ws := g.lossBatch(g.Inputs.LossWeights)
				for i := range seqs {
					seqs[i].Adapter = a
				}
				loss, grads := 0.0, NewGrads(a.Params())
				if _, err := m.Backward(context.Background(), seqs, 1, weighted(func(s int) []float32 { return ws[s] }, &loss), grads); err != nil {
					t.Fatal(err)
				}
				near(t, name+" loss", []float32{float32(loss)}, g.tensor(t, "lora", key+"loss"), 1e-4)
				for _, p := range grads.Params() {
					near(t, name+" gradient of "+p.Name, p.Data, g.tensor(t, "lora", key+"grad/"+p.Name), 5e-5)
				}
			}
			g.checkMerge(t, name)
		}
	})
}

func (g *golden) checkMerge(t *testing.T, name string) {
	m := g.load(t, true)
	if err := m.Merge(g.adapter(t, m, name)); err != nil {
		t.Fatal(err)
	}
	key, s := "lora/"+name+"/", Sequence{Prompt: g.Inputs.Sequences["s33"]}
	near(t, name+" merged logits", logits(m, s), g.tensor(t, "lora", key+"merged_logits/s33"), 2e-5)
	dir := t.TempDir()
	if err := m.Save(dir, "bf16"); err != nil {
		t.Fatal(err)
	}
	r, err := Load(dir, LoadOptions{Trainable: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, name+" merged and rounded logits", logits(r, s), g.tensor(t, "lora", key+"merged_bf16_logits/s33"), 3e-3)
	const q = "model.layers.0.self_attn.q_proj.weight"
	i := slices.IndexFunc(r.Params(), func(p Param) bool { return p.Name == q })
	got, want := r.Params()[i].Data, g.tensor(t, "lora", key+"merged_bf16/"+q)
	off := 0
	for j := range want {
		d := int(safetensors.F32ToBF16(got[j])) - int(safetensors.F32ToBF16(want[j]))
		if d < -1 || d > 1 {
			t.Fatalf("%s[%d] = %v, want %v", q, j, got[j], want[j])
		}
		off += d * d
	}
	if off*1000 > len(want) {
		t.Errorf("%d of %d merged elements are a bf16 step off", off, len(want))
	}
}

func TestGoldenGroup(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		in := g.Inputs.Group
		if len(in.Prompt) == 0 {
			t.Skip("forward only")
		}
		m := g.load(t, false)
		a := g.adapter(t, m, "a1")
		var seqs []Sequence
		for _, c := range in.Completions {
			seqs = append(seqs, Sequence{Prompt: in.Prompt, Action: c, Adapter: a})
		}
		loss, grads := 0.0, NewGrads(a.Params())
		scored, err := m.Backward(context.Background(), seqs, 1, weighted(func(s int) []float32 { return in.Weights[s] }, &loss), grads)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "group loss", []float32{float32(loss)}, g.tensor(t, "group", "group/loss"), 1e-5)
		for i := range seqs {
			want := g.tensor(t, "group", "group/logprobs/"+string(rune('0'+i)))
			for j := range want {
				if math.Abs(float64(scored[i].LogProbs[j])-float64(want[j])) > 1e-4 {
					t.Errorf("completion %d, token %d: %v, want %v", i, j, scored[i].LogProbs[j], want[j])
				}
			}
		}
		for _, p := range grads.Params() {
			near(t, "group gradient of "+p.Name, p.Data, g.tensor(t, "group", "group/grad/"+p.Name), 5e-5)
		}
	})
}

// TestGoldenAdamW runs the three steps of the golden chain, to the tolerances
// of its README. Smaller checkpoints have a part of the numbers.
func TestGoldenAdamW(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		in := g.Inputs.AdamW
		g.need(t, "golden", "adamw.safetensors")
		m := g.load(t, false)
		a := g.adapter(t, m, "a1")
		params := tensorsOf(a.Params())
		state := optim.NewState(params)
		rule := optim.AdamW{Beta1: in.Betas[0], Beta2: in.Betas[1], Epsilon: in.Eps, WeightDecay: in.WeightDecay}
		g.checkOneStep(t, a, rule)
		for i, weights := range in.LossWeights {
			step := fmt.Sprintf("adamw/step%d/", i+1)
			seqs, ws := g.lossBatch(weights)
			size := 0.0 // of all weights
			for i := range seqs {
				seqs[i].Adapter = a
				for _, w := range ws[i] {
					size += math.Abs(float64(w))
				}
			}
			loss, grads := 0.0, NewGrads(a.Params())
			if _, err := m.Backward(context.Background(), seqs, 1, weighted(func(s int) []float32 { return ws[s] }, &loss), grads); err != nil {
				t.Fatal(err)
			}
			tolNorm, tolGrad, tolLoss := 1e-5, 5e-5, 1e-5*math.Abs(loss)
			if i > 0 {
				tolNorm, tolGrad, tolLoss = 1e-4, 3e-3, 5e-4*size
			}
			g.nearIfThere(t, step+"grad_norm", []float32{float32(grads.Norm())}, tolNorm)
			if want := g.numbers(t, step+"loss"); want != nil && !(math.Abs(loss-float64(want[0])) <= tolLoss) {
				t.Errorf("%sloss: %v, want %v", step, loss, want[0])
			}
			for _, p := range grads.Params() {
				g.nearIfThere(t, step+"grad/"+p.Name, p.Data, tolGrad)
			}
			optim.Clip(grads.Tensors(), grads.Norm(), in.MaxNorm)
			rule.Apply(params, grads.Tensors(), state, in.LR)
			a.Refresh()
			g.checkStepped(t, step+"param/", a.Params(), in.LR*float64(i+1))
		}
		for i, p := range a.Params() {
			g.nearIfThere(t, "adamw/step3/exp_avg/"+p.Name, state.M[i], 3e-3)
			g.nearIfThere(t, "adamw/step3/exp_avg_sq/"+p.Name, state.V[i], 3e-3)
		}
	})
}

func tensorsOf(params []Param) [][]float32 {
	var out [][]float32
	for _, p := range params {
		out = append(out, p.Data)
	}
	return out
}

// numbers is a tensor of the golden chain, nil where the checkpoint has none.
func (g *golden) numbers(t *testing.T, name string) []float32 {
	t.Helper()
	if _, ok := g.open(t, "adamw").Tensor(name); !ok {
		return nil
	}
	return g.tensor(t, "adamw", name)
}

func (g *golden) nearIfThere(t *testing.T, name string, got []float32, tolerance float64) {
	t.Helper()
	if want := g.numbers(t, name); want != nil {
		near(t, name, got, want, tolerance)
	}
}

// checkOneStep takes the first step with the stored gradients, which leaves
// nothing but rounding between the two.
func (g *golden) checkOneStep(t *testing.T, a *lora.Adapter, rule optim.AdamW) {
	t.Helper()
	a = a.Clone()
	params, grads := tensorsOf(a.Params()), [][]float32{}
	for _, p := range a.Params() {
		grads = append(grads, g.numbers(t, "adamw/step1/grad/"+p.Name))
	}
	optim.Clip(grads, optim.Norm(grads), g.Inputs.AdamW.MaxNorm)
	rule.Apply(params, grads, optim.NewState(params), g.Inputs.AdamW.LR)
	for _, p := range a.Params() {
		for j, w := range g.numbers(t, "adamw/step1/param/"+p.Name) {
			if d := math.Abs(float64(p.Data[j]) - float64(w)); !(d <= 1e-6) {
				t.Fatalf("one step from the stored gradients: %s[%d] = %v, want %v", p.Name, j, p.Data[j], w)
			}
		}
	}
}

// checkStepped compares parameters after steps that went a way of at most far
// for each element: where a gradient is near zero, AdamW turns its rounding
// into a whole step.
func (g *golden) checkStepped(t *testing.T, key string, params []Param, far float64) {
	t.Helper()
	total, off := 0, 0
	for _, p := range params {
		for j, w := range g.numbers(t, key+p.Name) {
			d := math.Abs(float64(p.Data[j]) - float64(w))
			total++
			if d > 1e-4 {
				off++
			}
			if !(d <= 2*far) {
				t.Fatalf("%s%s[%d] = %v, want %v", key, p.Name, j, p.Data[j], w)
			}
		}
	}
	if off*1000 > total {
		t.Errorf("%s: %d of %d parameters are off by more than 1e-4", key, off, total)
	}
}

func TestSavedAdaptersLoadAgain(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	for _, cfg := range []lora.Config{
		{Rank: 4, Alpha: 8, Targets: []string{"all-linear"}},
		{Rank: 3, Alpha: 2, RSLoRA: true, Targets: []string{"q_proj", "model.layers.1.mlp.down_proj"}},
	} {
		a, err := lora.New(cfg, m.Config.AdapterBase(), prng.Stream(1, "adapter"))
		if err != nil {
			t.Fatal(err)
		}
		rng := prng.Stream(2, "values")
		for _, p := range a.Params() {
			for i := range p.Data {
				p.Data[i] = float32(rng.NormFloat64())
			}
		}
		a.Refresh()
		dir := t.TempDir()
		if err := a.Save(dir); err != nil {
			t.Fatal(err)
		}
		b, err := m.LoadAdapter(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Params()) != len(b.Params()) || b.Scaling() != a.Scaling() {
			t.Fatalf("%d parameters and scaling %v became %d and %v", len(a.Params()), a.Scaling(), len(b.Params()), b.Scaling())
		}
		for i, p := range a.Params() {
			if !sameBits(p.Data, b.Params()[i].Data) {
				t.Errorf("%s: other values", p.Name)
			}
		}
	}
}
