package trainer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/model"
	"troupe/trainer/workflow"
)

// largeModel is a bfloat16 model of the shape of Qwen3-0.6B with random weights.
func largeModel(b *testing.B) *model.Model {
	cfg := model.Config{Type: "qwen3", Hidden: 1024, Inner: 3072, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151936,
		MaxPositions: 40960, Eps: 1e-6, RopeTheta: 1e6, Tied: true, BOS: -1, EOS: []int32{1}}
	rng := rand.New(rand.NewPCG(1, 1))
	noise := make([]float32, 1<<16)
	for i := range noise {
		noise[i] = float32(0.02 * rng.NormFloat64())
	}
	m, err := model.New(cfg, func(name string, shape []int, w []float32) {
		for at := 0; at < len(w); at += len(noise) - 7 {
			copy(w[at:], noise)
		}
		for i := range w {
			if len(shape) > 1 {
				break
			}
			w[i] = 1
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := m.Save(dir, "bf16"); err != nil {
		b.Fatal(err)
	}
	if m, err = model.Load(dir, model.LoadOptions{}); err != nil {
		b.Fatal(err)
	}
	return m
}

// terse encodes a chat by four bytes a token, as vocabularies of this size do
// with English, and writes four letters for each token.
type terse struct{}

func (terse) Encode(chat []workflow.Message) ([]int32, error) {
	var ids []int32
	for _, m := range chat {
		for some := range slices.Chunk([]byte(m.Content), 4) {
			id := int32(0)
			for _, c := range some {
				id = id*31 + int32(c)
			}
			ids = append(ids, 1000+id%150000)
		}
	}
	return ids, nil
}

func (terse) Text(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		for range 4 {
			b.WriteByte(byte('a' + id%26))
			id /= 26
		}
	}
	return b.String()
}

func (terse) Stop() []int32 { return nil }

// BenchmarkLargeIteration is one iteration of voting with an adapter of rank 64
// for each role on a model of the 0.6B shape. It tells how its phases compare
// with the decoder and the backward pass alone on the same sequences, and what
// metrics and the store take. It is on with TROUPE_BENCH_LARGE only and takes 8
// GiB and some minutes.
func BenchmarkLargeIteration(b *testing.B) {
	if os.Getenv("TROUPE_BENCH_LARGE") == "" {
		b.Skip("set TROUPE_BENCH_LARGE=1")
	}
	base := largeModel(b)
	cfg := clean()
	cfg.Workflow, cfg.Policy, cfg.Chat = "voting", "isolated", "off"
	cfg.Tasks, cfg.Rollouts, cfg.Temperature, cfg.MaxTokens, cfg.Defaults = 2, 4, 1, 48, true
	cfg.EvalEvery, cfg.CheckpointEvery, cfg.ProbeTasks = 0, 1000, 1 // an eighth of the episodes, as by default
	w := newWorld(b, b.TempDir(), cfg, func(p *Parts) { p.Base, p.Encoder = base, terse{} })
	defer w.db.Close()
	ctx := b.Context()
	if _, err := w.t.resume(ctx); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		log := w.t.begin(10) // where probes are due
		played, err := w.t.gather(ctx, log)
		if err != nil {
			b.Fatal(err)
		}
		log.timed("rollout")
		rows, err := w.t.rows(played.episodes, nil)
		if err != nil {
			b.Fatal(err)
		}
		updates, err := w.t.update(ctx, 10, rows)
		if err != nil {
			b.Fatal(err)
		}
		log.timed("update")
		w.t.aside(log)
		w.t.logEpisodes(log, played.tasks, played.episodes, rows)
		w.t.logUpdates(log, updates, rows)
		log.timed("record")
		if err := w.t.probe(ctx, log); err != nil {
			b.Fatal(err)
		}
		probe := log.since
		if err := w.t.commit(ctx, log, false); err != nil {
			b.Fatal(err)
		}
		reportLarge(b, w.t, log, rows, time.Since(probe))
	}
}

// reportLarge compares an iteration's phases with their parts alone: the decoder
// on the same requests, and the backward pass on the same sequences, taken
// apart by role and slot as the trainer does it, and whole.
func reportLarge(b *testing.B, t *Trainer, log *record, rows []*row, store time.Duration) {
	took := map[string]float64{}
	for _, x := range log.Timings {
		took[x.Phase] += x.Seconds
	}
	replies := 0
	for _, r := range rows {
		replies += len(r.call.IDs)
	}
	decode := decodeAlone(b, t, rows)
	apart, trained := backwardAlone(b, t, rows, true)
	together, _ := backwardAlone(b, t, rows, false)
	tenth := took["metrics"] + took["metrics/halves"] // one iteration in ten
	metrics := took["metrics/update"] + tenth/float64(t.cfg.ProbeEvery)
	kept := took["record"] + store.Seconds()
	whole := took["rollout"] + took["update"] + metrics + kept
	b.ReportMetric(took["rollout"], "rollout-s")
	b.ReportMetric(took["update"], "update-s")
	b.ReportMetric(took["metrics/update"], "metrics-update-s")
	b.ReportMetric(took["metrics/halves"], "metrics-halves-s")
	b.ReportMetric(took["metrics"], "metrics-probe-s")
	b.ReportMetric(float64(replies)/took["rollout"], "replies-tok/s")
	b.ReportMetric(float64(trained)/took["update"], "trained-tok/s")
	b.ReportMetric(100*decode/took["rollout"], "rollout-%-of-decoder")
	b.ReportMetric(100*apart/took["update"], "update-%-of-backward")
	b.ReportMetric(100*together/took["update"], "update-%-of-undivided")
	b.ReportMetric(100*metrics/whole, "metrics-%")
	b.ReportMetric(100*kept/whole, "store-%")
}

// decodeAlone is how long the decoder takes for the iteration's calls, stage by
// stage, when it has nothing else to do.
func decodeAlone(b *testing.B, t *Trainer, rows []*row) float64 {
	var stages [2][]model.GenRequest
	for _, r := range rows {
		c, stage := r.call, 0
		if c.Role.Name == "aggregator" {
			stage = 1
		}
		stages[stage] = append(stages[stage], model.GenRequest{Prompt: c.PromptIDs, MaxTokens: len(c.IDs), Temperature: 1, TopP: 1,
			Key: c.Key.State(), Adapter: t.sets[r.set].Adapter})
	}
	start := time.Now()
	for _, reqs := range stages {
		if _, err := t.parts.Base.NewDecoder(model.DecoderOptions{}).Generate(b.Context(), reqs); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start).Seconds()
}

// backwardAlone is how long the backward pass takes for the rows that teach,
// and how many tokens it computes: equal prompts once in each part.
func backwardAlone(b *testing.B, t *Trainer, rows []*row, divided bool) (seconds float64, tokens int) {
	seqs := map[string][]model.Sequence{}
	grads := map[string]*model.Grads{}
	prompts := map[string]bool{}
	for _, r := range rows {
		if r.advantage == 0 {
			continue
		}
		c, part := r.call, r.set
		if divided {
			part += strconv.Itoa(c.Role.Slot)
		}
		if grads[part] == nil {
			grads[part] = model.NewGrads(t.sets[r.set].Params())
		}
		if key := part + fmt.Sprint(c.PromptIDs); !prompts[key] {
			prompts[key] = true
			tokens += len(c.PromptIDs)
		}
		tokens += len(c.IDs)
		seqs[r.set] = append(seqs[r.set], model.Sequence{Prompt: c.PromptIDs, Action: c.IDs, Adapter: t.sets[r.set].Adapter, Grads: grads[part]})
	}
	if len(seqs) < 2 {
		b.Fatal("a role has nothing to train on: the benchmark shows nothing")
	}
	start := time.Now()
	for name, of := range seqs {
		if _, err := t.sets[name].Model.Backward(b.Context(), of, 1, func(_ int, logp, _ []float32) ([]float32, []float32) {
			d := make([]float32, len(logp))
			for i := range d {
				d[i] = 0.01
			}
			return d, nil
		}, nil); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start).Seconds(), tokens
}
