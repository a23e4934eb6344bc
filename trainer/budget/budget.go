// Package budget chooses how much of a training run fits a span of time: from
// what one episode takes on the machine at hand to tasks, rollouts and
// iterations. It only calculates; the measuring is the trainer's.
package budget

import (
	"fmt"
	"math"
	"time"
)

// Pace is what a calibration found, in seconds.
type Pace struct {
	Rollout float64 // to play an episode
	Update  float64 // to train on its calls, all of them with something to teach
	Eval    float64 // to play an episode of an evaluation
}

// Ask is what a run is to be fitted into. Numbers above 0 were given and stay.
type Ask struct {
	Time        time.Duration
	Tasks       int
	Rollouts    int
	Iterations  int
	EvalN       int // tasks of an evaluation
	EvalEvery   int // iterations between evaluations; 0: only before and after
	Greedy      bool
	Available   int // training tasks there are
	CalibratedS float64
}

// Plan is what was chosen, with the forecast for it.
type Plan struct {
	Tasks, Rollouts, Iterations int
	IterationS                  float64 // seconds of an iteration
	EvaluationS                 float64 // seconds of all evaluations
	TotalS                      float64
	Fits                        bool // false: even the smallest plan is forecast to take longer
}

// batches are the sizes to choose from, largest first: tasks, and rollouts of
// each.
var batches = [][2]int{{64, 8}, {32, 8}, {16, 8}, {8, 8}, {8, 4}, {4, 4}}

const (
	// enough updates for a batch to be worth its size; fewer, and a smaller
	// batch that is updated on more often learns more.
	enough = 100
	// fewest updates from which anything is to be expected.
	fewest = 40
	// most updates at a constant rate before a run gains little more.
	most = 200
	// settled is the cost of a run's iterations on average, against those of
	// its beginning: replies get shorter, and often all of a task's are right
	// and have nothing to teach. A run that does not get faster is ended by the
	// clock.
	settled = 0.6
	// margin of the time that is left unplanned.
	margin = 0.05
)

// Choose fits a run into the time asked for: the largest batch that leaves
// enough updates, else the smallest.
func Choose(p Pace, a Ask) Plan {
	var plan Plan
	for i, b := range batches {
		tasks, rollouts := given(a.Tasks, b[0]), given(a.Rollouts, b[1])
		if tasks > a.Available && a.Tasks == 0 && i < len(batches)-1 {
			continue
		}
		plan = fit(p, a, tasks, rollouts)
		need := enough
		if tasks*rollouts <= 64 {
			need = fewest
		}
		if a.Iterations == 0 && plan.Iterations >= need || a.Iterations > 0 && plan.Fits {
			break
		}
	}
	return plan
}

func given(asked, otherwise int) int {
	if asked > 0 {
		return asked
	}
	return otherwise
}

// fit is the plan for one size of batch.
func fit(p Pace, a Ask, tasks, rollouts int) Plan {
	plan := Plan{Tasks: tasks, Rollouts: rollouts, Iterations: a.Iterations}
	plan.IterationS = settled * float64(tasks*rollouts) * (p.Rollout + p.Update)
	once := float64(a.EvalN) * p.Eval
	ends := 2 * once
	if a.Greedy {
		ends *= 2
	}
	left := a.Time.Seconds()*(1-margin) - a.CalibratedS - ends
	each := plan.IterationS
	if a.EvalEvery > 0 {
		each += once / float64(a.EvalEvery)
	}
	if plan.Iterations == 0 {
		plan.Iterations = max(1, min(most, int(math.Max(0, left)/each)))
	}
	plan.EvaluationS = ends
	if a.EvalEvery > 0 {
		plan.EvaluationS += once * float64((plan.Iterations-1)/a.EvalEvery)
	}
	plan.TotalS = plan.EvaluationS + float64(plan.Iterations)*plan.IterationS
	plan.Fits = plan.TotalS+a.CalibratedS <= a.Time.Seconds()
	return plan
}

// String says what was chosen and why.
func (p Plan) String() string {
	s := fmt.Sprintf("%d tasks, %d rollouts, %d iterations: about %.1f s an iteration and %.0f s of evaluations, %s in all",
		p.Tasks, p.Rollouts, p.Iterations, p.IterationS, p.EvaluationS, time.Duration(p.TotalS*float64(time.Second)).Round(time.Second))
	if !p.Fits {
		s += ", which is more than the budget"
	}
	return s
}

// Worth reports whether a plan has enough updates for anything to be expected
// of it.
func (p Plan) Worth() bool { return p.Fits && p.Iterations >= fewest }
