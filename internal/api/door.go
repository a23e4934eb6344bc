package api

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// door is a listener that lets in a bounded number of connections. When all
// places are taken, whoever comes next takes that of the connection that has
// kept the server waiting longest: for its first request, its next one, or the
// rest of one. So slow and idle clients can't shut out others. Connections
// whose request is being answered keep their place; if all are, new ones wait.
type door struct {
	net.Listener
	limit int

	mu     sync.Mutex
	room   *sync.Cond // signalled when a place may be had
	inside map[*visitor]bool
	closed bool
}

func newDoor(l net.Listener, limit int) *door {
	d := &door{Listener: l, limit: limit, inside: map[*visitor]bool{}}
	d.room = sync.NewCond(&d.mu)
	return d
}

// visitor is a connection that came through a door.
type visitor struct {
	net.Conn
	door  *door
	since time.Time // it keeps us waiting since then
	busy  bool      // its request is being answered
	leave sync.Once
}

// Accept waits for a connection and for a place for it.
func (d *door) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.inside) >= d.limit && !d.closed {
		if idle := d.slowest(); idle != nil {
			delete(d.inside, idle)
			idle.Conn.Close()
			break
		}
		d.room.Wait()
	}
	if d.closed {
		c.Close()
		return nil, net.ErrClosed
	}
	v := &visitor{Conn: c, door: d, since: time.Now()}
	d.inside[v] = true
	return v, nil
}

// slowest is the connection that keeps us waiting longest, nil if none does.
func (d *door) slowest() *visitor {
	var s *visitor
	for v := range d.inside {
		if !v.busy && (s == nil || v.since.Before(s.since)) {
			s = v
		}
	}
	return s
}

// Close stops letting in.
func (d *door) Close() error {
	d.mu.Lock()
	d.closed = true
	d.room.Broadcast()
	d.mu.Unlock()
	return d.Listener.Close()
}

// open is how many connections there are.
func (d *door) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.inside)
}

// Close gives the place back.
func (v *visitor) Close() error {
	v.leave.Do(func() {
		v.door.mu.Lock()
		delete(v.door.inside, v)
		v.door.room.Signal()
		v.door.mu.Unlock()
	})
	return v.Conn.Close()
}

func (v *visitor) set(busy bool) {
	v.door.mu.Lock()
	v.busy, v.since = busy, time.Now()
	if !busy {
		v.door.room.Signal()
	}
	v.door.mu.Unlock()
}

// visitorKey is where a request's context has its connection.
type visitorKey struct{}

func withVisitor(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, c)
}

// setBusy notes whether a request's connection is being answered or keeps us
// waiting.
func setBusy(r *http.Request, busy bool) {
	if v, ok := r.Context().Value(visitorKey{}).(*visitor); ok {
		v.set(busy)
	}
}

// welcome is the middleware that keeps the place of a request that is being
// answered. One with a body is when the body is there: see read.
func welcome(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setBusy(r, !hasBody(r))
		defer setBusy(r, false)
		next.ServeHTTP(w, r)
	})
}
