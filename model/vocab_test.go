package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPaddingIDsHaveNoProbability compares a model whose vocabulary is padded
// with the same model without its padding: log-probabilities, entropies,
// samples and gradients are the same bits, and the padding's gradients are 0.
func TestPaddingIDsHaveNoProbability(t *testing.T) {
	const live = 37
	for _, tied := range []bool{true, false} {
		cfg := tinyConfig()
		cfg.Tied = tied
		padded := randomModel(t, cfg, 5)
		padded.vocab = live
		cfg.Vocab = live
		cut := randomModel(t, cfg, 6)
		for i, p := range cut.Params() {
			copy(p.Data, padded.Params()[i].Data)
		}
		cut.Refresh()
		rng := rand.New(rand.NewPCG(8, 8))
		for b := range 40 {
			reqs := randomRequests(rng, live)
			checkAgreement(t, padded, padded.NewDecoder(DecoderOptions{}), reqs, b)
			got, err := padded.NewDecoder(DecoderOptions{}).Generate(t.Context(), reqs)
			if err != nil {
				t.Fatal(err)
			}
			want, err := cut.NewDecoder(DecoderOptions{}).Generate(t.Context(), reqs)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !slices.Equal(got[i].IDs, want[i].IDs) || !sameBits(got[i].LogProbs, want[i].LogProbs) {
					t.Fatalf("batch %d, request %d: %v %v, without padding %v %v", b, i, got[i].IDs, got[i].LogProbs, want[i].IDs, want[i].LogProbs)
				}
			}
		}
		comparePadded(t, padded, cut, randomBatch(rng, live))
	}
}

// comparePadded compares scores and gradients of the models.
func comparePadded(t *testing.T, padded, cut *Model, seqs []Sequence) {
	t.Helper()
	loss := func(_ int, logp, entropy []float32) ([]float32, []float32) { return logp, entropy }
	gp, gc := NewGrads(padded.Params()), NewGrads(cut.Params())
	sp, err := padded.Backward(t.Context(), seqs, 0.8, loss, gp)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := cut.Backward(t.Context(), seqs, 0.8, loss, gc)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sp {
		if !sameBits(sp[i].LogProbs, sc[i].LogProbs) || !sameBits(sp[i].Entropy, sc[i].Entropy) {
			t.Fatalf("sequence %d: the scores differ", i)
		}
	}
	for i, p := range gc.params {
		got := gp.params[i].Data
		if !sameBits(got[:len(p.Data)], p.Data) {
			t.Errorf("gradients of %s differ", p.Name)
		}
		for _, v := range got[len(p.Data):] {
			if v != 0 {
				t.Fatalf("padding of %s has the gradient %v", p.Name, v)
			}
		}
	}
}

func TestPaddingIDsAreNoActions(t *testing.T) {
	m := randomModel(t, tinyConfig(), 5)
	m.vocab = 40
	for _, c := range []struct {
		seq  Sequence
		want string
	}{
		{Sequence{Prompt: []int32{47}, Action: []int32{39}}, ""},
		{Sequence{Prompt: []int32{1}, Action: []int32{2, 40}}, "token 1 is 40, not below the vocabulary's 40"},
	} {
		_, err := m.Score(t.Context(), []Sequence{c.seq}, 1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.seq, err, c.want)
		}
	}
	clone := m.Clone()
	if clone.Vocab() != 40 {
		t.Errorf("a clone has a vocabulary of %d", clone.Vocab())
	}
	if _, err := m.Divergence(t.Context(), randomModel(t, tinyConfig(), 5), nil, 1); err == nil {
		t.Error("models with different padding were compared")
	}
}
