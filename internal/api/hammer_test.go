package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// hammerOn has eight goroutines do something a thousand times each.
func hammerOn(do func(worker, n int)) {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 1000 {
				do(w, n)
			}
		})
	}
	wg.Wait()
}

// TestHammer uses everything of the server that requests share from many
// goroutines at once; the race detector watches.
func TestHammer(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	s, err := Listen(Options{Addr: "127.0.0.1:0", DB: db, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	writing, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 1; writing.Err() == nil; n++ {
			addIteration(t, w, n)
			time.Sleep(5 * time.Millisecond)
		}
	})
	t.Run("answers", func(t *testing.T) { hammerAnswers(t, s) })
	t.Run("commits", func(t *testing.T) { hammerCommits(s) })
	t.Run("repeats", func(t *testing.T) { hammerRepeats(t, s) })
	t.Run("metrics", func(t *testing.T) {
		hammerOn(func(worker, n int) {
			s.metrics.judged("code", "AC", time.Now())
			s.metrics.requests.WithLabelValues("/api/runs", "GET", "200").Inc()
			if n%100 == 0 {
				if _, err := s.metrics.registry.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	})
	stop()
	writer.Wait()
	s.giveUp()
	s.repeats.wg.Wait()
	s.door.Close()
	if err := s.commits.close(); err != nil {
		t.Error(err)
	}
}

// hammerAnswers wants every answer to be of the question it is given to.
func hammerAnswers(t *testing.T, s *Server) {
	broken := errors.New("broken")
	hammerOn(func(worker, n int) {
		question := fmt.Sprint(n % 17)
		body, err := s.answers.get(t.Context(), question, func(context.Context) ([]byte, error) {
			if question == "13" {
				return nil, broken
			}
			return []byte(question), nil
		})
		if question == "13" {
			if !errors.Is(err, broken) {
				t.Errorf("the broken question gave %q, %v", body, err)
			}
		} else if err != nil || string(body) != question {
			t.Errorf("question %s gave %q, %v", question, body, err)
		}
	})
}

func hammerCommits(s *Server) {
	hammerOn(func(worker, n int) {
		wake, leave, ok := s.commits.join()
		if !ok {
			return
		}
		select {
		case <-wake:
		default:
		}
		leave()
	})
}

// hammerRepeats wants equal requests to share a run, and a run that nobody will
// ask for again to end.
func hammerRepeats(t *testing.T, s *Server) {
	var runs atomic.Int64
	hammerOn(func(worker, n int) {
		ctx, cancel := context.WithCancel(t.Context())
		if n%7 == 0 {
			cancel() // gives up at once
		}
		v, err := s.repeats.do(ctx, ctx, s, n, func(ctx context.Context) (any, error) {
			runs.Add(1)
			return n, ctx.Err()
		})
		cancel()
		if err == nil && v != n {
			t.Errorf("request %d got %v", n, v)
		}
		if err != nil && n%7 != 0 {
			t.Errorf("request %d: %v", n, err)
		}
	})
	if r := runs.Load(); r == 0 || r > 8000 {
		t.Errorf("%d runs for 8,000 requests", r)
	}
}

// TestHammerDoor opens and closes more connections than there are places for.
func TestHammerDoor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := newDoor(l, 4)
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			c, err := d.Accept()
			if err != nil {
				return
			}
			v := c.(*visitor)
			go func() {
				v.set(true)
				v.set(false)
				v.Close()
				v.Close()
			}()
		}
	}()
	hammerOn(func(worker, n int) {
		if n >= 50 {
			return // connections are slower than locks
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		c.Close()
		d.open()
	})
	d.Close()
	<-accepted
	for n := 0; d.open() > 0; n++ {
		if n > 100 {
			t.Fatalf("%d connections are still counted", d.open())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestServingLeavesNothing starts and stops servers with clients of each kind.
func TestServingLeavesNothing(t *testing.T) {
	w, db := liveLog(t)
	addIteration(t, w, 0)
	here := goleak.IgnoreCurrent()
	for range 3 {
		s, err := Listen(Options{Addr: "127.0.0.1:0", DB: db})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx) }()
		following := listen(t, t.Context(), "http://"+s.Addr()+"/api/runs/abc/stream", "")
		next(t, following, "iteration")
		(request{path: "/api/runs"}).do(t, s)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for range following { // until its end
		}
	}
	goleak.VerifyNone(t, here, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
