package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"troupe/data/store"
)

// commitPoll is how often the database is asked whether anything was
// committed, while somebody follows a run.
const commitPoll = 250 * time.Millisecond

// commits tells those who follow runs that the database has changed. The
// trainer is another process, so there is nobody to be called by: one query
// for SQLite's own counter serves all of them.
type commits struct {
	watch *store.Watch
	log   *slog.Logger

	mu        sync.Mutex
	followers map[chan struct{}]bool
	stop      context.CancelFunc // of the polling; nil while nobody follows
	polling   sync.WaitGroup
}

// join adds a follower. Its channel gets a value after commits; one value may
// stand for several. ok is false when there are too many already.
func (c *commits) join() (wake <-chan struct{}, leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.followers) >= maxStreams {
		return nil, nil, false
	}
	ch := make(chan struct{}, 1)
	c.followers[ch] = true
	if c.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		c.stop = stop
		c.polling.Go(func() { c.poll(ctx) })
	}
	return ch, func() { c.leave(ch) }, true
}

func (c *commits) leave(ch chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.followers, ch)
	if len(c.followers) == 0 && c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

// poll wakes all followers whenever the counter has moved.
func (c *commits) poll(ctx context.Context) {
	tick := time.NewTicker(commitPoll)
	defer tick.Stop()
	seen := int64(-1) // wakes once at the start: a commit may have come before the first look
	for {
		v, err := within(ctx, c.watch.Version)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.log.Warn("watch the run database", "error", err.Error())
		case v != seen:
			seen = v
			c.wakeAll()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c *commits) wakeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.followers {
		select {
		case ch <- struct{}{}:
		default: // it has not looked since the last time
		}
	}
}

// close ends the polling.
func (c *commits) close() error {
	c.mu.Lock()
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.mu.Unlock()
	c.polling.Wait()
	return c.watch.Close()
}

// following is how many clients follow runs.
func (c *commits) following() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.followers)
}
