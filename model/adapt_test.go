package model

import (
	"context"
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

// TestGoldenAdamW runs the three steps of the golden chain.
func TestGoldenAdamW(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		in := g.Inputs.AdamW
		g.need(t, "golden", "adamw.safetensors")
		m := g.load(t, false)
		a := g.adapter(t, m, "a1")
		var params [][]float32
		for _, p := range a.Params() {
			params = append(params, p.Data)
		}
		state := optim.NewState(params)
		rule := optim.AdamW{Beta1: in.Betas[0], Beta2: in.Betas[1], Epsilon: in.Eps, WeightDecay: in.WeightDecay}
		for _, weights := range in.LossWeights {
			seqs, ws := g.lossBatch(weights)
			for i := range seqs {
				seqs[i].Adapter = a
			}
			loss, grads := 0.0, NewGrads(a.Params())
			if _, err := m.Backward(context.Background(), seqs, 1, weighted(func(s int) []float32 { return ws[s] }, &loss), grads); err != nil {
				t.Fatal(err)
			}
			optim.Clip(grads.Tensors(), grads.Norm(), in.MaxNorm)
			rule.Apply(params, grads.Tensors(), state, in.LR)
			a.Refresh()
		}
		total, far := 0, 0
		for _, p := range a.Params() {
			want := g.tensor(t, "adamw", "adamw/step3/param/"+p.Name)
			for j, v := range p.Data {
				d := math.Abs(float64(v) - float64(want[j]))
				total++
				if d > 1e-4 {
					far++
				}
				if !(d <= 2*in.LR*3) {
					t.Fatalf("%s[%d] = %v, want %v", p.Name, j, v, want[j])
				}
			}
		}
		if far*1000 > total {
			t.Errorf("%d of %d parameters are off by more than 1e-4", far, total)
		}
	})
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
