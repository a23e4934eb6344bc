package rollout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	eps, err := Play(context.Background(), w, Jobs(1, 0, tasks(8), 4), e, slow{})
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
	if _, err := Play(context.Background(), w, Jobs(1, 0, tasks(4), 4), &echo{fail: true}, slow{}); err == nil || err.Error() != "no power" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Play(ctx, w, Jobs(1, 0, tasks(4), 4), &echo{}, slow{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Many episodes with stages that end at different times, again and again.
func TestHammerPlay(t *testing.T) {
	for _, name := range []string{"single", "voting", "evalopt", "orch"} {
		w, _ := workflow.New(name, workflow.Options{Kind: data.Code, Defaults: true})
		for range 20 {
			if _, err := Play(context.Background(), w, Jobs(1, 0, tasks(16), 4), &echo{}, slow{}); err != nil {
				t.Fatal(name, err)
			}
		}
	}
}
