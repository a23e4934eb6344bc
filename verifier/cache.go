package verifier

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"troupe/verifier/verdict"
)

// key is the hash of everything a verdict depends on.
type key [sha256.Size]byte

// key hashes the tests, the program, the limits and how they are compared.
func (j *Judge) key(it Item, source string) key {
	h := sha256.New()
	var n [8]byte
	put := func(s string) {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	how, _ := json.Marshal(struct{ Limits, Code, Guest any }{it.Task.Limits, j.options(it), j.guest()})
	put(string(how))
	put(source)
	put(it.Task.Fn)
	put(it.Task.Checker)
	for _, t := range it.Task.Tests {
		put(t.Input)
		put(t.Output)
		put(t.Assert)
		if t.Wrapped {
			put("wrapped")
		}
	}
	var k key
	h.Sum(k[:0])
	return k
}

// cache keeps the verdicts given last. Equal questions that are asked at the
// same time are answered by one run.
type cache struct {
	size int

	mu    sync.Mutex
	known map[key]*list.Element // of *entry
	used  list.List             // most recent first
}

// entry is a verdict, or the promise of one until done is closed.
type entry struct {
	key  key
	done chan struct{}
	v    verdict.Verdict
	err  error
}

func newCache(size int) *cache { return &cache{size: size, known: map[key]*list.Element{}} }

// get returns the verdict on k, made by ask if it is not known. Failures and
// infrastructure errors are not kept: the next one to ask tries again.
func (c *cache) get(ctx context.Context, k key, ask func() (verdict.Verdict, error)) (verdict.Verdict, error) {
	if c.size < 0 {
		return ask()
	}
	for {
		e, mine := c.claim(k)
		if mine {
			return c.fill(e, ask)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return verdict.Verdict{}, ctx.Err()
		}
		if e.err == nil && e.v.Code != verdict.IE {
			v := e.v
			v.Cached = true
			return v, nil
		}
		if err := ctx.Err(); err != nil {
			return verdict.Verdict{}, err
		}
	}
}

// claim returns the entry of k, and whether the caller has to fill it.
func (c *cache) claim(k key) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.known[k]; ok {
		c.used.MoveToFront(el)
		return el.Value.(*entry), false
	}
	e := &entry{key: k, done: make(chan struct{})}
	c.known[k] = c.used.PushFront(e)
	return e, true
}

func (c *cache) fill(e *entry, ask func() (verdict.Verdict, error)) (verdict.Verdict, error) {
	e.v, e.err = ask()
	c.mu.Lock()
	if e.err != nil || e.v.Code == verdict.IE {
		c.drop(c.known[e.key])
	}
	for c.used.Len() > c.size {
		c.drop(c.used.Back())
	}
	c.mu.Unlock()
	close(e.done)
	return e.v, e.err
}

// drop forgets an element; whoever waits for it still has the entry.
func (c *cache) drop(el *list.Element) {
	if el == nil {
		return
	}
	delete(c.known, el.Value.(*entry).key)
	c.used.Remove(el)
}
