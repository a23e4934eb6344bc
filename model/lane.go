package model

import (
	"context"
	"runtime"
	"slices"

	"troupe/model/kernels"
	"troupe/model/lora"
)

// lane is one worker's part of a decoder: its slots and its workspace.
type lane struct {
	g      *generation
	p      *pass
	head   kernels.Head
	active []*slot
	fresh  []*slot // whose prompt is not computed yet; the first of each family does it
	idle   []*slot
	free   []*prefix
	picks  []pick
	logits []float32
	units  []*slot // whose rows a step computes
	draws  []sampler
	order  map[*lora.Adapter]int
}

// slot is a continuation in work.
type slot struct {
	req    int
	last   int32
	kv     []kernels.KVCache // per layer: the continuation's own positions
	prefix *prefix
	lead   bool // computes the prompt of its family
	prompt int
}

// prefix is a prompt's keys and values, shared by the slots that use it.
type prefix struct {
	kv    []kernels.KVCache
	users int
	bytes int64
	done  int // positions computed
	rows  int // of those, in this step
}

// prefillRows bounds the rows of prompts in a step: a long prompt is computed
// in pieces, which changes no bit and bounds the memory.
const prefillRows = 1024

// pick says that slot samples from row of the logits.
type pick struct {
	slot *slot
	row  int
}

// takeLane gives a free lane for a generation.
func (m *Model) takeLane(g *generation) *lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.lanes); n > 0 {
		l := m.lanes[n-1]
		m.lanes = m.lanes[:n-1]
		l.g = g
		return l
	}
	pool := m.pool
	if m.small() {
		pool = nil
	}
	return &lane{g: g, p: newPass(m, pool, false), head: kernels.Head{W: m.head}, order: map[*lora.Adapter]int{}}
}

// giveLane keeps a lane for the next generation; of a large model without its
// keys and values, whose memory training needs.
func (m *Model) giveLane(l *lane) {
	l.g = nil
	if !m.small() {
		l.idle, l.free = nil, nil
	}
	m.mu.Lock()
	m.lanes = append(m.lanes, l)
	m.mu.Unlock()
}

// run works until the requests are handed out and all slots are done.
func (l *lane) run(ctx context.Context) {
	for ctx.Err() == nil {
		l.admit()
		if len(l.active)+len(l.fresh) == 0 {
			if l.g.empty() {
				return
			}
			runtime.Gosched() // another lane holds the memory
			continue
		}
		l.step()
	}
	for _, s := range append(l.active, l.fresh...) {
		l.release(s)
	}
	l.active, l.fresh = l.active[:0], l.fresh[:0]
}

// admit takes requests while there are slots and memory.
func (l *lane) admit() {
	reqs := l.g.reqs
	for {
		busy := len(l.active) + len(l.fresh)
		seqs := l.g.take(l.g.slots-busy, busy == 0)
		if seqs == nil {
			break
		}
		n := len(reqs[seqs[0]].Prompt)
		pre := l.newPrefix(n)
		for i, r := range seqs {
			s := l.newSlot(l.g.limit(&reqs[r]))
			s.req, s.prefix, s.lead, s.prompt = r, pre, i == 0, n
			pre.users++
			l.fresh = append(l.fresh, s)
		}
	}
}

// caches makes kv hold n positions a layer, in its old memory if that is
// large enough.
func (l *lane) caches(kv []kernels.KVCache, n int) []kernels.KVCache {
	k, v, c := l.p.att.CacheLen(n)
	if kv == nil {
		kv = make([]kernels.KVCache, len(l.p.m.layers))
	}
	if len(kv) > 0 && cap(kv[0].K) < k {
		mem := make([]float32, len(kv)*(k+v))
		for i := range kv {
			kv[i].K, kv[i].V = mem[:k:k], mem[k:k+v:k+v]
			mem = mem[k+v:]
		}
	}
	for i := range kv {
		kv[i] = kernels.KVCache{K: kv[i].K[:cap(kv[i].K)][:k], V: kv[i].V[:cap(kv[i].V)][:v], Cap: c}
	}
	return kv
}

func (l *lane) newSlot(n int) *slot {
	s := &slot{}
	if k := len(l.idle); k > 0 {
		s, l.idle = l.idle[k-1], l.idle[:k-1]
	}
	s.kv = l.caches(s.kv, max(n, 1))
	return s
}

func (l *lane) newPrefix(n int) *prefix {
	pre := &prefix{}
	if k := len(l.free); k > 0 {
		pre, l.free = l.free[k-1], l.free[:k-1]
	}
	pre.kv, pre.users, pre.bytes, pre.done = l.caches(pre.kv, n), 0, l.g.bytes(n), 0
	return pre
}

// release gives a slot back, and its prefix with the last user.
func (l *lane) release(s *slot) {
	freed := l.g.bytes(l.g.limit(&l.g.reqs[s.req]))
	if s.prefix.users--; s.prefix.users == 0 {
		freed += s.prefix.bytes
		l.free = append(l.free, s.prefix)
	}
	s.prefix = nil
	l.idle = append(l.idle, s)
	l.g.freed(freed)
}

