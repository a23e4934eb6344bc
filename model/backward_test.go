package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"troupe/model/kernels"
	"troupe/model/lora"
)

// randomBatch gives ragged sequences, some with equal prompts.
func randomBatch(rng *rand.Rand, vocab int) []Sequence {
	var out []Sequence
	for range 4 + rng.IntN(6) {
		prompt := randomIDs(rng, 1+rng.IntN(20), vocab)
		for range 1 + rng.IntN(8) {
			out = append(out, Sequence{Prompt: prompt, Action: randomIDs(rng, rng.IntN(12), vocab)})
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// coefficients gives each sequence fixed derivatives; a third are all zero.
func coefficients(seqs []Sequence, seed uint64) [][2][]float32 {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := make([][2][]float32, len(seqs))
	for i := range seqs {
		n := len(seqs[i].Action)
		out[i] = [2][]float32{make([]float32, n), make([]float32, n)}
		if rng.IntN(3) == 0 {
			continue
		}
		for j := range n {
			out[i][0][j], out[i][1][j] = float32(rng.NormFloat64()), float32(0.1*rng.NormFloat64())
		}
	}
	return out
}

func gradsOf(t testing.TB, m *Model, seqs []Sequence, co [][2][]float32) *Grads {
	t.Helper()
	g := NewGrads(m.Params())
	_, err := m.Backward(context.Background(), seqs, 0.8, func(s int, _, _ []float32) ([]float32, []float32) { return co[s][0], co[s][1] }, g)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGradientsAgreeWithDifferences moves along a random direction; the loss
// contains log-probabilities and entropies. The golden gradients are the sharp
// test; this one covers entropies, whose part would be plain to see.
func TestGradientsAgreeWithDifferences(t *testing.T) {
	for _, kind := range []string{"qwen3", "qwen2", "llama"} {
		cfg := tinyConfig()
		cfg.Type, cfg.Tied = kind, kind != "llama"
		m := randomModel(t, cfg, 5)
		rng := rand.New(rand.NewPCG(2, 2))
		seqs := randomBatch(rng, cfg.Vocab)
		co := coefficients(seqs, 1)
		loss := func() float64 {
			s, err := m.Score(context.Background(), seqs, 0.8)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range s {
				for j := range s[i].LogProbs {
					sum += float64(co[i][0][j])*float64(s[i].LogProbs[j]) + float64(co[i][1][j])*float64(s[i].Entropy[j])
				}
			}
			return sum
		}
		g := gradsOf(t, m, seqs, co)
		for i, p := range m.Params() {
			dir := make([]float32, len(p.Data))
			want, size := 0.0, 0.0
			for j := range dir {
				dir[j] = float32(rng.NormFloat64())
				want += float64(dir[j]) * float64(g.params[i].Data[j])
				size += float64(g.params[i].Data[j]) * float64(g.params[i].Data[j])
			}
			h := 1e-3 / float32(math.Sqrt(float64(len(dir))))
			move := func(s float32) float64 {
				kernels.Axpy(p.Data, s*h, dir)
				m.Refresh()
				v := loss()
				kernels.Axpy(p.Data, -s*h, dir)
				return v
			}
			got := (move(1) - move(-1)) / float64(2*h)
			if math.Abs(got-want) > 5e-2*math.Sqrt(size)+0.05 {
				t.Errorf("%s %s: difference quotient %v, gradient %v (norm %v)", kind, p.Name, got, want, math.Sqrt(size))
			}
			m.Refresh()
		}
	}
}

func TestGradientsHaveTheSameBitsForAnyNumberOfWorkers(t *testing.T) {
	base := randomModel(t, tinyConfig(), 3)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		var seqs []Sequence
		for len(seqs) < 150 {
			seqs = append(seqs, randomBatch(rng, base.Config.Vocab)...)
		}
		co := coefficients(seqs, 4)
		var first *Grads
		for _, workers := range []int{1, 2, 3} {
			m := base.Clone()
			m.pool = kernels.NewPool(workers)
			g := gradsOf(t, m, seqs, co)
			m.pool.Close()
			if first == nil {
				first = g
			} else if !sameBits(first.flat, g.flat) {
				t.Fatalf("%d workers: other gradients", workers)
			}
		}
	}
}

// TestZeroRowsAreSkippedExactly compares a batch with the same batch in which
// nothing is skipped, because a gradient is denormal instead of zero.
func TestZeroRowsAreSkippedExactly(t *testing.T) {
	m := randomModel(t, tinyConfig(), 3)
	rng := rand.New(rand.NewPCG(4, 9))
	seqs := randomBatch(rng, m.Config.Vocab)
	co := coefficients(seqs, 4)
	p := newPass(m, nil, true)
	chunks := plan(seqs, 1<<20, true)
	g := [2]*Grads{NewGrads(m.Params()), NewGrads(m.Params())}
	for k := range g {
		p.load(seqs, &chunks[0], g[k])
		p.forward()
		var order []int
		for _, f := range chunks[0].families {
			order = append(order, f.seqs...)
		}
		active := make([]bool, len(order))
		p.headBackward(1, func(i int, _, _ []float32) ([]float32, []float32) {
			active[i] = k == 0 || !zero(co[order[i]][0])
			return co[order[i]][0], nil
		}, g[k])
		ranges := activeRanges(&chunks[0], active)
		if k == 1 && len(ranges) == 1 && ranges[0].to-ranges[0].from == p.rows {
			t.Fatal("the batch leaves nothing to skip")
		}
		for _, rg := range ranges {
			p.backward(rg, g[k])
		}
	}
	for i := range g[0].params {
		for j, v := range g[0].params[i].Data {
			if v != g[1].params[i].Data[j] {
				t.Fatalf("%s[%d]: %v without skipping, %v with", g[0].params[i].Name, j, v, g[1].params[i].Data[j])
			}
		}
	}
}

func TestSavedModelsLoadAgain(t *testing.T) {
	for _, kind := range []string{"qwen3", "qwen2", "llama"} {
		cfg := tinyConfig()
		cfg.Type, cfg.Tied, cfg.EOS = kind, kind == "qwen3", []int32{3, 5}
		m := randomModel(t, cfg, 5)
		dir := t.TempDir()
		if err := m.Save(dir, "f32"); err != nil {
			t.Fatal(err)
		}
		for _, trainable := range []bool{true, false} {
			got, err := Load(dir, LoadOptions{Trainable: trainable})
			if err != nil {
				t.Fatal(err)
			}
			if trainable && !sameBits(got.flat, m.flat) {
				t.Error("other weights")
			}
			seqs := randomBatch(rand.New(rand.NewPCG(1, 1)), cfg.Vocab)
			a, _ := m.Score(context.Background(), seqs, 1)
			b, _ := got.Score(context.Background(), seqs, 1)
			for i := range a {
				if !sameBits(a[i].LogProbs, b[i].LogProbs) {
					t.Fatal("other log-probabilities")
				}
			}
		}
		if err := m.Save(dir, "bf16"); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, LoadOptions{}); err != nil {
			t.Error(err)
		}
	}
}

func TestABackwardThatIsCancelledEnds(t *testing.T) {
	m := randomModel(t, tinyConfig(), 3)
	m.pool = kernels.NewPool(3)
	defer m.pool.Close()
	rng := rand.New(rand.NewPCG(4, 9))
	var seqs []Sequence
	for len(seqs) < 2000 {
		seqs = append(seqs, randomBatch(rng, m.Config.Vocab)...)
	}
	for at := range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		_, err := m.Backward(ctx, seqs, 1, func(int, []float32, []float32) ([]float32, []float32) {
			if calls++; calls == 1+37*at {
				cancel()
			}
			return nil, nil
		}, NewGrads(m.Params()))
		cancel()
		if err == nil {
			t.Fatal("no error")
		}
	}
}

// TestRecomputingChangesNoBit trains with the activations of all layers kept,
// and of ever fewer.
func TestRecomputingChangesNoBit(t *testing.T) {
	for _, kind := range []string{"qwen3", "llama"} {
		cfg := tinyConfig()
		cfg.Type, cfg.Layers = kind, 4
		m := randomModel(t, cfg, 3)
		rng := rand.New(rand.NewPCG(4, 9))
		seqs := randomBatch(rng, m.Config.Vocab)
		co := coefficients(seqs, 4)
		var first *Grads
		for kept := cfg.Layers; kept > 0; kept-- {
			p := newPass(m, nil, true)
			p.keepLayers(kept)
			chunks := plan(seqs, 40, true)
			g := NewGrads(m.Params())
			for i := range chunks {
				p.load(seqs, &chunks[i], g)
				turn := newTurns()
				turn.next = i
				p.train(&chunks[i], i, 1, func(s int, _, _ []float32) ([]float32, []float32) { return co[s][0], co[s][1] }, g, turn)
			}
			if first == nil {
				first = g
			} else if !sameBits(first.flat, g.flat) {
				t.Errorf("%s: with %d of %d layers kept, other gradients", kind, kept, cfg.Layers)
			}
		}
	}
}

// TestLargeModelsComputeTheSame compares the two ways to spread work; scores
// agree bit for bit, gradients to rounding, because chunks are cut otherwise.
func TestLargeModelsComputeTheSame(t *testing.T) {
	m := randomModel(t, tinyConfig(), 3)
	adapters := []*lora.Adapter{randomAdapter(t, m, 4, 1), randomAdapter(t, m, 6, 2)}
	seqs := randomBatch(rand.New(rand.NewPCG(4, 9)), m.Config.Vocab)
	for i := range seqs {
		seqs[i].Adapter = adapters[i%2]
	}
	co := coefficients(seqs, 4)
	var grads [2][2]*Grads
	var scores [2][]Scored
	for k, large := range []bool{false, true} {
		big := m.Clone()
		big.large = large
		for i := range seqs {
			if grads[k][i%2] == nil {
				grads[k][i%2] = NewGrads(adapters[i%2].Params())
			}
			seqs[i].Grads = grads[k][i%2]
		}
		var err error
		scores[k], err = big.Backward(context.Background(), seqs, 1, func(s int, _, _ []float32) ([]float32, []float32) { return co[s][0], co[s][1] }, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range seqs {
		if !sameBits(scores[0][i].LogProbs, scores[1][i].LogProbs) {
			t.Errorf("sequence %d: other log-probabilities", i)
		}
	}
	for a := range adapters {
		near(t, "gradients", grads[1][a].flat, grads[0][a].flat, 1e-5)
	}
}
