package model

import (
	"fmt"
	"sync"
)

// turns makes chunks that run side by side call the loss in their order.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	next int
}

func newTurns() *turns {
	t := &turns{}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// wait returns when it is i's turn. Chunks are claimed in order, so the one
// that is waited for is running or done.
func (t *turns) wait(i int) {
	t.mu.Lock()
	for t.next < i {
		t.cond.Wait()
	}
	t.mu.Unlock()
}

func (t *turns) done() {
	t.mu.Lock()
	t.next++
	t.cond.Broadcast()
	t.mu.Unlock()
}

// chunkGrads gives the target of a chunk's gradients.
func chunkGrads(seqs []Sequence, c *chunk, grads *Grads) *Grads {
	if g := seqs[c.families[0].seqs[0]].Grads; g != nil {
		return g
	}
	return grads
}

// scratchGrads gives chunk i of a wave zeroed gradients like g.
func (m *Model) scratchGrads(i int, like *Grads) *Grads {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.grads) <= i {
		m.grads = append(m.grads, nil)
	}
	g := m.grads[i]
	if g == nil || len(g.flat) != len(like.flat) {
		g = NewGrads(like.params)
		m.grads[i] = g
	}
	g.Zero()
	return g
}

func (m *Model) checkBackward(seqs []Sequence, grads *Grads) error {
	if err := m.check(seqs); err != nil {
		return err
	}
	for i := range seqs {
		s := &seqs[i]
		g, want := s.Grads, m.layout.total
		if g == nil {
			g = grads
		}
		if s.Adapter != nil {
			want = s.Adapter.Size()
		} else if m.flat == nil {
			return fmt.Errorf("sequence %d: the model is frozen and there is no adapter to train", i)
		}
		if g == nil || len(g.flat) != want {
			return fmt.Errorf("sequence %d: gradients that don't fit %d parameters", i, want)
		}
		if (s.Adapter == nil) != (seqs[0].Adapter == nil) {
			return fmt.Errorf("sequence %d: base and adapters can't be trained in one batch", i)
		}
	}
	return nil
}
