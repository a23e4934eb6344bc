package rollout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/data"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// echo answers with the request's position and counts its batches.
type echo struct {
	mu      sync.Mutex
	batches []int
	fail    bool
}

func (e *echo) Generate(_ context.Context, reqs []workflow.Request) ([]workflow.Sample, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batches = append(e.batches, len(reqs))
	if e.fail {
		return nil, errors.New("no power")
	}
	out := make([]workflow.Sample, len(reqs))
	for i, r := range reqs {
		out[i].Text = fmt.Sprintf("%s.%d.%s.%d \\boxed{1}", r.Key.Task, r.Key.Rollout, r.Role.Name, r.Role.Slot)
	}
	return out, nil
}

type slow struct{}

func (slow) Verify(_ context.Context, _ data.Task, answer string) (verdict.Verdict, error) {
	time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
	return verdict.Verdict{Code: verdict.WA, Reason: answer}, nil
}

func tasks(n int) []data.Task {
	ts := make([]data.Task, n)
	for i := range ts {
		ts[i] = data.Task{ID: fmt.Sprint("t", i), Kind: data.Math}
	}
	return ts
}

func TestPlayBatchesWholeStages(t *testing.T) {
	w, _ := workflow.New("voting", workflow.Options{Kind: data.Math})
	e := &echo{}
	eps, err := Play(context.Background(), w, Jobs(1, 0, tasks(8), 4), Batches(e), slow{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(e.batches) != "[96 32]" {
		t.Errorf("batches %v, want all generators, then all aggregators", e.batches)
	}
	for i, ep := range eps {
		if ep.Task != fmt.Sprint("t", i/4) || ep.Rollout != i%4 {
			t.Fatalf("episode %d is %s/%d", i, ep.Task, ep.Rollout)
		}
		for _, c := range ep.Calls {
			if want := fmt.Sprintf("%s.%d.%s.%d \\boxed{1}", ep.Task, ep.Rollout, c.Role.Name, c.Role.Slot); c.Text != want {
				t.Fatalf("call got %q, want %q", c.Text, want)
			}
		}
	}
}

func TestPlayFailsAsAWhole(t *testing.T) {
	w, _ := workflow.New("single", workflow.Options{Kind: data.Math})
	if _, err := Play(context.Background(), w, Jobs(1, 0, tasks(4), 4), Batches(&echo{fail: true}), slow{}); err == nil || err.Error() != "no power" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Play(ctx, w, Jobs(1, 0, tasks(4), 4), Batches(&echo{}), slow{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Many episodes with stages that end at different times, again and again.
func TestHammerPlay(t *testing.T) {
	for _, name := range []string{"single", "voting", "evalopt", "orch"} {
		w, _ := workflow.New(name, workflow.Options{Kind: data.Code, Defaults: true})
		for range 20 {
			if _, err := Play(context.Background(), w, Jobs(1, 0, tasks(16), 4), Batches(&echo{}), slow{}); err != nil {
				t.Fatal(name, err)
			}
		}
	}
}

// gate is a verifier that holds the first task's verdict back until released.
type gate struct{ open chan struct{} }

func (g gate) Verify(_ context.Context, t data.Task, _ string) (verdict.Verdict, error) {
	if t.ID == "t0" {
		<-g.open
	}
	return verdict.Verdict{Code: verdict.AC, Reward: 1}, nil
}

// trickle has two lines, one for each of voting's roles, and answers one request
// at a time. It opens the gate once all aggregators have spoken.
type trickle struct {
	gate
	aggregators int
}

func (*trickle) Lines() int { return 2 }

func (*trickle) Line(r *workflow.Request) (int, error) {
	if r.Role.Name == "aggregator" {
		return 1, nil
	}
	return 0, nil
}

func (s *trickle) Serve(ctx context.Context, line int, more func(bool) []workflow.Request, done func(int, workflow.Sample)) error {
	var queue []workflow.Request
	for n := 0; ctx.Err() == nil; n++ {
		queue = append(queue, more(len(queue) == 0)...)
		if len(queue) == 0 {
			return nil
		}
		r := queue[0]
		queue = queue[1:]
		if line == 1 {
			if s.aggregators--; s.aggregators == 0 {
				close(s.open)
			}
		}
		done(n, workflow.Sample{Text: fmt.Sprintf("%s.%d.%s.%d \\boxed{1}", r.Key.Task, r.Key.Rollout, r.Role.Name, r.Role.Slot)})
	}
	return ctx.Err()
}

// Replies, the next role's replies and verdicts go on side by side: a verdict
// that comes only after everybody else has spoken holds nobody up.
func TestPlayOverlapsStagesAndVerdicts(t *testing.T) {
	w, _ := workflow.New("voting", workflow.Options{Kind: data.Math})
	g := gate{make(chan struct{})}
	eps, err := Play(context.Background(), w, Jobs(1, 0, tasks(8), 4), &trickle{g, 8 * 4}, g)
	if err != nil {
		t.Fatal(err)
	}
	for i, ep := range eps {
		for _, c := range ep.Calls {
			if want := fmt.Sprintf("t%d.%d.%s.%d \\boxed{1}", i/4, i%4, c.Role.Name, c.Role.Slot); c.Text != want {
				t.Fatalf("call got %q, want %q", c.Text, want)
			}
		}
	}
}

// An error of a verdict, of a line or of routing ends the play with that error.
func TestPlayEndsWithTheFirstError(t *testing.T) {
	w, _ := workflow.New("voting", workflow.Options{Kind: data.Math})
	for name, c := range map[string]struct {
		srv  Server
		v    workflow.Verifier
		want string
	}{
		"verdict": {Batches(&echo{}), broken{}, "task t"},
		"line":    {Batches(&echo{fail: true}), slow{}, "no power"},
		"routing": {lost{Batches(&echo{})}, slow{}, "nobody answers generator"},
		"early":   {quitter{Batches(&echo{})}, slow{}, "line 0 ended before its 16 episodes"},
	} {
		if _, err := Play(context.Background(), w, Jobs(1, 0, tasks(4), 4), c.srv, c.v); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

type broken struct{}

func (broken) Verify(context.Context, data.Task, string) (verdict.Verdict, error) {
	return verdict.Verdict{}, errors.New("closed")
}

type lost struct{ Server }

func (lost) Line(r *workflow.Request) (int, error) {
	return 0, fmt.Errorf("nobody answers %s", r.Role.Name)
}

type quitter struct{ Server }

func (quitter) Serve(context.Context, int, func(bool) []workflow.Request, func(int, workflow.Sample)) error {
	return nil
}
