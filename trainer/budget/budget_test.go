package budget

import (
	"testing"
	"time"
)

func TestChoicesFitTheirBudget(t *testing.T) {
	pace := Pace{Rollout: .03, Update: .02, Eval: .02}
	last := Plan{}
	for _, minutes := range []int{4, 8, 15, 30, 60, 600} {
		p := Choose(pace, Ask{Time: time.Duration(minutes) * time.Minute, EvalN: 200, Greedy: true, EvalEvery: 10, Available: 5000})
		if !p.Worth() {
			t.Errorf("%d minutes: %v", minutes, p)
		}
		if p.Tasks*p.Rollouts*p.Iterations < last.Tasks*last.Rollouts*last.Iterations {
			t.Errorf("%d minutes train on fewer episodes than less time: %v after %v", minutes, p, last)
		}
		last = p
	}
	if last.Tasks != 64 {
		t.Errorf("ten hours are not spent on large batches: %v", last)
	}
}

func TestWhatIsGivenStays(t *testing.T) {
	ask := Ask{Time: time.Hour, Tasks: 5, Iterations: 7, Available: 100}
	p := Choose(Pace{Rollout: 1, Update: 1, Eval: 1}, ask)
	if p.Tasks != 5 || p.Iterations != 7 || p.Rollouts != 8 || !p.Fits {
		t.Errorf("%+v", p)
	}
	ask = Ask{Time: time.Minute, Tasks: 64, Rollouts: 8, Iterations: 100, Available: 100}
	if p = Choose(Pace{Rollout: 1, Update: 1, Eval: 1}, ask); p.Fits || p.Tasks != 64 || p.Rollouts != 8 || p.Iterations != 100 {
		t.Errorf("what can't fit is said to, or was changed: %+v", p)
	}
}

func TestTooLittleTimeIsSaid(t *testing.T) {
	p := Choose(Pace{Rollout: 1, Update: 1, Eval: 1}, Ask{Time: time.Minute, EvalN: 500, Available: 1000})
	if p.Fits || p.Worth() || p.Iterations != 1 || p.Tasks != 4 {
		t.Errorf("%+v", p)
	}
	if p = Choose(Pace{Rollout: .001, Update: .001}, Ask{Time: time.Hour, Available: 10}); p.Tasks > 10 {
		t.Errorf("more tasks than there are: %+v", p)
	}
}
