package model

import (
	"context"
	"slices"
	"time"

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
	live   []*prefix // in use, for others with the same prompt
	picks  []pick
	firsts []first
	logits []float32
	units  []*slot // whose rows a step computes
	draws  []sampler
	order  map[*lora.Adapter]int
}

// slot is a continuation in work.
type slot struct {
	*job
	last   int32
	kv     []kernels.KVCache // per layer: the continuation's own positions
	prefix *prefix
	lead   bool // computes the prompt of its family
}

// prefix is a prompt's keys and values, shared by the slots that use it.
type prefix struct {
	prompt  []int32
	adapter *lora.Adapter
	kv      []kernels.KVCache
	logits  []float32 // after the prompt, once that is computed
	users   int
	bytes   int64
	done    int // positions computed
	rows    int // of those, in this step
}

// prefillRows bounds the rows of prompts in a step: a long prompt is computed
// in pieces, which changes no bit and bounds the memory.
const prefillRows = 1024

// pick says that slot samples from row of the step's logits, or, below 0, from
// those of its prefix.
type pick struct {
	slot *slot
	row  int
}

// first says which row of the step's logits comes after a prompt.
type first struct {
	prefix *prefix
	row    int
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
	l := &lane{g: g, p: newPass(m, pool, false), head: m.output(0), order: map[*lora.Adapter]int{}}
	l.p.steps = true // continuations of a prompt wait until it is computed
	return l
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

// run works until no request waits and all slots are done.
func (l *lane) run(ctx context.Context) {
	if !l.g.enter() {
		return
	}
	for ctx.Err() == nil {
		l.admit()
		if len(l.active)+len(l.fresh) > 0 {
			l.step()
		} else if ctx.Err() == nil && !l.g.rest() {
			return
		}
	}
	for _, s := range append(l.active, l.fresh...) {
		l.release(s)
	}
	l.active, l.fresh = l.active[:0], l.fresh[:0]
	l.g.leave()
}

// admit takes requests while there are slots and memory.
func (l *lane) admit() {
	for {
		jobs := l.g.take(len(l.active) + len(l.fresh))
		if jobs == nil {
			return
		}
		pre, known := l.prefixOf(jobs[0])
		for i, j := range jobs {
			s := l.newSlot(j.limit)
			s.job, s.prefix, s.lead = j, pre, i == 0 && !known
			pre.users++
			l.fresh = append(l.fresh, s)
		}
	}
}

// prefixOf is the prefix of a request's prompt: one that is in use already, or
// a new one.
func (l *lane) prefixOf(j *job) (pre *prefix, known bool) {
	for _, pre := range l.live {
		if pre.adapter == j.Adapter && slices.Equal(pre.prompt, j.Prompt) {
			l.g.freed(l.g.bytes(len(j.Prompt))) // no second one
			return pre, true
		}
	}
	pre = l.newPrefix(len(j.Prompt))
	pre.prompt, pre.adapter = j.Prompt, j.Adapter
	l.live = append(l.live, pre)
	return pre, false
}

// release gives a slot back, and its prefix with the last user.
func (l *lane) release(s *slot) {
	freed := l.g.slotBytes(s.limit)
	if pre := s.prefix; pre.users == 1 {
		freed += pre.bytes
		l.live = slices.DeleteFunc(l.live, func(p *prefix) bool { return p == pre })
		pre.prompt, pre.adapter = nil, nil
		l.free = append(l.free, pre)
	}
	s.prefix.users--
	s.job, s.prefix = nil, nil
	l.idle = append(l.idle, s)
	l.g.freed(freed)
}

// step computes one token for every active slot and the prompts of the fresh
// ones, samples, and retires what is finished.
func (l *lane) step() {
	began := time.Now()
	l.load()
	if len(l.units) > 0 {
		l.p.forward()
	}
	l.sample()
	l.g.opt.Meter.add(len(l.p.ids)-len(l.active), len(l.active), l.g.lanes, time.Since(began))
	waiting := l.fresh[:0]
	for _, s := range l.fresh {
		if s.prefix.done < len(s.Prompt) {
			waiting = append(waiting, s)
		} else {
			l.active = append(l.active, s)
		}
	}
	l.fresh = waiting
	live := l.active[:0]
	for _, s := range l.active {
		j := s.job
		stop := slices.Contains(j.Stop, s.last)
		if !stop && len(j.IDs) < j.limit {
			live = append(live, s)
			continue
		}
		if stop {
			j.Finish = FinishStop
		}
		l.release(s)
		l.g.finish(j)
	}
	l.active = live
}

// load lays out the step's rows: one a slot in work, the whole prompt for the
// first slot of each fresh family; the rows of one adapter together.
func (l *lane) load() {
	p := l.p
	p.ids, p.pos, p.adapters = p.ids[:0], p.pos[:0], p.adapters[:0]
	p.head.rows, l.picks, l.firsts = p.head.rows[:0], l.picks[:0], l.firsts[:0]
	for i := range p.spans {
		p.spans[i] = p.spans[i][:0]
	}
	l.units = append(l.units[:0], l.active...)
	room := prefillRows
	for _, s := range l.fresh {
		if s.prefix.done == len(s.Prompt) {
			l.picks = append(l.picks, pick{s, -1})
		} else if s.lead && room > 0 {
			s.prefix.rows = min(len(s.Prompt)-s.prefix.done, room)
			room -= s.prefix.rows
			l.units = append(l.units, s)
		}
	}
	l.sortByAdapter()
	for _, s := range l.units {
		from, row := len(p.ids), len(p.head.rows)
		if !s.lead {
			p.ids = append(p.ids, s.last)
			p.pos = append(p.pos, int32(len(s.Prompt)+s.kv[0].Len))
			l.span(from, 1, s.kv, s.prefix.kv)
			l.picks = append(l.picks, pick{s, row})
		} else if !l.prefill(s, row) {
			l.pushAdapter(s.Adapter, from)
			continue
		}
		p.head.rows = append(p.head.rows, int32(len(p.ids)-1))
		l.pushAdapter(s.Adapter, from)
	}
	p.size()
}

// prefill adds the next rows of a prompt. With its last row all slots of the
// family sample their first token from row of the logits.
func (l *lane) prefill(s *slot, row int) (complete bool) {
	pre, from := s.prefix, len(l.p.ids)
	l.p.push(s.Prompt[pre.done:pre.done+pre.rows], pre.done)
	l.span(from, pre.rows, pre.kv, nil)
	if pre.done += pre.rows; pre.done < len(s.Prompt) {
		return false
	}
	for _, f := range l.fresh {
		if f.prefix == pre {
			l.picks = append(l.picks, pick{f, row})
		}
	}
	l.firsts = append(l.firsts, first{pre, row})
	s.lead = false
	return true
}

// sortByAdapter keeps the rows of one adapter together, in order of first
// appearance.
func (l *lane) sortByAdapter() {
	clear(l.order)
	for _, s := range l.units {
		if _, ok := l.order[s.Adapter]; !ok {
			l.order[s.Adapter] = len(l.order)
		}
	}
	if len(l.order) > 1 {
		slices.SortStableFunc(l.units, func(a, b *slot) int {
			return l.order[a.Adapter] - l.order[b.Adapter]
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
	p, vocab, ld := l.p, l.p.m.Config.Vocab, l.head.Stride()
	l.score()
	for _, f := range l.firsts {
		f.prefix.logits = append(f.prefix.logits[:0], l.logits[f.row*ld:][:vocab]...)
	}
	for len(l.draws) < p.pool.Workers() {
		l.draws = append(l.draws, sampler{})
	}
	draw := func(w, i int) {
		k := l.picks[i]
		logits := k.slot.prefix.logits
		if k.row >= 0 {
			logits = l.logits[k.row*ld:][:vocab]
		}
		j, head := k.slot.job, l.head
		id, lp := l.draws[w].draw(&head, logits, l.g.opt.Vocab, &j.GenRequest, len(j.IDs))
		j.IDs, j.LogProbs = append(j.IDs, id), append(j.LogProbs, lp)
		k.slot.last = id
	}
	p.pool.Run(len(l.picks), draw)
}

// score computes the logits of the rows that are sampled from.
func (l *lane) score() {
	p, c, z := l.p, &l.p.m.Config, l.p.m.Config.sizes()
	b, n, ld := &p.head, len(p.head.rows), z.ld.hidden
	if n == 0 {
		return
	}
	last := p.x[len(p.x)-1]
	floats(&b.x, n*ld)
	for i, r := range b.rows {
		copy(b.x[i*ld:][:z.hidden], last[int(r)*ld:][:z.hidden])
	}
	p.pool.RMSNorm(floats(&b.n, n*ld), ld, b.x, ld, n, z.hidden, l.p.m.norm, float32(c.Eps), nil)
	floats(&l.logits, n*l.head.Stride())
	l.head.Logits(p.pool, l.logits, b.n, ld, n)
}
