// Package verifier turns answers into verdicts: math answers by the exact
// engine, programs by running them in the sandbox. It judges batches in
// parallel, keeps their order, and answers equal questions once.
//
// A Judge has no state that a verdict depends on. The same task and answer give
// the same verdict on any machine, under any load, cached or not, whatever
// happens to the worker processes meanwhile.
package verifier

import (
	"context"
	"errors"
	"sync"

	"troupe/data"
	"troupe/sandbox"
	"troupe/verifier/code"
	"troupe/verifier/mathans"
	"troupe/verifier/verdict"
)

// Options configures a Judge.
type Options struct {
	// Pool runs programs, and the math engine. Without one code tasks get IE,
	// and math is judged in this process, with the same results.
	Pool *sandbox.Pool
	// CacheSize is how many verdicts on programs are kept; 0 means 4096, a
	// negative number none.
	CacheSize int
	Code      code.Options
	Math      mathans.Options
	// DAPO judges math as the scorer of the DAPO data set does, quirks
	// included, and pays -1 for a wrong answer.
	DAPO bool
}

// Judge judges answers. Its methods may be called from several goroutines.
type Judge struct {
	opt   Options
	cache *cache
	lease func(context.Context) (runner, error)
	width int // programs at once

	engine    *MathGuest // nil without a pool
	engineErr error

	mu    sync.Mutex
	stats Stats
}

// Stats counts what a Judge has done.
type Stats struct {
	Judged  int                  // verdicts given, cached ones included
	Cached  int                  // of them, answered from the cache
	ByCode  map[verdict.Code]int // all verdicts
	Missing map[string]int       // programs that wanted a module the guest lacks
	Fuel    uint64               // ticks spent
	Tests   int                  // tests run
	Retried int                  // runs repeated because a worker died
}

// Item is one question of a batch.
type Item struct {
	Task   data.Task
	Answer string // a model's reply
	// Source says that Answer is a program as it is, not a reply that holds one.
	Source bool
	// Options, if not nil, take the place of the judge's for programs.
	Options *code.Options
}

// options are how an item's program is judged.
func (j *Judge) options(it Item) code.Options {
	if it.Options != nil {
		return *it.Options
	}
	return j.opt.Code
}

// New returns a Judge. It does not own the pool.
func New(opt Options) *Judge {
	if opt.CacheSize == 0 {
		opt.CacheSize = 4096
	}
	j := &Judge{opt: opt, cache: newCache(opt.CacheSize), width: 1}
	j.stats.ByCode, j.stats.Missing = map[verdict.Code]int{}, map[string]int{}
	if opt.Pool != nil {
		j.width = opt.Pool.Workers()
		j.lease = func(ctx context.Context) (runner, error) { return opt.Pool.Lease(ctx) }
		j.engine, j.engineErr = NewMathGuest(opt.Pool)
	}
	return j
}

// Verify judges one reply. The error is about ctx or a closed pool only.
func (j *Judge) Verify(ctx context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	return j.One(ctx, Item{Task: t, Answer: answer})
}

// One judges one item.
func (j *Judge) One(ctx context.Context, it Item) (verdict.Verdict, error) {
	var v verdict.Verdict
	var err error
	if it.Task.Kind == data.Math {
		v, err = j.math(ctx, it)
	} else {
		v, err = j.code(ctx, it)
	}
	if err != nil {
		return verdict.Verdict{}, err
	}
	j.count(v)
	return v, nil
}

// VerifyBatch judges items in parallel; verdicts come in the items' order. Of
// equal items the first is judged and the others are marked as cached, however
// the work was scheduled.
func (j *Judge) VerifyBatch(ctx context.Context, items []Item) ([]verdict.Verdict, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]verdict.Verdict, len(items))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(len(items), 2*j.width) {
		wg.Go(func() {
			for i := range next {
				v, err := j.One(ctx, items[i])
				if err != nil {
					cancel(err)
					return
				}
				out[i] = v
			}
		})
	}
feed:
	for i := range items {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	j.markRepeats(items, out)
	return out, nil
}

// markRepeats makes the Cached flags of a batch a function of its order. Which
// of two equal items ran first is the scheduler's choice.
func (j *Judge) markRepeats(items []Item, out []verdict.Verdict) {
	first := map[key]int{}
	for i := range items {
		if items[i].Task.Kind == data.Math || out[i].Code == verdict.NA || out[i].Code == verdict.IE {
			continue
		}
		k := j.key(items[i], j.program(items[i]))
		if f, seen := first[k]; !seen {
			first[k] = i
		} else if out[f].Cached && !out[i].Cached {
			out[f].Cached, out[i].Cached = false, true
		}
	}
}

