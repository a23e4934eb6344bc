package rollout

import (
	"context"
	"fmt"
	"sync"

	"troupe/trainer/workflow"
)

// stage counts who is doing what. An episode runs, waits for a reply, or is
// judged. It runs for moments only, so a line that wants requests waits until
// nobody runs: what belongs together then comes together.
type stage struct {
	srv    Server
	cancel func()

	mu      sync.Mutex
	change  sync.Cond
	running int
	left    int // episodes that have not ended
	lines   []line
	asking  map[*seat]bool // who waits for replies
	failed  error
}

// line is what one line of the server has to do.
type line struct {
	queue []ticket
	given []ticket // by number
}

// ticket is one request of a seat.
type ticket struct {
	*seat
	place int // among the seat's requests
	req   workflow.Request
}

func newStage(srv Server, episodes int, cancel func()) *stage {
	s := &stage{srv: srv, cancel: cancel, running: episodes, left: episodes, lines: make([]line, srv.Lines()), asking: map[*seat]bool{}}
	s.change.L = &s.mu
	return s
}

// ask lines a seat's requests up.
func (s *stage) ask(t *seat, reqs []workflow.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.asking[t] = true
	for i := range reqs {
		n, err := s.srv.Line(&reqs[i])
		if err != nil {
			s.fail(err)
		}
		if s.failed != nil {
			break
		}
		s.lines[n].queue = append(s.lines[n].queue, ticket{t, i, reqs[i]})
	}
	if s.failed != nil && s.asking[t] {
		s.release(t, s.failed)
	}
	s.settle()
}

// settle wakes the lines once nobody runs; s.mu is held.
func (s *stage) settle() {
	if s.running == 0 {
		s.change.Broadcast()
	}
}

// release lets a seat go on; s.mu is held.
func (s *stage) release(t *seat, err error) {
	if err != nil {
		t.samples, t.err = nil, err
	}
	delete(s.asking, t)
	s.running++
	close(t.reply)
}

// fail ends everything with an error: nobody is left waiting. s.mu is held.
func (s *stage) fail(err error) {
	if s.failed == nil {
		s.failed = err
		s.cancel()
	}
	for t := range s.asking {
		s.release(t, s.failed)
	}
	s.change.Broadcast()
}

func (s *stage) judging() {
	s.mu.Lock()
	s.running--
	s.settle()
	s.mu.Unlock()
}

func (s *stage) judged() {
	s.mu.Lock()
	s.running++
	s.mu.Unlock()
}

// leave is the end of an episode. One that ends in an error ends all.
func (s *stage) leave(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.left--
	if err != nil {
		s.fail(err)
	}
	s.settle()
}

// serve is the work of one line from the first request to the last.
func (s *stage) serve(ctx context.Context, l *line, n int) {
	err := s.srv.Serve(ctx, n,
		func(idle bool) []workflow.Request { return s.more(l, idle) },
		func(n int, sample workflow.Sample) { s.done(l, n, sample) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.left > 0 && s.failed == nil {
		err = fmt.Errorf("line %d ended before its %d episodes", n, s.left)
	}
	if err != nil {
		s.fail(err)
	}
}

// more hands out what waits for a line. If that is nothing, an idle line waits
// for it, until all episodes have ended.
func (s *stage) more(l *line, idle bool) []workflow.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.failed == nil && (s.running > 0 || idle && len(l.queue) == 0 && s.left > 0) {
		s.change.Wait()
	}
	if s.failed != nil {
		return nil
	}
	reqs := make([]workflow.Request, len(l.queue))
	for i := range l.queue {
		reqs[i] = l.queue[i].req
	}
	l.given = append(l.given, l.queue...)
	l.queue = nil
	return reqs
}

// done is told of a sample. A seat goes on when it has all of its samples.
func (s *stage) done(l *line, n int, sample workflow.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := l.given[n]
	l.given[n] = ticket{}
	if s.failed != nil {
		return // everybody has been told
	}
	t.samples[t.place] = sample
	if t.missing--; t.missing == 0 {
		s.release(t.seat, nil)
	}
}

// Batches is the server made of a generator that knows nothing of lines: it gets
// a batch whenever everybody waits.
func Batches(g workflow.Generator) Server { return batches{g} }

type batches struct{ gen workflow.Generator }

func (batches) Lines() int                          { return 1 }
func (batches) Line(*workflow.Request) (int, error) { return 0, nil }

func (b batches) Serve(ctx context.Context, _ int, more func(bool) []workflow.Request, done func(int, workflow.Sample)) error {
	n := 0
	for {
		reqs := more(true)
		if len(reqs) == 0 {
			return nil
		}
		samples, err := b.gen.Generate(ctx, reqs)
		if err != nil {
			return err
		}
		if len(samples) != len(reqs) {
			return fmt.Errorf("generator answered %d of %d requests", len(samples), len(reqs))
		}
		for _, s := range samples {
			done(n, s)
			n++
		}
	}
}
