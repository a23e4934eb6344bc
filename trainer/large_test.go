package trainer

import (
	"math"
	"math/rand/v2"
	"os"
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

// bytewise encodes a chat by its bytes and writes a letter for each token.
type bytewise struct{}

func (bytewise) Encode(chat []workflow.Message) ([]int32, error) {
	var ids []int32
	for _, m := range chat {
		for _, c := range []byte(m.Content) {
			ids = append(ids, 1000+int32(c))
		}
	}
	return ids, nil
}

func (bytewise) Text(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteByte(byte('a' + id%26))
	}
	return b.String()
}

func (bytewise) Stop() []int32 { return nil }

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
	cfg.Tasks, cfg.Rollouts, cfg.Temperature, cfg.MaxTokens, cfg.Defaults = 2, 4, 1, 24, true
	cfg.EvalEvery, cfg.CheckpointEvery, cfg.ProbeTasks = 0, 1000, 1 // an eighth of the episodes, as by default
	w := newWorld(b, b.TempDir(), cfg, func(p *Parts) { p.Base, p.Encoder = base, bytewise{} })
	defer w.db.Close()
	ctx := b.Context()
	if _, err := w.t.resume(ctx); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		log := w.t.begin(1)
		played, err := w.t.gather(ctx, log)
		if err != nil {
			b.Fatal(err)
		}
		log.timed("rollout")
		rows, err := w.t.rows(played.episodes, nil)
		if err != nil {
			b.Fatal(err)
		}
		updates, err := w.t.update(ctx, 1, rows)
		if err != nil {
			b.Fatal(err)
		}
		log.timed("update")
		w.t.aside(log)
		w.t.logEpisodes(log, played.tasks, played.episodes, rows)
		w.t.logUpdates(log, updates, rows)
		log.timed("record")
		log.Iteration = 10 // where a probe is due
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

// reportLarge compares an iteration's phases with their parts alone.
func reportLarge(b *testing.B, t *Trainer, log *record, rows []*row, store time.Duration) {
	took := map[string]float64{}
	for _, x := range log.Timings {
		took[x.Phase] = x.Seconds
	}
	replies, trained := 0, 0
	prompts := map[string]bool{}
	var reqs [2][]model.GenRequest // in the order of the stages
	seqs := map[string][]model.Sequence{}
	for _, r := range rows {
		c, stage := r.call, 0
		if c.Role.Name == "aggregator" {
			stage = 1
		}
		set := t.sets[r.set]
		replies += len(c.IDs)
		reqs[stage] = append(reqs[stage], model.GenRequest{Prompt: c.PromptIDs, MaxTokens: len(c.IDs), Temperature: 1, TopP: 1,
			Key: c.Key.State(), Adapter: set.Adapter})
		if r.advantage != 0 {
			if key := (bytewise{}).Text(c.PromptIDs); !prompts[key] {
				prompts[key] = true
				trained += len(c.PromptIDs)
			}
			trained += len(c.IDs)
			seqs[r.set] = append(seqs[r.set], model.Sequence{Prompt: c.PromptIDs, Action: c.IDs, Adapter: set.Adapter})
		}
	}
	start := time.Now()
	for _, stage := range reqs {
		if _, err := t.parts.Base.NewDecoder(model.DecoderOptions{}).Generate(b.Context(), stage); err != nil {
			b.Fatal(err)
		}
	}
	decode := time.Since(start).Seconds()
	start = time.Now()
	for name, of := range seqs {
		grads := model.NewGrads(t.sets[name].Params())
		for i := range of {
			of[i].Grads = grads
		}
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
	backward := time.Since(start).Seconds()
	whole := took["rollout"] + took["update"] + took["metrics/update"] + took["record"] + took["metrics"]/float64(t.cfg.ProbeEvery) + store.Seconds()
	b.ReportMetric(took["rollout"], "rollout-s")
	b.ReportMetric(took["update"], "update-s")
	b.ReportMetric(float64(replies)/took["rollout"], "replies-tok/s")
	b.ReportMetric(float64(trained)/took["update"], "trained-tok/s")
	b.ReportMetric(100*decode/took["rollout"], "rollout-%-of-decoder")
	b.ReportMetric(100*backward/took["update"], "update-%-of-backward")
	b.ReportMetric(100*(took["metrics/update"]+took["metrics"]/float64(t.cfg.ProbeEvery))/whole, "metrics-%")
	b.ReportMetric(100*(took["record"]+store.Seconds())/whole, "store-%")
	if math.IsNaN(decode) || len(seqs) < 2 {
		b.Fatal("a role has nothing to train on: the benchmark shows nothing")
	}
}
