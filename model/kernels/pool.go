package kernels

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool is a fixed set of persistent workers. The goroutine that calls a method
// works along, so NewPool(1) starts none. A nil *Pool is valid and does all work
// on the caller. Calls from several goroutines take turns; f must not call the
// pool it runs on.
type Pool struct {
	workers int
	mu      sync.Mutex // held for one Run
	f       func(worker, i int)
	// word is n<<32 | next: the number of items of the present run and the next
	// one to claim. A worker that comes late for a run finds next >= n in the
	// same word it claimed from and touches nothing.
	word    atomic.Uint64
	done    atomic.Int64
	epoch   atomic.Uint64 // counts runs; workers spin and park on it
	asleep  atomic.Int32
	wake    chan struct{}
	finish  chan struct{}
	waiting atomic.Bool // the caller of Run is parked on finish
	closed  atomic.Bool
	gemm    gemmRun // operands of the product in hand, kept here so that a call allocates nothing
	runGemm func(worker, i int)
}

// spins bounds the busy wait of workers (some tens of microseconds): long enough to
// bridge two products of a forward pass, short enough not to starve the machine.
const spins = 2000

// NewPool returns a pool of n workers, the caller of Run being one of them.
func NewPool(n int) *Pool {
	p := &Pool{workers: max(n, 1), wake: make(chan struct{}, max(n, 1)), finish: make(chan struct{}, 1)}
	p.runGemm = func(_, i int) { p.gemm.item(i) }
	for w := 1; w < p.workers; w++ {
		go p.work(w)
	}
	return p
}

var defaultPool = sync.OnceValue(func() *Pool { return NewPool(runtime.GOMAXPROCS(0)) })

// Default returns the process's pool of GOMAXPROCS workers, made on first use.
func Default() *Pool { return defaultPool() }

// Workers returns the number of workers; 1 for a nil pool.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return p.workers
}

// Close ends the workers. The pool must be idle and isn't used again.
func (p *Pool) Close() {
	if p == nil || p.closed.Swap(true) {
		return
	}
	p.epoch.Add(1)
	close(p.wake)
}

// Run calls f(worker, i) once for every i in [0, n) and returns when all calls
// have. Workers claim items in order as they become free, so which worker runs an
// item may vary: results must not depend on it. worker is in [0, Workers()) and no
// two calls with the same worker overlap.
func (p *Pool) Run(n int, f func(worker, i int)) {
	if p == nil || p.workers == 1 || n == 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	if n <= 0 {
		return
	}
	p.mu.Lock()
	p.start(n, f)
	p.mu.Unlock()
}

// start runs n items; p.mu is held.
func (p *Pool) start(n int, f func(worker, i int)) {
	p.f = f
	p.done.Store(0)
	p.word.Store(uint64(n) << 32)
	p.epoch.Add(1)
	for k := min(p.asleep.Load(), int32(n-1)); k > 0; k-- {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.claim(0)
	p.await(int64(n))
}

// await returns when n items are done: it spins, then parks. A token in finish
// may be a late one from the run before, so the count decides.
func (p *Pool) await(n int64) {
	for k := 0; p.done.Load() < n; k++ {
		if k < spins {
			pause()
			continue
		}
		p.waiting.Store(true)
		if p.done.Load() < n || !p.waiting.Swap(false) {
			<-p.finish
		}
	}
}

// claim works on items until none is left.
func (p *Pool) claim(worker int) {
	for {
		w := p.word.Add(1) - 1
		n, i := int64(w>>32), int64(w&(1<<32-1))
		if i >= n {
			return
		}
		p.f(worker, int(i))
		if p.done.Add(1) == n && p.waiting.Swap(false) {
			p.finish <- struct{}{}
		}
	}
}

func (p *Pool) work(worker int) {
	var seen uint64
	for {
		for k := 0; p.epoch.Load() == seen; k++ {
			if k < spins {
				pause()
				continue
			}
			p.asleep.Add(1)
			if p.epoch.Load() == seen {
				<-p.wake
			}
			p.asleep.Add(-1)
			break
		}
		if p.closed.Load() {
			return
		}
		seen = p.epoch.Load()
		p.claim(worker)
	}
}
