//go:build unix

package model

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"troupe/internal/prng"
	"troupe/model/kernels"
	"troupe/model/lora"
)

// Groups of a step of RL on a small real model: questions, replies to each, and
// their tokens.
const (
	groupPrompts = 8
	groupReplies = 8
	groupPrompt  = 50
	groupReply   = 20
)

// BenchmarkGroups is the work of one RL step on the 135M shape, 8 questions x 8
// replies under an adapter of rank 16: the rollout, and the update with the
// optimizer. It is on with TROUPE_BENCH_LARGE only.
func BenchmarkGroups(b *testing.B) {
	if os.Getenv("TROUPE_BENCH_LARGE") == "" {
		b.Skip("set TROUPE_BENCH_LARGE=1")
	}
	m := randomFrozen(smol135(), kernels.F32)
	rng := rand.New(rand.NewPCG(3, 3))
	a, err := lora.New(lora.Config{Rank: 16, Alpha: 32, Targets: []string{"all-linear"}}, m.Config.AdapterBase(), rng)
	if err != nil {
		b.Fatal(err)
	}
	var reqs []GenRequest
	var seqs []Sequence
	for range groupPrompts {
		prompt := randomIDs(rng, groupPrompt, m.Config.Vocab)
		for range groupReplies {
			reqs = append(reqs, GenRequest{Prompt: prompt, MaxTokens: groupReply, Temperature: 1, Key: prng.State(len(reqs)), Adapter: a})
			seqs = append(seqs, Sequence{Prompt: prompt, Action: randomIDs(rng, groupReply, m.Config.Vocab), Adapter: a})
		}
	}
	b.Run("rollout", func(b *testing.B) { benchRollout(b, m, reqs) })
	b.Run("update", func(b *testing.B) { benchUpdate(b, m, a, seqs) })
}

func benchRollout(b *testing.B, m *Model, reqs []GenRequest) {
	d := m.NewDecoder(DecoderOptions{})
	for b.Loop() {
		if _, err := d.Generate(context.Background(), reqs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(reqs)*groupReply*b.N)/b.Elapsed().Seconds(), "tok/s")
}

func benchUpdate(b *testing.B, m *Model, a *lora.Adapter, seqs []Sequence) {
	d, e := make([]float32, groupReply), make([]float32, groupReply)
	for i := range d {
		d[i], e[i] = 1e-3, -1e-9
	}
	cpu := benchTrain(b, m, a, seqs, d, e)
	report(b, flops(&m.Config, seqs, true)*2/3, cpu)
}
