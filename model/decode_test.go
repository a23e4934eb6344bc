package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"troupe/internal/prng"
	"troupe/model/kernels"
	"troupe/model/lora"
)

// tinyConfig is a Qwen3 of the size the tiny study uses.
func tinyConfig() Config {
	return Config{Type: "qwen3", Hidden: 48, Inner: 96, Layers: 2, Heads: 3, KVHeads: 1, HeadDim: 16, Vocab: 48,
		MaxPositions: 128, Eps: 1e-6, RopeTheta: 10000, Tied: true, BOS: -1}
}

// randomModel draws weights from a seed.
func randomModel(t testing.TB, cfg Config, seed uint64) *Model {
	t.Helper()
	rng := prng.Stream(seed, "test weights")
	m, err := New(cfg, func(name string, shape []int, w []float32) {
		scale, mean := 0.3, 0.0
		if len(shape) == 1 {
			scale, mean = 0.1, 1
		}
		for i := range w {
			w[i] = float32(mean + scale*rng.NormFloat64())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func randomIDs(rng *rand.Rand, n, vocab int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(rng.IntN(vocab))
	}
	return out
}

// randomRequests is a ragged batch in which some prompts are equal.
func randomRequests(rng *rand.Rand, vocab int) []GenRequest {
	var out []GenRequest
	for range 1 + rng.IntN(5) {
		prompt := randomIDs(rng, 1+rng.IntN(40), vocab)
		for range 1 + rng.IntN(4) {
			out = append(out, GenRequest{Prompt: prompt, MaxTokens: rng.IntN(40), Temperature: []float32{1, 0.7, 0}[rng.IntN(3)],
				Stop: []int32{int32(rng.IntN(vocab))}, Key: prng.State(rng.Uint64())})
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// sameBits compares two float slices bit by bit.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func TestSamplerAndScorerAgreeBitForBit(t *testing.T) {
	batches := 1000
	if testing.Short() || raceEnabled || kernels.Active() == "generic" {
		batches = 60
	}
	shapes := []Config{tinyConfig(), tinyConfig(), tinyConfig()}
	shapes[1].Type, shapes[1].Heads, shapes[1].KVHeads, shapes[1].Hidden = "qwen2", 4, 2, 40
	shapes[2].Type, shapes[2].Tied, shapes[2].Vocab, shapes[2].Inner = "llama", false, 77, 50
	for s, cfg := range shapes {
		base := randomModel(t, cfg, uint64(s))
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/workers%d", cfg.Type, workers), func(t *testing.T) {
				m := base.Clone()
				m.large, m.kv16 = workers == 2, s == 1
				m.pool = kernels.NewPool(workers)
				defer m.pool.Close()
				d := m.NewDecoder(DecoderOptions{Slots: 7, KVBytes: 1 << 18})
				rng := rand.New(rand.NewPCG(uint64(s), 7))
				for b := range batches / len(shapes) / 2 {
					checkAgreement(t, m, d, randomRequests(rng, cfg.Vocab), b)
				}
			})
		}
	}
}

func TestSamplerAndScorerAgreeInEveryKindOfNumerics(t *testing.T) {
	for _, kind := range []string{NumericsF32, NumericsF32x3, NumericsBF16} {
		m, err := Load(filepath.Join(goldenDir(), "qwen3-tied"), LoadOptions{Numerics: kind})
		if err != nil {
			t.Fatal(err)
		}
		if m.Numerics() != kind {
			t.Errorf("loaded as %s, not %s", m.Numerics(), kind)
		}
		rng := rand.New(rand.NewPCG(1, 7))
		for b := range 5 {
			checkAgreement(t, m, m.NewDecoder(DecoderOptions{Slots: 7}), randomRequests(rng, m.Config.Vocab), b)
		}
	}
	if _, err := Load(filepath.Join(goldenDir(), "qwen3-tied"), LoadOptions{Numerics: NumericsBF16, Trainable: true}); err == nil {
		t.Error("all parameters in bf16 were accepted")
	}
}

func checkAgreement(t *testing.T, m *Model, d *Decoder, reqs []GenRequest, batch int) {
	t.Helper()
	got, err := d.Generate(context.Background(), reqs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range reqs {
		if n := len(got[i].IDs); n > r.MaxTokens || n < r.MaxTokens && got[i].Finish != FinishStop || got[i].Finish == FinishStop && got[i].IDs[n-1] != r.Stop[0] {
			t.Fatalf("batch %d, request %d: %d of %d ids, finish %q", batch, i, n, r.MaxTokens, got[i].Finish)
		}
	}
	for _, temp := range []float32{1, 0.7} {
		var seqs []Sequence
		var which []int
		for i, r := range reqs {
			if r.Temperature == temp || r.Temperature == 0 && temp == 1 {
				seqs = append(seqs, Sequence{Prompt: r.Prompt, Action: got[i].IDs})
				which = append(which, i)
			}
		}
		scored, err := m.Score(context.Background(), seqs, temp)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range which {
			if !sameBits(scored[k].LogProbs, got[i].LogProbs) {
				t.Fatalf("batch %d, request %d (prompt %d, %d ids): sampler %v, scorer %v", batch, i, len(reqs[i].Prompt), len(got[i].IDs), got[i].LogProbs, scored[k].LogProbs)
			}
		}
	}
}

// TestEveryKernelFamilyGivesTheSameBits forces each in turn.
func TestEveryKernelFamilyGivesTheSameBits(t *testing.T) {
	cfg := tinyConfig()
	m := randomModel(t, cfg, 2)
	rng := rand.New(rand.NewPCG(3, 7))
	var reqs []GenRequest
	for range 4 {
		reqs = append(reqs, randomRequests(rng, cfg.Vocab)...)
	}
	seqs := randomBatch(rng, cfg.Vocab)
	co := coefficients(seqs, 1)
	var first []GenResult
	var grads *Grads
	for _, family := range kernels.Implementations() {
		restore, err := kernels.Use(family)
		if err != nil {
			t.Fatal(err)
		}
		checkAgreement(t, m, m.NewDecoder(DecoderOptions{Slots: 7}), reqs, 0)
		got, err := m.NewDecoder(DecoderOptions{}).Generate(context.Background(), reqs)
		if err != nil {
			t.Fatal(err)
		}
		g := gradsOf(t, m, seqs, co)
		restore()
		if first == nil {
			first, grads = got, g
			continue
		}
		for i := range got {
			if !slices.Equal(got[i].IDs, first[i].IDs) || !sameBits(got[i].LogProbs, first[i].LogProbs) {
				t.Fatalf("%s: request %d differs from %s", family, i, kernels.Implementations()[0])
			}
		}
		if !sameBits(g.flat, grads.flat) {
			t.Errorf("%s: other gradients than %s", family, kernels.Implementations()[0])
		}
	}
}

// TestLongPromptsAreComputedInPieces has prompts beyond the rows of a step.
func TestLongPromptsAreComputedInPieces(t *testing.T) {
	cfg := tinyConfig()
	cfg.MaxPositions = 4096
	m := randomModel(t, cfg, 2)
	rng := rand.New(rand.NewPCG(3, 7))
	var reqs []GenRequest
	for _, n := range []int{5, prefillRows - 1, prefillRows, 2*prefillRows + 100, 40} {
		prompt := randomIDs(rng, n, cfg.Vocab)
		for range 2 {
			reqs = append(reqs, GenRequest{Prompt: prompt, MaxTokens: 6, Temperature: 1, Stop: []int32{99}, Key: prng.State(rng.Uint64())})
		}
	}
	checkAgreement(t, m, m.NewDecoder(DecoderOptions{}), reqs, 0)
}

// TestAdaptersShareABatch mixes two adapters and the base in one batch.
func TestAdaptersShareABatch(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	adapters := []*lora.Adapter{nil, randomAdapter(t, m, 4, 1), randomAdapter(t, m, 6, 2)}
	d := m.NewDecoder(DecoderOptions{Slots: 9})
	rng := rand.New(rand.NewPCG(8, 1))
	for range 10 {
		reqs := randomRequests(rng, m.Config.Vocab)
		for i := range reqs {
			reqs[i].Adapter, reqs[i].Temperature = adapters[rng.IntN(3)], 1
		}
		got, err := d.Generate(context.Background(), reqs)
		if err != nil {
			t.Fatal(err)
		}
		seqs := make([]Sequence, len(reqs))
		for i, r := range reqs {
			seqs[i] = Sequence{Prompt: r.Prompt, Action: got[i].IDs, Adapter: r.Adapter}
		}
		all, err := m.Score(context.Background(), seqs, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range reqs {
			if !sameBits(all[i].LogProbs, got[i].LogProbs) {
				t.Fatalf("sequence %d: scorer and sampler differ", i)
			}
			one, err := m.Score(context.Background(), seqs[i:i+1], 1)
			if err != nil {
				t.Fatal(err)
			}
			if !sameBits(all[i].LogProbs, one[0].LogProbs) {
				t.Fatalf("sequence %d: alone and in the batch differ", i)
			}
		}
	}
}

func randomAdapter(t *testing.T, m *Model, rank int, seed uint64) *lora.Adapter {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	a, err := lora.New(lora.Config{Rank: rank, Alpha: 2 * float64(rank), Targets: []string{"all-linear"}}, m.Config.AdapterBase(), rng)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Params() {
		for i := range p.Data {
			p.Data[i] = float32(0.1 * rng.NormFloat64())
		}
	}
	a.Refresh()
	return a
}

func TestAGenerationDoesNotDependOnItsBatch(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	d := m.NewDecoder(DecoderOptions{Slots: 5})
	for range 20 {
		reqs := randomRequests(rng, m.Config.Vocab)
		all, err := d.Generate(context.Background(), reqs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range reqs {
			one, err := d.Generate(context.Background(), reqs[i:i+1])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one[0].IDs, all[i].IDs) || !sameBits(one[0].LogProbs, all[i].LogProbs) || one[0].Finish != all[i].Finish {
				t.Fatalf("alone %v, in a batch %v", one[0], all[i])
			}
		}
	}
}

func TestGoldenGreedy(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		m := g.load(t, false)
		d := m.NewDecoder(DecoderOptions{})
		for _, c := range g.Greedy {
			var a *lora.Adapter
			if c.Adapter != nil {
				a = g.adapter(t, m, *c.Adapter)
			}
			out, err := d.Generate(context.Background(), []GenRequest{{Prompt: c.Prompt, MaxTokens: len(c.Continuation), Adapter: a}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out[0].IDs, c.Continuation) {
				t.Errorf("ids %v, want %v", out[0].IDs, c.Continuation)
			}
		}
		for _, c := range g.Text.Generate {
			stop := []int32{509, 507} // of its generation_config.json
			out, err := d.Generate(context.Background(), []GenRequest{{Prompt: c.Prompt, MaxTokens: c.MaxTokens, Stop: stop}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out[0].IDs, c.Continuation) || (out[0].Finish == FinishStop) != c.Stopped {
				t.Errorf("ids %v (%s), want %v", out[0].IDs, out[0].Finish, c.Continuation)
			}
		}
	})
}

func TestBadRequestsAreRefused(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	d := m.NewDecoder(DecoderOptions{})
	long := make([]int32, 128)
	for name, r := range map[string]GenRequest{
		"empty prompt": {MaxTokens: 1}, "long prompt": {Prompt: long, MaxTokens: 1}, "id": {Prompt: []int32{48}, MaxTokens: 1},
		"negative id": {Prompt: []int32{-1}, MaxTokens: 1}, "temperature": {Prompt: []int32{1}, MaxTokens: 1, Temperature: -1},
		"nan": {Prompt: []int32{1}, Temperature: float32(math.NaN())},
	} {
		if _, err := d.Generate(context.Background(), []GenRequest{r}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := m.Score(context.Background(), []Sequence{{Prompt: long, Action: long}}, 1); err == nil {
		t.Error("a sequence over the limit was scored")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Generate(ctx, []GenRequest{{Prompt: []int32{1}, MaxTokens: 5}}); err == nil {
		t.Error("a cancelled generation gave a result")
	}
	if out, err := d.Generate(context.Background(), []GenRequest{{Prompt: long[:120], MaxTokens: 50}}); err != nil || len(out[0].IDs) != 8 {
		t.Errorf("at the limit: %v, %v", out, err)
	}
}
