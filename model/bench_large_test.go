//go:build unix

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"testing"
	"time"

	"troupe/model/kernels"
	"troupe/model/lora"
	"troupe/trainer/optim"
)

// qwen06 is the shape of Qwen3-0.6B.
func qwen06() Config {
	return Config{Type: "qwen3", Hidden: 1024, Inner: 3072, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151936,
		MaxPositions: 40960, Eps: 1e-6, RopeTheta: 1e6, Tied: true, BOS: -1}
}

// smol135 is the shape of SmolLM2-135M.
func smol135() Config {
	return Config{Type: "llama", Hidden: 576, Inner: 1536, Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, Vocab: 49152,
		MaxPositions: 8192, Eps: 1e-5, RopeTheta: 1e5, Tied: true, BOS: -1}
}

// qwen4 is the shape of Qwen3-4B.
func qwen4() Config {
	return Config{Type: "qwen3", Hidden: 2560, Inner: 9728, Layers: 36, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 151936,
		MaxPositions: 40960, Eps: 1e-6, RopeTheta: 1e6, Tied: true, BOS: -1}
}

// randomFrozen makes a bfloat16 model with random weights in memory.
func randomFrozen(cfg Config, num kernels.Numerics) *Model {
	m := &Model{Config: cfg, pool: kernels.Default(), layout: newLayout(&cfg)}
	z, rng := cfg.sizes(), rand.New(rand.NewPCG(1, 1))
	noise := make([]uint16, 1<<16)
	for i := range noise {
		noise[i] = kernels.BF16(float32(0.02 * rng.NormFloat64()))
	}
	matrix := func(n, k int) *kernels.Matrix {
		w := make([]uint16, n*k)
		for at := 0; at < len(w); at += len(noise) - 7 {
			copy(w[at:], noise)
		}
		return kernels.PackNumerics(w, n, k, num)
	}
	ones := make([]float32, max(z.hidden, z.dim))
	for i := range ones {
		ones[i] = 1
	}
	for range cfg.Layers {
		w := layer{norm1: ones[:z.hidden], norm2: ones[:z.hidden],
			qkv: matrix(z.qkv, z.hidden), o: matrix(z.hidden, z.q), gup: matrix(2*z.inner, z.hidden), down: matrix(z.hidden, z.inner)}
		if cfg.HeadNorm() {
			w.qnorm, w.knorm = ones[:z.dim], ones[:z.dim]
		}
		m.layers = append(m.layers, w)
	}
	m.norm, m.head = ones[:z.hidden], matrix(cfg.Vocab, z.hidden)
	return m
}

// BenchmarkLarge runs the 0.6B shape; it takes about 6 GiB and is on only with
// TROUPE_BENCH_LARGE set.
func BenchmarkLarge(b *testing.B) {
	if os.Getenv("TROUPE_BENCH_LARGE") == "" {
		b.Skip("set TROUPE_BENCH_LARGE=1")
	}
	start := time.Now()
	m := randomFrozen(qwen06(), kernels.F32)
	debug.FreeOSMemory()
	b.Logf("made in %v", time.Since(start))
	rng := rand.New(rand.NewPCG(3, 3))
	b.Run("prefill512", func(b *testing.B) {
		seqs := []Sequence{{Prompt: randomIDs(rng, 512, 151936), Action: []int32{1}}}
		cpu := processTime()
		for b.Loop() {
			if _, err := m.Score(context.Background(), seqs, 1); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(512*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
		report(b, flops(&m.Config, seqs, false), cpu)
	})
	for _, n := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("decode%02d", n), func(b *testing.B) { benchLargeDecode(b, m, n) })
	}
	for _, n := range []int{512, 1024} {
		b.Run(fmt.Sprintf("lora%d", n), func(b *testing.B) { benchLoRA(b, m, n) })
	}
}

