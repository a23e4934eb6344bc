package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"troupe/internal/prng"
	"troupe/model/kernels"
)

// sampleHead is a head whose vocabulary has n ids; its weights don't matter.
func sampleHead(n int) *kernels.Head {
	return &kernels.Head{W: kernels.PackF32(make([]float32, n), n, 1)}
}

func TestSamplesFollowTheDistribution(t *testing.T) {
	const n, draws = 12, 200000
	rng := rand.New(rand.NewPCG(1, 2))
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = float32(2 * rng.NormFloat64())
	}
	for _, temp := range []float32{1, 0.7, 2} {
		p, sum := make([]float64, n), 0.0
		for i, v := range logits {
			p[i] = math.Exp(float64(v) / float64(temp))
			sum += p[i]
		}
		var s sampler
		count := make([]int, n)
		r := GenRequest{Temperature: temp, Key: prng.State(7)}
		for i := range draws {
			id, lp := s.draw(sampleHead(n), logits, n, &r, i)
			count[id]++
			if want := math.Log(p[id] / sum); math.Abs(float64(lp)-want) > 1e-5 {
				t.Fatalf("log-probability %v, want %v", lp, want)
			}
		}
		chi2 := 0.0
		for i, c := range count {
			want := draws * p[i] / sum
			chi2 += (float64(c) - want) * (float64(c) - want) / want
		}
		if chi2 > 40 { // 11 degrees of freedom, p < 4e-5
			t.Errorf("temperature %v: chi2 = %v", temp, chi2)
		}
	}
}

// plainInvert is the rule in its simplest form.
func plainInvert(e []float32, u float64) int {
	total := 0.0
	for _, v := range e {
		total += float64(v)
	}
	sum, last := 0.0, 0
	for i, v := range e {
		if v == 0 {
			continue
		}
		sum += float64(v)
		last = i
		if sum > u*total {
			break
		}
	}
	return last
}

func TestInversionOverBlocksIsInversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s sampler
	for range 2000 {
		e := make([]float32, 1+rng.IntN(3*invertBlock))
		for i := range e {
			if rng.IntN(3) > 0 {
				e[i] = float32(rng.IntN(8)) // sums without rounding
			}
		}
		e[rng.IntN(len(e))] = 1
		for _, u := range []float64{0, rng.Float64(), 1 - 0x1p-53} {
			if got, want := s.invert(e, u), plainInvert(e, u); int(got) != want || e[got] == 0 {
				t.Fatalf("%d ids, u %v: %d, want %d", len(e), u, got, want)
			}
		}
	}
}

func TestFilters(t *testing.T) {
	e := []float32{0.1, 0.4, 0.05, 0.25, 0.2, 0}
	for _, c := range []struct {
		r    GenRequest
		want []int
	}{
		{GenRequest{TopK: 1}, []int{1}},
		{GenRequest{TopK: 3}, []int{1, 3, 4}},
		{GenRequest{TopK: 99, MinP: 0.5}, []int{1, 3, 4}},
		{GenRequest{TopP: 0.6}, []int{1, 3}},
		{GenRequest{TopP: 0.7}, []int{1, 3, 4}},
		{GenRequest{TopP: 1e-9}, []int{1}},
		{GenRequest{TopP: 0.999}, []int{0, 1, 2, 3, 4}},
		{GenRequest{MinP: 0.3}, []int{1, 3, 4}},
		{GenRequest{MinP: 1}, []int{1}},
		{GenRequest{TopK: 4, TopP: 0.65}, []int{1, 3}}, // 0.65 of what top-k leaves
	} {
		var s sampler
		got := slices.Clone(e)
		s.filter(got, &c.r)
		var kept []int
		for i, v := range got {
			if v != 0 {
				kept = append(kept, i)
			}
		}
		if !slices.Equal(kept, c.want) {
			t.Errorf("top-k %d, top-p %v, min-p %v keep %v, want %v", c.r.TopK, c.r.TopP, c.r.MinP, kept, c.want)
		}
	}
}

func TestPaddingIdsAreNeverSampled(t *testing.T) {
	logits := []float32{0, 0, 0, 50, 60}
	var s sampler
	for _, temp := range []float32{0, 1} {
		r := GenRequest{Temperature: temp, Key: 3}
		for i := range 100 {
			if id, _ := s.draw(sampleHead(5), logits, 3, &r, i); id >= 3 {
				t.Fatalf("temperature %v: id %d is beyond the tokenizer's 3", temp, id)
			}
		}
	}
}
