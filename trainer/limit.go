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
	until      time.Time     // zero: no limit
	work       time.Duration // of an iteration, without what follows
	evaluation time.Duration // of the held-out tasks at one temperature
	probe      time.Duration
}

// due is what an iteration does besides its work.
type due struct {
	evaluations int // temperatures at which the held-out tasks are played
	probes      int
}

// newLimit starts the clock: what the run's earlier sessions took, and what was
// done for it before it began, is spent.
func newLimit(total, spent time.Duration) limit {
	if total == 0 {
		return limit{}
	}
	return limit{until: time.Now().Add(total - spent)}
}

// saw learns from an iteration's phases how long the next will take: an
// iteration that took longer than the last is believed at once, a shorter one by
// half.
func (l *limit) saw(timings []store.Timing, d due) {
	var took limit
	for _, t := range timings {
		s := time.Duration(t.Seconds * float64(time.Second))
		switch t.Phase {
		case "eval":
			took.evaluation += s
		case "metrics", "metrics/halves":
			took.probe += s
		default:
			took.work += s
		}
	}
	l.work = believe(l.work, took.work)
	if d.evaluations > 0 {
		l.evaluation = believe(l.evaluation, took.evaluation/time.Duration(d.evaluations))
	}
	if d.probes > 0 {
		l.probe = believe(l.probe, took.probe)
	}
}

func believe(was, now time.Duration) time.Duration {
	if was == 0 || now > was {
		return now
	}
	return (was + now) / 2
}

// takes is what an iteration is expected to take.
func (l *limit) takes(d due) time.Duration {
	return l.work + time.Duration(d.evaluations)*l.evaluation + time.Duration(d.probes)*l.probe
}

// slack is the share of a forecast that is added to it.
const slack = 0.1

// ends reports whether there is no time for an iteration with another after it
// as the last.
func (l *limit) ends(next, last due) bool {
	need := l.takes(next) + l.takes(last)
	return !l.until.IsZero() && time.Until(l.until) < need+time.Duration(slack*float64(need))
}

// dueAt is what an iteration does besides its work; the last does all there is.
func (t *Trainer) dueAt(it int, last bool) due {
	var d due
	if len(t.held) > 0 && (last || it == 0 || t.cfg.EvalEvery > 0 && it%t.cfg.EvalEvery == 0) {
		d.evaluations = len(t.temperatures(last || it == 0))
	}
	if len(t.probes) > 0 && (last || it%t.cfg.ProbeEvery == 0) {
		d.probes = 1
	}
	return d
}

// endsAt reports whether an iteration is the run's last: the config's, the one
// after which an earlier run of the same config was ended, or the last there is
// time for.
func (t *Trainer) endsAt(it int) bool {
	switch {
	case it == t.cfg.Iterations:
		return true
	case t.cfg.Ends > 0:
		return it == t.cfg.Ends
	}
	return it > 0 && t.limit.ends(t.dueAt(it, false), t.dueAt(it+1, true))
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
		t.limit = newLimit(total, t.parts.Spent+time.Duration(spent*float64(time.Second)))
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
