package model

import (
	"context"
	"fmt"
	"sync"

	"troupe/internal/prng"
	"troupe/model/lora"
)

// Why a generation ended.
const (
	FinishStop   = "stop"   // a stop token, which is part of the ids
	FinishLength = "length" // MaxTokens, or the model's positions are used up
)

// GenRequest asks for one continuation.
type GenRequest struct {
	Prompt    []int32
	MaxTokens int
	// Temperature 0 is greedy. TopK, TopP and MinP are off at 0 (TopP at 1 too).
	Temperature, TopP, MinP float32
	TopK                    int
	Stop                    []int32
	Key                     prng.State // positional randomness: the draw of token i is Key's i-th
	Adapter                 *lora.Adapter
}

// GenResult is a continuation: its ids (the stop token included), the
// log-probability of each under the sampling temperature, and why it ended.
type GenResult struct {
	IDs      []int32
	LogProbs []float32
	Finish   string
}

// DecoderOptions bounds a decoder.
type DecoderOptions struct {
	// Slots is the number of continuations in work at a time on each worker; 0
	// means 128 for small models and 32 for large ones, which use one worker's
	// slots and all workers' arithmetic.
	Slots int
	// KVBytes bounds the memory of keys and values; 0 means 4 GiB. Requests wait
	// for room; a single one that needs more than all of it runs alone.
	KVBytes int64
	// Vocab is the number of ids that may be sampled, where the model's
	// vocabulary is padded beyond the tokenizer's; 0 means all.
	Vocab int
}

// Decoder continues prompts in batches: equal prompts are computed once, and
// a finished continuation's place is taken at once by the next request. It is
// cheap to make: the memory it works in belongs to the model.
type Decoder struct {
	m   *Model
	opt DecoderOptions
}

// NewDecoder makes a decoder for the model.
func (m *Model) NewDecoder(opt DecoderOptions) *Decoder {
	if opt.Slots <= 0 {
		opt.Slots = 32
		if m.small() {
			opt.Slots = 128
		}
	}
	if opt.KVBytes <= 0 {
		opt.KVBytes = 4 << 30
	}
	if opt.Vocab <= 0 || opt.Vocab > m.Config.Vocab {
		opt.Vocab = m.Config.Vocab
	}
	return &Decoder{m: m, opt: opt}
}

// generation is one call of Generate.
type generation struct {
	*Decoder
	reqs  []GenRequest
	out   []GenResult
	slots int // of each lane

	mu       sync.Mutex
	families [][]int // requests not handed out yet, by prompt and adapter
	used     int64   // bytes of keys and values promised
}

// Generate continues every prompt. What a request gives depends on that
// request alone.
func (d *Decoder) Generate(ctx context.Context, reqs []GenRequest) ([]GenResult, error) {
	if err := d.check(reqs); err != nil {
		return nil, err
	}
	g := &generation{Decoder: d, reqs: reqs, out: make([]GenResult, len(reqs)), families: families(reqs)}
	n := 0
	for i := range reqs {
		n += d.limit(&reqs[i])
	}
	ids, lps := make([]int32, n), make([]float32, n)
	for i := range reqs {
		k := d.limit(&reqs[i])
		g.out[i] = GenResult{IDs: ids[:0:k], LogProbs: lps[:0:k], Finish: FinishLength}
		ids, lps = ids[k:], lps[k:]
	}
	lanes := 1
	if d.m.small() {
		lanes = max(1, min(d.m.pool.Workers(), len(reqs)))
	}
	// A lane takes no more than its share, or the others would stand idle.
	g.slots = max(1, min(d.opt.Slots, (len(reqs)+lanes-1)/lanes))
	run := func(_, _ int) {
		l := d.m.takeLane(g)
		l.run(ctx)
		d.m.giveLane(l)
	}
	if lanes == 1 {
		run(0, 0)
	} else {
		d.m.pool.Run(lanes, run)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return g.out, nil
}

// limit is the number of tokens a request can give.
func (d *Decoder) limit(r *GenRequest) int {
	return max(0, min(r.MaxTokens, d.m.Config.MaxPositions-len(r.Prompt)))
}

func (d *Decoder) check(reqs []GenRequest) error {
	c := &d.m.Config
	for i := range reqs {
		r := &reqs[i]
		switch {
		case len(r.Prompt) == 0:
			return fmt.Errorf("request %d: empty prompt", i)
		case len(r.Prompt) >= c.MaxPositions:
			return fmt.Errorf("request %d: a prompt of %d tokens leaves no room, the model takes at most %d", i, len(r.Prompt), c.MaxPositions)
		case r.MaxTokens < 0:
			return fmt.Errorf("request %d: max tokens %d is negative", i, r.MaxTokens)
		case !(r.Temperature >= 0) || !(r.TopP >= 0) || !(r.MinP >= 0) || r.TopK < 0:
			return fmt.Errorf("request %d: temperature, top-p, min-p and top-k can't be negative", i)
		case r.Adapter != nil && !r.Adapter.Fits(c.AdapterBase()):
			return fmt.Errorf("request %d: the adapter belongs to a model of another shape", i)
		}
		for j, id := range r.Prompt {
			if id < 0 || int(id) >= c.Vocab {
				return fmt.Errorf("request %d: token %d is %d, not below the vocabulary's %d", i, j, id, c.Vocab)
			}
		}
	}
	return nil
}

// families groups requests by adapter and prompt, in order of appearance.
func families(reqs []GenRequest) [][]int {
	seqs := make([]Sequence, len(reqs))
	one := []int32{0}
	for i := range reqs {
		if reqs[i].MaxTokens > 0 {
			seqs[i] = Sequence{Prompt: reqs[i].Prompt, Action: one, Adapter: reqs[i].Adapter}
		}
	}
	var out [][]int
	last := -1
	for _, g := range groupByPrompt(seqs) {
		if g.group != last {
			out = append(out, nil)
			last = g.group
		}
		out[len(out)-1] = append(out[len(out)-1], g.seq)
	}
	return out
}

// take gives up to n requests of one family that the memory budget has room
// for; alone says that the caller has nothing else in work.
func (g *generation) take(n int, alone bool) []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.families) == 0 || n == 0 {
		return nil
	}
	f := g.families[0]
	cost := g.bytes(len(g.reqs[f[0]].Prompt))
	k := 0
	for k < min(n, len(f)) {
		more := g.bytes(g.limit(&g.reqs[f[k]]))
		if g.used+cost+more > g.opt.KVBytes && !(alone && k == 0) {
			break
		}
		cost += more
		k++
	}
	if k == 0 {
		return nil
	}
	g.used += cost
	if k == len(f) {
		g.families = g.families[1:]
	} else {
		g.families[0] = f[k:]
	}
	return f[:k]
}

// freed gives promised memory back.
func (g *generation) freed(bytes int64) {
	g.mu.Lock()
	g.used -= bytes
	g.mu.Unlock()
}

// empty tells whether all requests are handed out.
func (g *generation) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.families) == 0
}

// bytes is the memory of keys and values for n positions.
func (d *Decoder) bytes(n int) int64 {
	c := &d.m.Config
	return int64(c.Layers) * int64(8*c.KVHeads*c.HeadDim) * int64((n+31)&^31)
}
