package model

import (
	"encoding/binary"
	"fmt"
	"slices"

	"troupe/model/kernels"
	"troupe/model/lora"
)

// Sequence is a prompt and the action tokens that followed it.
type Sequence struct {
	Prompt, Action []int32
	Adapter        *lora.Adapter // nil: the base model
	// Grads takes this sequence's gradients in place of the argument of
	// Backward: several policies, or parts of one, in one batch.
	Grads *Grads
}

// family is a set of sequences that share a prompt, computed once.
type family struct {
	seqs []int
	rowRange
}

// chunk is what one pass computes: whole families, one after the other.
type chunk struct {
	families []family
	rows     int
}

// check tells what is wrong with a batch.
func (m *Model) check(seqs []Sequence) error {
	c := &m.Config
	for i := range seqs {
		s := &seqs[i]
		if len(s.Prompt) == 0 {
			return fmt.Errorf("sequence %d: empty prompt", i)
		}
		if n := len(s.Prompt) + len(s.Action); n > c.MaxPositions {
			return fmt.Errorf("sequence %d: %d tokens, the model takes at most %d", i, n, c.MaxPositions)
		}
		for _, part := range []struct {
			ids   []int32
			limit int
		}{{s.Prompt, c.Vocab}, {s.Action, m.Vocab()}} {
			for j, id := range part.ids {
				if id < 0 || int(id) >= part.limit {
					return fmt.Errorf("sequence %d: token %d is %d, not below the vocabulary's %d", i, j, id, part.limit)
				}
			}
		}
		if s.Adapter != nil && !s.Adapter.Fits(c.AdapterBase()) {
			return fmt.Errorf("sequence %d: the adapter belongs to a model of another shape", i)
		}
	}
	return nil
}

// plan orders the sequences so that equal prompts under the same adapter stand
// together, and cuts them into chunks of at most limit rows. The plan depends
// on the batch alone, so results don't depend on threads. Sequences without
// action tokens are left out. split keeps chunks to one target of gradients.
func plan(seqs []Sequence, limit int, split bool) []chunk {
	order := groupByPrompt(seqs)
	var out []chunk
	rows := 0
	var last *Sequence
	for i := 0; i < len(order); {
		s := &seqs[order[i].seq]
		cost := len(s.Prompt) + len(s.Action) - 1
		fresh := len(out) == 0 || rows+cost > limit || split && s.Grads != last.Grads
		if fresh {
			out = append(out, chunk{})
			rows = 0
		}
		c := &out[len(out)-1]
		f := family{seqs: []int{order[i].seq}}
		rows += cost
		j := i + 1
		for ; j < len(order) && order[j].group == order[i].group; j++ {
			more := len(seqs[order[j].seq].Action) - 1
			if rows+more > limit {
				break
			}
			rows += more
			f.seqs = append(f.seqs, order[j].seq)
		}
		c.families = append(c.families, f)
		c.rows = rows
		last = s
		i = j
	}
	return out
}

type grouped struct{ part, group, seq int }

// groupByPrompt sorts by first appearance of (gradients, adapter), then of the
// prompt, then by index.
func groupByPrompt(seqs []Sequence) []grouped {
	type owner struct {
		grads   *Grads
		adapter *lora.Adapter
	}
	parts, groups := map[owner]int{}, map[string]int{}
	order := make([]grouped, 0, len(seqs))
	var key []byte
	for i := range seqs {
		s := &seqs[i]
		if len(s.Action) == 0 {
			continue
		}
		o := owner{s.Grads, s.Adapter}
		part, ok := parts[o]
		if !ok {
			part = len(parts)
			parts[o] = part
		}
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(part))
		for _, id := range s.Prompt {
			key = binary.LittleEndian.AppendUint32(key, uint32(id))
		}
		g, ok := groups[string(key)]
		if !ok {
			g = len(groups)
			groups[string(key)] = g
		}
		order = append(order, grouped{part, g, i})
	}
	slices.SortStableFunc(order, func(a, b grouped) int {
		if a.part != b.part {
			return a.part - b.part
		}
		return a.group - b.group
	})
	return order
}

