package model

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"troupe/internal/prng"
	"troupe/model/kernels"
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
	// KVBytes bounds the memory of keys and values; 0 means 2 GiB. Requests wait
	// for room; a single one that needs more than all of it runs alone.
	KVBytes int64
	// Vocab is the number of ids that may be sampled, where the model's
	// vocabulary is padded beyond the tokenizer's; 0 means all.
	Vocab int
}

// Decoder continues prompts in batches: equal prompts are computed once, and
// a finished continuation's place is taken at once by the next request. It
// serves one Generate at a time.
type Decoder struct {
	m     *Model
	opt   DecoderOptions
	mu    sync.Mutex
	lanes []*lane       // one a worker for small models, else one
	pool  *kernels.Pool // of each lane
	used  atomic.Int64  // bytes of keys and values promised
}

// NewDecoder makes a decoder for the model.
func (m *Model) NewDecoder(opt DecoderOptions) *Decoder {
	d := &Decoder{m: m, opt: opt}
	n := 1
	if m.small() {
		n = m.pool.Workers()
	} else {
		d.pool = m.pool
	}
	if d.opt.Slots <= 0 {
		d.opt.Slots = 32
		if m.small() {
			d.opt.Slots = 128
		}
	}
	if d.opt.KVBytes <= 0 {
		d.opt.KVBytes = 2 << 30
	}
	if d.opt.Vocab <= 0 || d.opt.Vocab > m.Config.Vocab {
		d.opt.Vocab = m.Config.Vocab
	}
	for range n {
		l := &lane{d: d, p: newPass(m, d.pool, false)}
		l.head.W = m.head
		d.lanes = append(d.lanes, l)
	}
	return d
}

// Generate continues every prompt. What a request gives depends on that
// request alone.
func (d *Decoder) Generate(ctx context.Context, reqs []GenRequest) ([]GenResult, error) {
	if err := d.check(reqs); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]GenResult, len(reqs))
	n := 0
	for i := range reqs {
		n += d.limit(&reqs[i])
	}
	ids, lps := make([]int32, n), make([]float32, n)
	for i := range reqs {
		k := d.limit(&reqs[i])
		out[i] = GenResult{IDs: ids[:0:k], LogProbs: lps[:0:k], Finish: FinishLength}
		ids, lps = ids[k:], lps[k:]
	}
	q := &queue{families: families(reqs)}
	d.used.Store(0)
	run := func(_, i int) { d.lanes[i].run(ctx, q, reqs, out) }
	if len(d.lanes) == 1 {
		run(0, 0)
	} else {
		d.m.pool.Run(len(d.lanes), run)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
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

// queue hands out families of requests with one prompt and adapter.
type queue struct {
	mu       sync.Mutex
	families [][]int
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
func (q *queue) take(d *Decoder, reqs []GenRequest, n int, alone bool) []int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.families) == 0 || n == 0 {
		return nil
	}
	f := q.families[0]
	cost := d.bytes(len(reqs[f[0]].Prompt))
	k := 0
	for k < min(n, len(f)) {
		more := d.bytes(d.limit(&reqs[f[k]]))
		if d.used.Load()+cost+more > d.opt.KVBytes && !(alone && k == 0) {
			break
		}
		cost += more
		k++
	}
	if k == 0 {
		return nil
	}
	d.used.Add(cost)
	if k == len(f) {
		q.families = q.families[1:]
	} else {
		q.families[0] = f[k:]
	}
	return f[:k]
}

// empty tells whether all requests are handed out.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.families) == 0
}

// bytes is the memory of keys and values for n positions.
func (d *Decoder) bytes(n int) int64 {
	c := &d.m.Config
	return int64(c.Layers) * int64(8*c.KVHeads*c.HeadDim) * int64((n+31)&^31)
}
