package model

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"troupe/model/kernels"
)

// TestRowsFurtherApartChangeNoBit moves the rows of every buffer apart, as those of
// large models are whose rows would be whole pages: gradients of all parameters and of
// an adapter, with layers computed twice, scores, samples and divergences stay.
func TestRowsFurtherApartChangeNoBit(t *testing.T) {
	defer func() { stride = kernels.Stride }()
	for _, kind := range []string{"qwen3", "qwen2", "llama"} {
		var want []float32
		var ids []int32
		for i, gap := range []int{0, 16, 7} {
			stride = func(n int) int { return n + gap }
			got, drawn := everyNumber(t, kind)
			if i == 0 {
				want, ids = got, drawn
			} else if !sameBits(got, want) || !slices.Equal(drawn, ids) {
				t.Errorf("%s: other numbers with rows %d further apart", kind, gap)
			}
		}
	}
}

func everyNumber(t *testing.T, kind string) (out []float32, ids []int32) {
	cfg := tinyConfig()
	cfg.Type, cfg.Layers = kind, 3
	m := randomModel(t, cfg, 3)
	rng := rand.New(rand.NewPCG(4, 9))
	seqs := randomBatch(rng, cfg.Vocab)
	co := coefficients(seqs, 4)
	out = append(out, gradsOf(t, m, seqs, co).flat...)

	adapter := randomAdapter(t, m, 4, 1)
	grads := NewGrads(adapter.Params())
	for i := range seqs {
		seqs[i].Adapter, seqs[i].Grads = adapter, grads
	}
	p := newPass(m, nil, true)
	p.keepLayers(1)
	chunks := plan(seqs, 1<<20, true)
	p.load(seqs, &chunks[0], nil)
	p.train(&chunks[0], 0, 1, func(s int, _, _ []float32) ([]float32, []float32) { return co[s][0], co[s][1] }, nil, newTurns())
	out = append(out, grads.flat...)

	far, err := m.Divergence(t.Context(), randomModel(t, cfg, 5), seqs, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range far {
		for _, v := range s {
			out = append(out, float32(v))
		}
	}
	got, err := m.NewDecoder(DecoderOptions{Slots: 5}).Generate(context.Background(), randomRequests(rng, cfg.Vocab))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got {
		out, ids = append(out, g.LogProbs...), append(ids, g.IDs...)
	}
	return out, ids
}