// load lays a chunk out in rows and spans.
func (p *pass) load(seqs []Sequence, c *chunk, grads *Grads) {
	p.ids, p.pos = p.ids[:0], p.pos[:0]
	p.adapters = p.adapters[:0]
	h := &p.head
	h.rows, h.targets, h.bounds = h.rows[:0], h.targets[:0], append(h.bounds[:0], 0)
	first := p.spans[0][:0]
	for i := range c.families {
		f := &c.families[i]
		f.from, f.span0 = len(p.ids), len(first)
		prompt := seqs[f.seqs[0]].Prompt
		p.push(prompt, 0)
		if len(f.seqs) > 1 {
			first = append(first, kernels.Span{Row: f.from, Rows: len(prompt)})
		}
		for _, s := range f.seqs {
			act := seqs[s].Action
			h.rows = append(h.rows, int32(f.from+len(prompt)-1))
			start := len(p.ids)
			for j := range len(act) - 1 {
				h.rows = append(h.rows, int32(start+j))
			}
			h.targets = append(h.targets, act...)
			h.bounds = append(h.bounds, len(h.rows))
			p.push(act[:len(act)-1], len(prompt))
			if len(f.seqs) == 1 {
				first = append(first, kernels.Span{Row: f.from, Rows: len(p.ids) - f.from})
			} else if len(act) > 1 {
				first = append(first, kernels.Span{Row: start, Rows: len(act) - 1})
			}
		}
		f.to, f.span1 = len(p.ids), len(first)
		p.pushAdapter(&seqs[f.seqs[0]], f, grads)
	}
	p.spans[0] = first
	p.size()
	p.ownCaches(c)
}

func (p *pass) push(ids []int32, pos int) {
	for i, id := range ids {
		p.ids = append(p.ids, id)
		p.pos = append(p.pos, int32(pos+i))
	}
}

func (p *pass) pushAdapter(s *Sequence, f *family, grads *Grads) {
	if s.Adapter == nil {
		return
	}
	if s.Grads != nil {
		grads = s.Grads
	}
	if n := len(p.adapters); n > 0 {
		if a := &p.adapters[n-1]; a.adapter == s.Adapter && a.grads == grads && a.to == f.from {
			a.to = f.to
			return
		}
	}
	p.adapters = append(p.adapters, adapterRows{f.from, f.to, s.Adapter, grads})
}

// ownCaches gives every span of every layer a key-value cache in the pass's own
// memory; the first span of a family of several is the others' prefix.
func (p *pass) ownCaches(c *chunk) {
	spans, layers := len(p.spans[0]), len(p.spans)
	total := 0
	for i := range p.spans[0] {
		k, v, _ := p.att.CacheLen(p.spans[0][i].Rows)
		total += k + v
	}
	if n := spans * layers; cap(p.caches) < n {
		p.caches = make([]kernels.KVCache, n+n/4)
	}
	p.caches = p.caches[:spans*layers]
	all := floats(&p.kv, total*(layers-max(p.shared-1, 0)))
	for l := range p.spans {
		mem := all[max(0, l-max(p.shared-1, 0))*total:]
		if l > 0 {
			p.spans[l] = append(p.spans[l][:0], p.spans[0]...)
		}
		for i := range p.spans[l] {
			s, kc := &p.spans[l][i], &p.caches[l*spans+i]
			k, v, n := p.att.CacheLen(s.Rows)
			*kc = kernels.KVCache{K: mem[:k:k], V: mem[k : k+v : k+v], Cap: n, Row: s.Row, Rounded: p.m.kv16}
			mem = mem[k+v:]
			s.Own = kc
		}
		for _, f := range c.families {
			if len(f.seqs) > 1 {
				for i := f.span0 + 1; i < f.span1; i++ {
					p.spans[l][i].Prefix = p.spans[l][f.span0].Own
				}
			}
		}
	}
}
