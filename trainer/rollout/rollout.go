// Package rollout plays many episodes of a workflow at once. Each episode is
// plain sequential code in a goroutine of its own; whenever all of them wait,
// what they wait for goes to the generator as one batch. Verification runs
// beside it, so neither idles the other. What an episode says does not depend
// on the episodes it was batched with.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"troupe/data"
	"troupe/internal/prng"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Job is one episode to play.
type Job struct {
	Task data.Task
	Key  prng.Key // seed, iteration, task and rollout
}

// Jobs lays out n rollouts of every task for an iteration.
func Jobs(seed uint64, iteration int, tasks []data.Task, n int) []Job {
	jobs := make([]Job, 0, len(tasks)*n)
	for _, t := range tasks {
		for r := range n {
			jobs = append(jobs, Job{t, prng.Key{Seed: seed, Iteration: iteration, Task: t.ID, Rollout: r}})
		}
	}
	return jobs
}

// Play plays all jobs and returns their episodes in the jobs' order.
func Play(ctx context.Context, w workflow.Workflow, jobs []Job, g workflow.Generator, v workflow.Verifier) ([]workflow.Episode, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stage{gen: g, running: len(jobs)}
	s.change.L = &s.mu
	episodes := make([]workflow.Episode, len(jobs))
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() {
			defer s.leave()
			seat := &seat{stage: s, place: i, verifier: v}
			episodes[i], errs[i] = w.Run(ctx, job.Task, job.Key, seat, seat)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("task %s, rollout %d: %w", job.Task.ID, job.Key.Rollout, errs[i])
			}
		})
	}
	err := s.conduct(ctx, cancel)
	all.Wait()
	if err != nil {
		return nil, err
	}
	for _, e := range errs {
		if e != nil && !errors.Is(e, context.Canceled) {
			return nil, e
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return episodes, nil
}

// stage counts who is doing what. An episode is running, waiting for a reply,
// or being judged; a batch starts when nobody is running.
type stage struct {
	gen     workflow.Generator
	mu      sync.Mutex
	change  sync.Cond
	running int
	judging int
	waiting []*seat
}

// seat is one episode's place on the stage, and what it sees as generator and
// verifier.
type seat struct {
	*stage
	place    int
	verifier workflow.Verifier
	reqs     []workflow.Request
	samples  []workflow.Sample
	err      error
	reply    chan struct{}
}

// Generate waits for the batch that answers reqs.
func (t *seat) Generate(ctx context.Context, reqs []workflow.Request) ([]workflow.Sample, error) {
	if len(reqs) == 0 {
		return nil, nil
	}
	t.reqs, t.samples, t.err, t.reply = reqs, nil, nil, make(chan struct{})
	t.mu.Lock()
	t.waiting = append(t.waiting, t)
	t.running--
	t.change.Broadcast()
	t.mu.Unlock()
	<-t.reply // conduct always replies, with an error after a failure
	return t.samples, t.err
}

// Verify judges beside the batches of others.
func (t *seat) Verify(ctx context.Context, task data.Task, answer string) (verdict.Verdict, error) {
	t.mu.Lock()
	t.running--
	t.judging++
	t.change.Broadcast()
	t.mu.Unlock()
	v, err := t.verifier.Verify(ctx, task, answer)
	t.mu.Lock()
	t.running++
	t.judging--
	t.mu.Unlock()
	return v, err
}

func (s *stage) leave() {
	s.mu.Lock()
	s.running--
	s.change.Broadcast()
	s.mu.Unlock()
}

// conduct answers batches until every episode has left. After an error it goes
// on answering, with that error, so that nobody is left waiting.
func (s *stage) conduct(ctx context.Context, cancel func()) error {
	var failed error
	for {
		batch := s.next()
		if batch == nil {
			return failed
		}
		if failed == nil {
			if failed = s.answer(ctx, batch); failed != nil {
				cancel()
			}
		}
		s.mu.Lock()
		s.running += len(batch)
		s.mu.Unlock()
		for _, t := range batch {
			if failed != nil {
				t.samples, t.err = nil, failed
			}
			close(t.reply)
		}
	}
}

// next waits until nobody runs and takes those who wait for replies, in the
// order of their places; nil when all have left.
func (s *stage) next() []*seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.running > 0 || len(s.waiting) == 0 {
		if s.running == 0 && s.judging == 0 && len(s.waiting) == 0 {
			return nil
		}
		s.change.Wait()
	}
	batch := s.waiting
	s.waiting = nil
	return batch
}

func (s *stage) answer(ctx context.Context, batch []*seat) error {
	var reqs []workflow.Request
	for _, t := range batch {
		reqs = append(reqs, t.reqs...)
	}
	samples, err := s.gen.Generate(ctx, reqs)
	if err != nil {
		return err
	}
	if len(samples) != len(reqs) {
		return fmt.Errorf("generator answered %d of %d requests", len(samples), len(reqs))
	}
	for _, t := range batch {
		t.samples, samples = samples[:len(t.reqs):len(t.reqs)], samples[len(t.reqs):]
	}
	return nil
}