// step computes one token for every active slot and the prompts of the fresh
// ones, samples, and retires what is finished.
func (l *lane) step() {
	l.load()
	l.p.forward()
	l.sample()
	waiting := l.fresh[:0]
	for _, s := range l.fresh {
		if s.prefix.done < s.prompt {
			waiting = append(waiting, s)
		} else {
			l.active = append(l.active, s)
		}
	}
	l.fresh = waiting
	live := l.active[:0]
	for _, s := range l.active {
		r, res := &l.g.reqs[s.req], &l.g.out[s.req]
		switch {
		case slices.Contains(r.Stop, s.last):
			res.Finish = FinishStop
			l.release(s)
		case len(res.IDs) >= l.g.limit(r):
			l.release(s)
		default:
			live = append(live, s)
		}
	}
	l.active = live
}

// load lays out the step's rows: one a slot in work, the whole prompt for the
// first slot of each fresh family; the rows of one adapter together.
func (l *lane) load() {
	p, reqs := l.p, l.g.reqs
	p.ids, p.pos, p.adapters = p.ids[:0], p.pos[:0], p.adapters[:0]
	p.head.rows, l.picks = p.head.rows[:0], l.picks[:0]
	for i := range p.spans {
		p.spans[i] = p.spans[i][:0]
	}
	l.units = append(l.units[:0], l.active...)
	room := prefillRows
	for _, s := range l.fresh {
		if s.lead && room > 0 {
			s.prefix.rows = min(s.prompt-s.prefix.done, room)
			room -= s.prefix.rows
			l.units = append(l.units, s)
		}
	}
	l.sortByAdapter()
	for _, s := range l.units {
		r, from, row := &reqs[s.req], len(p.ids), len(p.head.rows)
		if !s.lead {
			p.ids = append(p.ids, s.last)
			p.pos = append(p.pos, int32(s.prompt+s.kv[0].Len))
			l.span(from, 1, s.kv, s.prefix.kv)
			l.picks = append(l.picks, pick{s, row})
		} else if !l.prefill(s, r.Prompt, row) {
			l.pushAdapter(r.Adapter, from)
			continue
		}
		p.head.rows = append(p.head.rows, int32(len(p.ids)-1))
		l.pushAdapter(r.Adapter, from)
	}
	p.size()
}

// prefill adds the next rows of a prompt. With its last row all slots of the
// family sample their first token from row of the logits.
func (l *lane) prefill(s *slot, prompt []int32, row int) (complete bool) {
	pre, from := s.prefix, len(l.p.ids)
	l.p.push(prompt[pre.done:pre.done+pre.rows], pre.done)
	l.span(from, pre.rows, pre.kv, nil)
	if pre.done += pre.rows; pre.done < len(prompt) {
		return false
	}
	for _, f := range l.fresh {
		if f.prefix == pre {
			l.picks = append(l.picks, pick{f, row})
		}
	}
	s.lead = false
	return true
}

// sortByAdapter keeps the rows of one adapter together, in order of first
// appearance.
func (l *lane) sortByAdapter() {
	reqs := l.g.reqs
	clear(l.order)
	for _, s := range l.units {
		a := reqs[s.req].Adapter
		if _, ok := l.order[a]; !ok {
			l.order[a] = len(l.order)
		}
	}
	if len(l.order) > 1 {
		slices.SortStableFunc(l.units, func(a, b *slot) int {
			return l.order[reqs[a.req].Adapter] - l.order[reqs[b.req].Adapter]
		})
	}
}

func (l *lane) pushAdapter(a *lora.Adapter, from int) {
	if a == nil {
		return
	}
	p, to := l.p, len(l.p.ids)
	if n := len(p.adapters); n > 0 && p.adapters[n-1].adapter == a {
		p.adapters[n-1].to = to
		return
	}
	p.adapters = append(p.adapters, adapterRows{from: from, to: to, adapter: a})
}

// span adds rows that continue own (after prefix) in every layer.
func (l *lane) span(row, rows int, own, pre []kernels.KVCache) {
	for i := range l.p.spans {
		s := kernels.Span{Row: row, Rows: rows, Own: &own[i]}
		if pre != nil {
			s.Prefix = &pre[i]
		}
		l.p.spans[i] = append(l.p.spans[i], s)
	}
}

// sample draws a token for every pick.
func (l *lane) sample() {
	p, c := l.p, &l.p.m.Config
	b, n := &p.head, len(p.head.rows)
	last := p.x[len(p.x)-1]
	floats(&b.x, n*c.Hidden)
	for i, r := range b.rows {
		copy(b.x[i*c.Hidden:][:c.Hidden], last[int(r)*c.Hidden:][:c.Hidden])
	}
	p.pool.RMSNorm(floats(&b.n, n*c.Hidden), c.Hidden, b.x, c.Hidden, n, c.Hidden, l.p.m.norm, float32(c.Eps), nil)
	floats(&l.logits, n*c.Vocab)
	l.head.Logits(p.pool, l.logits, b.n, c.Hidden, n)
	for len(l.draws) < p.pool.Workers() {
		l.draws = append(l.draws, sampler{})
	}
	draw := func(w, i int) {
		k := l.picks[i]
		r, res, head := &l.g.reqs[k.slot.req], &l.g.out[k.slot.req], l.head
		id, lp := l.draws[w].draw(&head, l.logits[k.row*c.Vocab:][:c.Vocab], l.g.opt.Vocab, r, len(res.IDs))
		res.IDs, res.LogProbs = append(res.IDs, id), append(res.LogProbs, lp)
		k.slot.last = id
	}
	p.pool.Run(len(l.picks), draw)
}
