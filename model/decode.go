package model

import (
	"context"
	"fmt"

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

// What a decoder is bounded by unless its options say otherwise.
const (
	LargeSlots = 64      // continuations in work at a time, of large models
	KVBudget   = 4 << 30 // bytes of keys and values
)

// DecoderOptions bounds a decoder.
type DecoderOptions struct {
	// Slots is the number of continuations in work at a time on each worker; 0
	// means 128 for small models and LargeSlots for large ones, which use one worker's
	// slots and all workers' arithmetic.
	Slots int
	// KVBytes bounds the memory of keys and values; 0 means KVBudget. Requests wait
	// for room; a single one that needs more than all of it runs alone.
	KVBytes int64
	// Vocab bounds the ids that may be sampled further than LoadOptions.Vocab
	// does, and like top-k without changing the probabilities that are reported;
	// 0 means all that have a probability.
	Vocab int
	// Meter is told what the steps compute; it may be nil.
	Meter *Meter
}

// Decoder continues prompts in batches: equal prompts are computed once, and a
// finished continuation's place is taken at once by the next request, whether it
// was there from the beginning or has come since. It is cheap to make: the
// memory it works in belongs to the model.
type Decoder struct {
	m   *Model
	opt DecoderOptions
}

// NewDecoder makes a decoder for the model.
func (m *Model) NewDecoder(opt DecoderOptions) *Decoder {
	if opt.Slots <= 0 {
		opt.Slots = LargeSlots
		if m.small() {
			opt.Slots = 128
		}
	}
	if opt.KVBytes <= 0 {
		opt.KVBytes = KVBudget
	}
	if opt.Vocab <= 0 || opt.Vocab > m.Vocab() {
		opt.Vocab = m.Vocab()
	}
	return &Decoder{m: m, opt: opt}
}

// Generate continues every prompt. What a request gives depends on that
// request alone.
func (d *Decoder) Generate(ctx context.Context, reqs []GenRequest) ([]GenResult, error) {
	out := make([]GenResult, len(reqs))
	asked := false
	more := func(bool) ([]GenRequest, error) {
		if asked {
			return nil, nil
		}
		asked = true
		return reqs, nil
	}
	if err := d.Serve(ctx, more, func(n int, r GenResult) { out[n] = r }); err != nil {
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

// bytes is the memory of keys and values for n positions.
func (d *Decoder) bytes(n int) int64 {
	b := d.m.Config.KVBytes(n)
	if d.m.kv16 {
		b /= 2
	}
	return b
}

// slotBytes is the memory of a slot that can give n tokens: its tails take as
// much as the keys of 32 positions.
func (d *Decoder) slotBytes(n int) int64 {
	if d.m.small() {
		return d.bytes(n)
	}
	return d.bytes(n) + d.m.Config.KVBytes(32)/2
}
