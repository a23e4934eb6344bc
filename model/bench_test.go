//go:build unix

package model

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"troupe/internal/prng"
	"troupe/model/kernels"
	"troupe/trainer/optim"
)

// flops counts what a batch costs in products and attention: forward, or
// forward and backward. Rows are counted as if no prompt were shared.
func flops(c *Config, seqs []Sequence, backward bool) float64 {
	z := c.sizes()
	weights := float64(c.Layers * (z.qkv*z.hidden + z.q*z.hidden + 3*z.inner*z.hidden))
	sum := 0.0
	for _, s := range seqs {
		n := float64(len(s.Prompt) + len(s.Action) - 1)
		f := 2 * (n*weights + float64(len(s.Action)*c.Vocab*c.Hidden))
		att := 2 * n * n * float64(z.q*c.Layers)
		if backward {
			f, att = 3*f, 3*att
		}
		sum += f + att
	}
	return sum
}

// processTime is the CPU time of the process so far: what a busy machine
// leaves comparable.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report gives the rate by the clock and by CPU time.
func report(b *testing.B, flops float64, cpu time.Duration) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	b.ReportMetric(flops*float64(b.N)/(processTime()-cpu).Seconds()/1e9, "GFLOP/cpu-s")
}

// tinyBatch is 256 rows of 12 tokens; group is the number of equal prompts.
func tinyBatch(group int) []Sequence {
	rng := rand.New(rand.NewPCG(1, 1))
	var seqs []Sequence
	var prompt []int32
	for i := range 256 {
		if i%group == 0 {
			prompt = randomIDs(rng, 7, 48)
		}
		seqs = append(seqs, Sequence{Prompt: prompt, Action: randomIDs(rng, 6, 48)})
	}
	return seqs
}

func benchBackward(b *testing.B, workers, group int) {
	m := randomModel(b, tinyConfig(), 1)
	m.pool = kernels.NewPool(workers)
	defer m.pool.Close()
	seqs := tinyBatch(group)
	g := NewGrads(m.Params())
	d := make([]float32, 16)
	for i := range d {
		d[i] = 0.5
	}
	loss := func(_ int, logp, _ []float32) ([]float32, []float32) { return d[:len(logp)], nil }
	b.ReportAllocs()
	cpu := processTime()
	for b.Loop() {
		if _, err := m.Backward(context.Background(), seqs, 1, loss, g); err != nil {
			b.Fatal(err)
		}
	}
	report(b, flops(&m.Config, seqs, true), cpu)
}

func BenchmarkTinyBackward(b *testing.B) {
	b.Run("1worker", func(b *testing.B) { benchBackward(b, 1, 1) })
	b.Run("1worker/group8", func(b *testing.B) { benchBackward(b, 1, 8) })
	b.Run("2workers", func(b *testing.B) { benchBackward(b, 2, 1) })
}

func BenchmarkTinyScore(b *testing.B) {
	m := randomModel(b, tinyConfig(), 1)
	m.pool = kernels.NewPool(1)
	seqs := tinyBatch(1)
	b.ReportAllocs()
	cpu := processTime()
	for b.Loop() {
		if _, err := m.Score(context.Background(), seqs, 1); err != nil {
			b.Fatal(err)
		}
	}
	report(b, flops(&m.Config, seqs, false), cpu)
}

func benchDecode(b *testing.B, group int) {
	m := randomModel(b, tinyConfig(), 1)
	m.pool = kernels.NewPool(1)
	seqs := tinyBatch(group)
	d := m.NewDecoder(DecoderOptions{})
	var reqs []GenRequest
	for i, s := range seqs {
		reqs = append(reqs, GenRequest{Prompt: s.Prompt, MaxTokens: 6, Temperature: 1, Key: prng.State(i)})
	}
	b.ReportAllocs()
	cpu := processTime()
	for b.Loop() {
		if _, err := d.Generate(context.Background(), reqs); err != nil {
			b.Fatal(err)
		}
	}
	report(b, flops(&m.Config, seqs, false), cpu)
}

func BenchmarkTinyDecode(b *testing.B) {
	b.Run("group1", func(b *testing.B) { benchDecode(b, 1) })
	b.Run("group8", func(b *testing.B) { benchDecode(b, 8) })
}

// BenchmarkTinyStep is a step of supervised training: 64 sequences of 14
// tokens, clipping, optimizer and repacking included.
func BenchmarkTinyStep(b *testing.B) {
	m := randomModel(b, tinyConfig(), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var seqs []Sequence
	for range 64 {
		seqs = append(seqs, Sequence{Prompt: randomIDs(rng, 8, 48), Action: randomIDs(rng, 7, 48)})
	}
	g := NewGrads(m.Params())
	var params [][]float32
	for _, p := range m.Params() {
		params = append(params, p.Data)
	}
	state, rule := optim.NewState(params), optim.AdamW{Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8}
	d := []float32{-1, -1, -1, -1, -1, -1, -1}
	loss := func(int, []float32, []float32) ([]float32, []float32) { return d, nil }
	cpu := processTime()
	b.ReportAllocs()
	for b.Loop() {
		g.Zero()
		if _, err := m.Backward(context.Background(), seqs, 1, loss, g); err != nil {
			b.Fatal(err)
		}
		optim.Clip(g.Tensors(), g.Norm(), 1)
		rule.Apply(params, g.Tensors(), state, 1e-3)
		m.Refresh()
	}
	report(b, flops(&m.Config, seqs, true), cpu)
}