// program is the source in an item, which is known to have one.
func (j *Judge) program(it Item) string {
	if it.Source {
		return it.Answer
	}
	source, _ := j.options(it).Extract(it.Answer)
	return source
}

// code judges a program, or remembers that it did.
func (j *Judge) code(ctx context.Context, it Item) (verdict.Verdict, error) {
	if why := code.Check(it.Task); why != "" {
		return code.Refused(why), nil
	}
	source := it.Answer
	if !it.Source {
		var found bool
		if source, found = j.options(it).Extract(it.Answer); !found {
			return code.NoAnswer(it.Task), nil
		}
	}
	if j.lease == nil {
		return code.Refused("no sandbox to run programs in"), nil
	}
	return j.cache.get(ctx, j.key(it, source), func() (verdict.Verdict, error) {
		w := &leased{judge: j, lease: j.lease}
		defer w.release()
		v, err := code.Program(ctx, w, it.Task, source, j.options(it))
		v.Guest = j.guest()
		return v, err
	})
}

// guest is the prefix of the guest's sha256 that verdicts carry.
func (j *Judge) guest() string {
	if j.opt.Pool == nil {
		return ""
	}
	g := j.opt.Pool.Guest()
	return g[:min(len(g), 12)]
}

// math judges a math answer. That the engine's worker failed is no fault of
// the answer.
func (j *Judge) math(ctx context.Context, it Item) (verdict.Verdict, error) {
	gold, reply := it.Task.Gold, it.Answer
	switch {
	case it.Task.Answer == data.LastInteger:
		return lastInteger(gold, reply), nil
	case j.opt.DAPO:
		return dapoVerdict(mathans.DAPO(gold, reply, mathans.DAPOJanuary)), nil
	case j.engineErr != nil:
		return code.Refused("math engine: " + j.engineErr.Error()), nil
	case j.engine == nil:
		return mathVerdict(mathans.Judge(gold, reply, j.opt.Math)), nil
	}
	r, err := j.engine.Judge(ctx, gold, reply, j.opt.Math)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, sandbox.ErrClosed) {
			return verdict.Verdict{}, err
		}
		return code.Refused("math engine: " + err.Error()), nil
	}
	return mathVerdict(r), nil
}

// mathVerdict puts the engine's outcome in the terms of verdicts.
func mathVerdict(r mathans.Result) verdict.Verdict {
	v := verdict.Verdict{Total: 1, Trust: verdict.Host, Reason: r.Rule}
	switch r.Outcome {
	case mathans.Equal:
		v.Code, v.Reward, v.Passed = verdict.AC, 1, 1
	case mathans.Undecided:
		v.Code, v.Reason = verdict.WA, "undecided"
	case mathans.NoAnswer:
		v.Code = verdict.NA
	case mathans.BadGold:
		v.Code = verdict.IE
	default:
		v.Code = verdict.WA
	}
	return v
}

// dapoVerdict does so for DAPO's scorer, which pays -1 for a wrong answer.
func dapoVerdict(s mathans.DAPOScore) verdict.Verdict {
	v := verdict.Verdict{Code: verdict.WA, Total: 1, Trust: verdict.Host, Reward: s.Score, Reason: "dapo"}
	switch {
	case s.Correct:
		v.Code, v.Passed = verdict.AC, 1
	case !s.Found:
		v.Code = verdict.NA
	}
	return v
}

func (j *Judge) count(v verdict.Verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stats.Judged++
	j.stats.ByCode[v.Code]++
	if m, ok := code.MissingModule(v); ok {
		j.stats.Missing[m]++
	}
	if v.Cached {
		j.stats.Cached++
		return
	}
	j.stats.Fuel += v.Fuel
	j.stats.Tests += len(v.Tests)
}

// Stats is a copy of the counts so far.
func (j *Judge) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stats
	s.ByCode, s.Missing = map[verdict.Code]int{}, map[string]int{}
	for k, n := range j.stats.ByCode {
		s.ByCode[k] = n
	}
	for k, n := range j.stats.Missing {
		s.Missing[k] = n
	}
	return s
}
