package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDivergenceIsTheSumOverTheVocabulary compares with log-probabilities of
// every token in turn, scored one at a time.
func TestDivergenceIsTheSumOverTheVocabulary(t *testing.T) {
	cfg := tinyConfig()
	a, b := randomModel(t, cfg, 1), randomModel(t, cfg, 2)
	rng := rand.New(rand.NewPCG(3, 3))
	seqs := randomBatch(rng, cfg.Vocab)
	got, err := a.Divergence(t.Context(), b, seqs, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seqs {
		if len(got[i]) != len(s.Action) {
			t.Fatalf("sequence %d: %d values for %d tokens", i, len(got[i]), len(s.Action))
		}
		if i >= 4 {
			continue
		}
		for j := range s.Action {
			var all []Sequence
			for v := range cfg.Vocab {
				all = append(all, Sequence{Prompt: append(append([]int32{}, s.Prompt...), s.Action[:j]...), Action: []int32{int32(v)}})
			}
			pa, err := a.Score(t.Context(), all, 0.7)
			if err != nil {
				t.Fatal(err)
			}
			pb, err := b.Score(t.Context(), all, 0.7)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for v := range all {
				l := float64(pa[v].LogProbs[0])
				want += math.Exp(l) * (l - float64(pb[v].LogProbs[0]))
			}
			if math.Abs(want-got[i][j]) > 1e-5*(1+want) {
				t.Errorf("sequence %d, token %d: %v, want %v", i, j, got[i][j], want)
			}
		}
	}
	same, err := a.Divergence(t.Context(), a.Clone(), seqs, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range same {
		for _, v := range same[i] {
			if v > 1e-6 {
				t.Fatalf("a model differs from itself by %v", v)
			}
		}
	}
}
