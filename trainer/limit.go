package trainer

import (
	"context"
	"fmt"
	"time"

	"troupe/data/store"
	"troupe/trainer/workflow"
)

// Time is the budget as a duration; 0 where there is none.
func (c *Config) Time() (time.Duration, error) {
	if c.Budget == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(c.Budget)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("budget: %q is no length of time such as 45m or 1h30m", c.Budget)
	}
	return d, nil
}

// limit keeps a run to its time. It decides only where the run ends, never what
// an iteration computes.
type limit struct {
	until     time.Time // zero: no limit
	iteration time.Duration
	closing   time.Duration // the evaluation at the end
}

// newLimit starts the clock: what the run's earlier sessions took is spent.
func newLimit(total time.Duration, spent float64) limit {
	if total == 0 {
		return limit{}
	}
	return limit{until: time.Now().Add(total - time.Duration(spent*float64(time.Second)))}
}

// saw learns from an iteration's phases how long the next will take. The
// first costs more than most: it is forgotten as soon as there are others.
func (l *limit) saw(timings []store.Timing) {
	var work, closing time.Duration
	for _, t := range timings {
		d := time.Duration(t.Seconds * float64(time.Second))
		if t.Phase == "eval" || t.Phase == "metrics" {
			closing += d
			continue
		}
		work += d
	}
	if l.iteration == 0 || work > l.iteration {
		l.iteration = work
	} else {
		l.iteration = (l.iteration + work) / 2
	}
	if closing > 0 {
		l.closing = closing
	}
}

// ends reports whether there is time for one more iteration only.
func (l *limit) ends() bool {
	return !l.until.IsZero() && time.Until(l.until) < 2*l.iteration+2*l.closing
}

// budgetEvent marks the iteration at which a budget ended a run.
const budgetEvent = "budget"

// startClock starts the run's time, and ends a run whose time is up.
func (t *Trainer) startClock(ctx context.Context) error {
	total, err := t.cfg.Time()
	if err != nil || total == 0 {
		return err
	}
	if t.limit = (limit{until: t.parts.Until}); t.limit.until.IsZero() {
		spent, err := t.parts.DB.Seconds(ctx, t.id)
		if err != nil {
			return err
		}
		t.limit = newLimit(total, spent)
	}
	t.last, err = t.ended(ctx, t.parts.DB, -1)
	return err
}

// ended reports whether a budget ended the run after an iteration, or after
// any where iteration is negative.
func (t *Trainer) ended(ctx context.Context, db *store.DB, iteration int) (bool, error) {
	events, err := db.Events(ctx, t.id, max(0, iteration))
	if err != nil {
		return false, err
	}
	for _, e := range events {
		if e.Kind == budgetEvent && (iteration < 0 || e.Iteration == iteration) {
			return true, nil
		}
	}
	return false, nil
}

// prompts are those in use.
func (t *Trainer) prompts() *workflow.Prompts {
	if t.parts.Prompts == nil {
		return workflow.OwnPrompts()
	}
	return t.parts.Prompts
}
