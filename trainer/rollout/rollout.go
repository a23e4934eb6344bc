// Package rollout plays many episodes of a workflow at once. Each episode is
// plain sequential code in a goroutine of its own. What it asks for goes to the
// server at once and is decoded beside the requests of other episodes, whatever
// role they are of; an answer to be judged is judged meanwhile. So neither a long
// reply nor a slow verdict keeps the others from going on. What an episode says
// does not depend on the episodes it was batched with.
package rollout

import (
	"context"
	"fmt"
	"sync"

	"troupe/data"
	"troupe/internal/prng"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// Server answers requests as they come, in one or several lines that work side
// by side: one for each model.
type Server interface {
	Lines() int
	// Line says which line answers a request.
	Line(r *workflow.Request) (int, error)
	// Serve is a line's work. It takes requests from more whenever it has room
	// for them and hands each sample to done, by the request's number, counted
	// from 0 in the order in which more gave them out. While something is in
	// work it calls more(false), which does not wait for long; otherwise
	// more(true), and nothing from that is the end.
	Serve(ctx context.Context, line int, more func(idle bool) []workflow.Request, done func(n int, s workflow.Sample)) error
}

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
func Play(ctx context.Context, w workflow.Workflow, jobs []Job, srv Server, v workflow.Verifier) ([]workflow.Episode, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newStage(srv, len(jobs), cancel)
	episodes := make([]workflow.Episode, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() {
			seat := &seat{stage: s, verifier: v}
			var err error
			if episodes[i], err = w.Run(ctx, job.Task, job.Key, seat, seat); err != nil {
				err = fmt.Errorf("task %s, rollout %d: %w", job.Task.ID, job.Key.Rollout, err)
			}
			s.leave(err)
		})
	}
	for i := range s.lines {
		all.Go(func() { s.serve(ctx, &s.lines[i], i) })
	}
	all.Wait()
	if s.failed != nil {
		return nil, s.failed
	}
	return episodes, context.Cause(ctx)
}

// seat is one episode's place on the stage, and what it sees as generator and
// verifier.
type seat struct {
	*stage
	verifier workflow.Verifier
	samples  []workflow.Sample
	missing  int // samples that are not there yet
	err      error
	reply    chan struct{}
}

// Generate waits for the answers to reqs.
func (t *seat) Generate(ctx context.Context, reqs []workflow.Request) ([]workflow.Sample, error) {
	if len(reqs) == 0 {
		return nil, nil
	}
	t.samples, t.missing, t.err, t.reply = make([]workflow.Sample, len(reqs)), len(reqs), nil, make(chan struct{})
	t.ask(t, reqs)
	<-t.reply // comes in any case, with an error after a failure
	return t.samples, t.err
}

// Verify judges beside the work of others.
func (t *seat) Verify(ctx context.Context, task data.Task, answer string) (verdict.Verdict, error) {
	t.judging()
	defer t.judged()
	return t.verifier.Verify(ctx, task, answer)
}