// BenchmarkLargeBF16 is the training step of BenchmarkLarge in kind bf16.
func BenchmarkLargeBF16(b *testing.B) {
	if os.Getenv("TROUPE_BENCH_LARGE") == "" {
		b.Skip("set TROUPE_BENCH_LARGE=1")
	}
	m := randomFrozen(qwen06(), kernels.BF16Products)
	debug.FreeOSMemory()
	b.Run("lora512", func(b *testing.B) { benchLoRA(b, m, 512) })
}

// BenchmarkLarge4B is a training step of the 4B shape, with the memory for
// activations that the train command gives to a checkpoint of this size, so that
// nearly all layers are recomputed; it takes about 20 GiB and is on only with
// TROUPE_BENCH_LARGE=4B.
func BenchmarkLarge4B(b *testing.B) {
	if os.Getenv("TROUPE_BENCH_LARGE") != "4B" {
		b.Skip("set TROUPE_BENCH_LARGE=4B")
	}
	m := randomFrozen(qwen4(), kernels.F32)
	m.budget = 768 << 20
	debug.FreeOSMemory()
	b.Run("lora1024", func(b *testing.B) { benchLoRA(b, m, 1024) })
}

// BenchmarkLoad loads the checkpoint that TROUPE_BENCH_CHECKPOINT names, which
// the first round brings into the page cache.
func BenchmarkLoad(b *testing.B) {
	dir := os.Getenv("TROUPE_BENCH_CHECKPOINT")
	if dir == "" {
		b.Skip("TROUPE_BENCH_CHECKPOINT names no checkpoint")
	}
	for b.Loop() {
		if _, err := Load(dir, LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchLoRA trains an adapter of rank 64 on one sequence of n tokens, all of
// them through the head, optimizer included.
func benchLoRA(b *testing.B, m *Model, n int) {
	rng := rand.New(rand.NewPCG(3, 3))
	a, err := lora.New(lora.Config{Rank: 64, Alpha: 32, Targets: []string{"all-linear"}}, m.Config.AdapterBase(), rng)
	if err != nil {
		b.Fatal(err)
	}
	seqs := []Sequence{{Prompt: randomIDs(rng, 1, 151936), Action: randomIDs(rng, n, 151936), Adapter: a}}
	d := make([]float32, n)
	for i := range d {
		d[i] = 1e-3
	}
	cpu := benchTrain(b, m, a, seqs, d, nil)
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tok/s")
	// Frozen weights: no weight gradients, two thirds of a full backward.
	report(b, flops(&m.Config, seqs, true)*2/3, cpu)
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		b.ReportMetric(float64(u.Maxrss)/(1<<20), "GiB-peak")
	}
}

// benchTrain takes optimizer steps on the sequences as the trainer does, with
// these gradients of every action's log-probability and entropy, and returns the
// CPU time at which the counted ones began.
func benchTrain(b *testing.B, m *Model, a *lora.Adapter, seqs []Sequence, d, e []float32) time.Duration {
	g := NewGrads(a.Params())
	var values [][]float32
	for _, p := range a.Params() {
		values = append(values, p.Data)
	}
	state, rule := optim.NewState(values), optim.Paper()
	train := func() {
		g.Zero()
		if _, err := m.Backward(context.Background(), seqs, 1, func(int, []float32, []float32) ([]float32, []float32) { return d, e }, g); err != nil {
			b.Fatal(err)
		}
		rule.Apply(values, g.Tensors(), state, 1e-4)
		a.Refresh()
	}
	train() // packs the other orientation of the weights
	defer profileCounted(b)()
	cpu := processTime()
	for b.Loop() {
		train()
	}
	return cpu
}

// profileCounted writes a CPU profile of what runs until the returned function is
// called to the file that TROUPE_BENCH_PROFILE names: of the counted steps alone,
// where -cpuprofile also has the packing of weights and the first touch of memory.
func profileCounted(b *testing.B) func() {
	file := os.Getenv("TROUPE_BENCH_PROFILE")
	if file == "" {
		return func() {}
	}
	f, err := os.Create(file)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			b.Error(err)
		}
	}
}
