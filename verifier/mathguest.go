package verifier

import (
	"context"
	"fmt"
	"sync"

	"troupe/sandbox"
	"troupe/verifier/mathans"
	"troupe/verifier/mathans/guest"
)

// MathGuest judges math answers in the sandbox: the engine as a WASI module,
// with a hard limit on memory and fuel besides the engine's own work budget.
// Numbers that are written out are compared natively, which gives the same
// results. Its methods may be called from several goroutines; questions that
// wait while a batch runs make up the next batch.
type MathGuest struct {
	pool *sandbox.Pool
	wasm []byte

	mu      sync.Mutex
	waiting []*mathCall
	running int
}

// mathCall is a question that waits for its result.
type mathCall struct {
	q    mathans.Question
	r    mathans.Result
	err  error
	done chan struct{}
}

// The limits of a batch. An answer's work budget ends it long before the fuel.
const (
	mathBatch       = 512     // questions
	mathBatchBytes  = 4 << 20 // of gold answers and replies
	mathMemoryMB    = 64
	mathFuel        = 2e9 // ticks for starting
	mathFuelEach    = 5e7 // ticks a question
	mathReplyLimit  = 1 << 20
	mathTooLongRule = "reply too long for the sandbox"
)

// NewMathGuest returns a judge on the pool's workers. It does not own the pool.
func NewMathGuest(pool *sandbox.Pool) (*MathGuest, error) {
	wasm, err := guest.Wasm()
	if err != nil {
		return nil, err
	}
	return &MathGuest{pool: pool, wasm: wasm}, nil
}

// Judge judges one reply.
func (m *MathGuest) Judge(ctx context.Context, gold, reply string, opt mathans.Options) (mathans.Result, error) {
	if r, ok := mathans.Quick(gold, reply, opt); ok {
		return r, nil
	}
	if len(gold)+len(reply) > mathReplyLimit {
		return mathans.Result{Outcome: mathans.Undecided, Rule: mathTooLongRule}, nil
	}
	c := &mathCall{q: mathans.Question{Gold: gold, Reply: reply, Options: opt}, done: make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, c)
	start := m.running < m.pool.Workers()
	if start {
		m.running++
	}
	m.mu.Unlock()
	if start {
		go m.serve(context.WithoutCancel(ctx))
	}
	select {
	case <-c.done:
		return c.r, c.err
	case <-ctx.Done():
		return mathans.Result{}, ctx.Err()
	}
}

// JudgeBatch judges many replies; results come in their order.
func (m *MathGuest) JudgeBatch(ctx context.Context, qs []mathans.Question) ([]mathans.Result, error) {
	out, errs := make([]mathans.Result, len(qs)), make([]error, len(qs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4*mathBatch)
	for i, q := range qs {
		slots <- struct{}{}
		wg.Go(func() {
			out[i], errs[i] = m.Judge(ctx, q.Gold, q.Reply, q.Options)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// serve runs batches on one worker until nothing waits.
func (m *MathGuest) serve(ctx context.Context) {
	w, err := m.pool.Lease(ctx)
	if err == nil {
		defer w.Release()
	}
	for {
		batch := m.take()
		if len(batch) == 0 {
			return
		}
		if err != nil {
			finish(batch, err)
			continue
		}
		m.run(ctx, w, batch)
	}
}

// take removes the next batch from what waits; when nothing does, the server
// that asked has ended.
func (m *MathGuest) take() []*mathCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, size := 0, 0
	for n < len(m.waiting) && n < mathBatch {
		size += len(m.waiting[n].q.Gold) + len(m.waiting[n].q.Reply)
		if n > 0 && size > mathBatchBytes {
			break
		}
		n++
	}
	batch := m.waiting[:n:n]
	m.waiting = m.waiting[n:]
	if n == 0 {
		m.running--
		m.waiting = nil
	}
	return batch
}

// run judges a batch. A batch that the guest does not survive is halved; a
// question that it does not survive alone is undecided.
func (m *MathGuest) run(ctx context.Context, w *sandbox.Worker, batch []*mathCall) {
	qs := make([]mathans.Question, len(batch))
	for i, c := range batch {
		qs[i] = c.q
	}
	res, err := w.RunModule(ctx, sandbox.Module{Wasm: m.wasm, Stdin: mathans.AppendQuestions(nil, qs),
		Fuel: mathFuel + mathFuelEach*uint64(len(qs)), MemoryMB: mathMemoryMB})
	if err != nil {
		finish(batch, err)
		return
	}
	if res.Outcome == sandbox.OK {
		results, err := mathans.ReadResults(res.Stdout, len(batch))
		if err != nil {
			finish(batch, fmt.Errorf("math guest: %w", err))
			return
		}
		for i, c := range batch {
			c.r = results[i]
		}
		finish(batch, nil)
		return
	}
	if len(batch) > 1 {
		m.run(ctx, w, batch[:len(batch)/2])
		m.run(ctx, w, batch[len(batch)/2:])
		return
	}
	if res.Outcome == sandbox.Crash {
		finish(batch, fmt.Errorf("math guest: %s", res.Exception))
		return
	}
	batch[0].r = mathans.Result{Outcome: mathans.Undecided, Rule: "sandbox limit: " + string(res.Outcome)}
	finish(batch, nil)
}

func finish(batch []*mathCall, err error) {
	for _, c := range batch {
		c.err = err
		close(c.done)
	}
}
