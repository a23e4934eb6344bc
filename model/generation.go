package model

import (
	"context"
	"sync"
)

// job is a request in work and what has come of it.
type job struct {
	GenRequest
	GenResult
	number int // in order of arrival
	limit  int // tokens it can give
}

// generation is one call of Serve: the requests that wait, and the lanes that
// take them.
type generation struct {
	*Decoder
	more   func(idle bool) ([]GenRequest, error)
	done   func(n int, r GenResult)
	cancel context.CancelCauseFunc
	lanes  int

	mu       sync.Mutex
	change   sync.Cond
	families [][]*job // not handed out yet, by prompt and adapter
	waiting  int      // requests in families
	working  int      // requests handed out and not done
	arrived  int      // requests so far
	used     int64    // bytes of keys and values promised
	busy     int      // lanes that don't rest
	over     bool     // every lane rested and nothing waited
}

// Serve continues prompts as they come. Whenever places are free it asks more
// for the requests that have come since, and hands each result to done by the
// request's number, counted from 0 in the order in which more gave them out.
// While something is in work, more(false) must not wait for long. Otherwise
// more(true) may wait, and nothing from it ends the generation.
//
// more is called by one goroutine at a time, done by several.
func (d *Decoder) Serve(ctx context.Context, more func(idle bool) ([]GenRequest, error), done func(n int, r GenResult)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &generation{Decoder: d, more: more, done: done, cancel: cancel}
	g.change.L = &g.mu
	run := func(_, _ int) {
		l := d.m.takeLane(g)
		l.run(ctx)
		d.m.giveLane(l)
	}
	for ctx.Err() == nil && g.begin() {
		if g.lanes == 1 {
			run(0, 0)
		} else {
			d.m.pool.Run(g.lanes, run)
		}
	}
	return context.Cause(ctx)
}

// begin waits for requests and reports whether there are any. Small models get
// a lane for every worker.
func (g *generation) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = false
	for came := -1; g.waiting == 0 && came != g.arrived; {
		came = g.arrived // some may need no work
		g.poll(true)
	}
	g.lanes = 1
	if g.m.small() {
		g.lanes = max(1, min(g.m.pool.Workers(), g.waiting))
	}
	return g.waiting > 0
}

// poll takes in what has come; g.mu is held.
func (g *generation) poll(idle bool) {
	reqs, err := g.more(idle)
	if err == nil {
		err = g.check(reqs)
	}
	if err != nil {
		g.cancel(err)
		return
	}
	if g.add(reqs); len(reqs) > 0 {
		g.change.Broadcast()
	}
}

// add lines requests up, equal prompts together.
func (g *generation) add(reqs []GenRequest) {
	jobs := make([]job, len(reqs))
	n := 0
	for i := range reqs {
		jobs[i] = job{GenRequest: reqs[i], number: g.arrived + i, limit: g.limit(&reqs[i])}
		n += jobs[i].limit
	}
	g.arrived += len(reqs)
	ids, lps := make([]int32, n), make([]float32, n)
	for i := range jobs {
		j := &jobs[i]
		j.GenResult = GenResult{IDs: ids[:0:j.limit], LogProbs: lps[:0:j.limit], Finish: FinishLength}
		ids, lps = ids[j.limit:], lps[j.limit:]
		if j.limit == 0 {
			g.done(j.number, j.GenResult)
		}
	}
	for _, f := range families(reqs) {
		family := make([]*job, len(f))
		for k, i := range f {
			family[k] = &jobs[i]
		}
		g.families = append(g.families, family)
		g.waiting += len(f)
	}
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

// take gives requests of one family to a lane that has some in work already,
// no more than the lane's share, or the others would stand idle, and no more
// than the memory has room for, unless the lane has nothing else.
func (g *generation) take(inWork int) []*job {
	g.mu.Lock()
	defer g.mu.Unlock()
	if inWork >= g.opt.Slots {
		return nil
	}
	g.poll(false)
	n := min(g.opt.Slots, (g.waiting+g.working+g.lanes-1)/g.lanes) - inWork
	if g.waiting == 0 || n <= 0 {
		return nil
	}
	f := g.families[0]
	cost := g.bytes(len(f[0].Prompt))
	k := 0
	for k < min(n, len(f)) {
		more := g.slotBytes(f[k].limit)
		if g.used+cost+more > g.opt.KVBytes && inWork+k > 0 {
			break
		}
		cost += more
		k++
	}
	if k == 0 {
		return nil
	}
	g.used += cost
	g.waiting -= k
	g.working += k
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

// finish hands out a result.
func (g *generation) finish(j *job) {
	g.mu.Lock()
	g.working--
	g.mu.Unlock()
	g.done(j.number, j.GenResult)
}

// enter lets a lane begin. One that comes when all is over does not.
func (g *generation) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		g.busy++
	}
	return !g.over
}

// leave is the end of a lane.
func (g *generation) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy--; g.busy == 0 {
		g.over = true
		g.change.Broadcast()
	}
}

// rest makes a lane with nothing to do wait for requests as long as others
// work; false says that it has left.
func (g *generation) rest() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy--; g.busy == 0 {
		g.over = true
		g.change.Broadcast()
	}
	for !g.over && g.waiting == 0 {
		g.change.Wait()
	}
	if !g.over {
		g.busy++
	}
	return !g.over
}
