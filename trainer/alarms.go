package trainer

import (
	"context"
	"fmt"
	"math"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// roleRules are the alarms on each role's metrics, stepRules those on the whole
// iteration's. Thresholds are wide: an alarm is for a person to look at.
// driftRules are those on roles that count only while the reward is in a dip:
// roles wander far from the base, and judges' gradients grow several times, in
// runs that go on learning. Amplification is watched by what the agents'
// gradients have in common, because that does not depend on how many there are:
// from a half on, three agents push as two that want the same.
var (
	roleRules = []metrics.Rule{
		{Kind: "amplification", Metric: "actor/slot_cosine", Upward: true, Average: true, Beyond: &metrics.Bound{At: 0.5}},
		{Kind: "capture", Metric: "actor/capture", Upward: true, Change: 1, Beyond: &metrics.Bound{At: 0}},
		{Kind: "prompt_sensitivity", Metric: "actor/prompt_sensitivity", Factor: 0.5},
		{Kind: "entropy_collapse", Metric: "actor/entropy", Factor: 0.1},
		{Kind: "entropy_explosion", Metric: "actor/entropy", Upward: true, Factor: 2},
		{Kind: "unparsed", Metric: "parse/primary", Sudden: 0.1, Change: 0.2, Beyond: &metrics.Bound{At: 0.5}},
		{Kind: "kl_base", Metric: "actor/kl_base", Upward: true, Beyond: &metrics.Bound{At: 1}},
	}
	stepRules = []metrics.Rule{
		{Kind: "reward", Metric: rewardMetric, Smooth: 0.12},
		{Kind: "reward_zero", Metric: rewardMetric, Beyond: &metrics.Bound{At: 0}},
	}
	driftRules = []metrics.Rule{
		{Kind: "gradient", Metric: "actor/grad_norm", Upward: true, Average: true, Factor: 2},
		{Kind: "ppl_base", Metric: "actor/ppl_base", Upward: true, Factor: 1.3},
	}
	// A dip is four standard deviations of the moving average of batches of 256
	// rewards. What both thresholds were chosen on, and how often they are wrong
	// elsewhere, stands in docs/paper.md.
	dip = metrics.Rule{Metric: rewardMetric, Smooth: 0.07}
)

const rewardMetric = "critic/rewards/mean"

// A fall of accuracy is a cliff from this size on, where it is larger than
// chance (two-sided p 0.01 by the standard errors).
const (
	cliffDrop = 0.05
	cliffZ    = 2.576
)

// watches are the alarms of a run. Their state is a function of the metrics in
// the log, from which a resumed run makes it again.
type watches struct {
	roles   []string
	series  map[string]*metrics.Watch
	dip     *metrics.Watch
	drifted map[string]bool // by series: under its drift rule in a dip already
	peak    store.Eval
	started bool
	fallen  bool
}

func newWatches(roles []string) *watches {
	return &watches{roles: append([]string{""}, roles...), series: map[string]*metrics.Watch{},
		dip: metrics.NewWatch(dip), drifted: map[string]bool{}}
}

// observe takes an iteration's values, by role and metric, and returns what
// fired.
func (w *watches) observe(values map[[2]string]float64) []store.Event {
	if x, ok := values[[2]string{"", rewardMetric}]; ok {
		w.dip.Observe(x)
	}
	var events []store.Event
	for _, role := range w.roles {
		rules, drift := roleRules, driftRules
		if role == "" {
			rules, drift = stepRules, nil
		}
		look := func(r metrics.Rule, fires func(s *metrics.Watch, key string, x float64) bool) {
			x, ok := values[[2]string{role, r.Metric}]
			if !ok {
				return
			}
			key := role + "\x00" + r.Kind
			if w.series[key] == nil {
				w.series[key] = metrics.NewWatch(r)
			}
			if fires(w.series[key], key, x) {
				events = append(events, store.Event{Kind: r.Kind, Role: role, Severity: "alarm", Value: x, Message: alarmText(r, role, x)})
			}
		}
		for _, r := range rules {
			look(r, func(s *metrics.Watch, _ string, x float64) bool { return s.Observe(x) })
		}
		for _, r := range drift {
			look(r, w.drifts)
		}
	}
	return events
}

// drifts takes a value of a series under a drift rule and reports whether it is
// newly out of line while the reward is in a dip.
func (w *watches) drifts(s *metrics.Watch, key string, x float64) bool {
	s.Observe(x)
	before := w.drifted[key]
	w.drifted[key] = s.Holds() && w.dip.Holds()
	return w.drifted[key] && !before
}

func alarmText(r metrics.Rule, role string, x float64) string {
	way := "fell"
	if r.Upward {
		way = "rose"
	}
	if role == "" {
		return fmt.Sprintf("%s %s to %.4g", r.Metric, way, x)
	}
	return fmt.Sprintf("%s of %s %s to %.4g", r.Metric, role, way, x)
}

// evaluated takes an evaluation at the training temperature and returns a
// cliff, once for each fall.
func (w *watches) evaluated(e store.Eval) []store.Event {
	if math.IsNaN(e.Accuracy) {
		return nil
	}
	if !w.started || e.Accuracy >= w.peak.Accuracy {
		w.peak, w.started, w.fallen = e, true, false
		return nil
	}
	drop := w.peak.Accuracy - e.Accuracy
	if w.fallen || drop < cliffDrop || drop < cliffZ*math.Hypot(e.Stderr, w.peak.Stderr) {
		return nil
	}
	w.fallen = true
	return []store.Event{{Kind: "cliff", Severity: "alarm", Value: drop,
		Message: fmt.Sprintf("accuracy fell from its peak of %.3f to %.3f", w.peak.Accuracy, e.Accuracy)}}
}

// alarms looks at what an iteration logged and adds what fired.
func (t *Trainer) alarms(log *record) {
	values := map[[2]string]float64{}
	for _, s := range log.Steps {
		values[[2]string{"", s.Metric}] = s.Value
	}
	for _, s := range log.RoleSteps {
		if s.Slot == store.AllSlots {
			values[[2]string{s.Role, s.Metric}] = s.Value
		}
	}
	log.Events = append(log.Events, t.watch.observe(values)...)
	for _, e := range log.Evals {
		if e.Split == t.cfg.EvalSplit && e.Temperature == t.cfg.Temperature {
			log.Events = append(log.Events, t.watch.evaluated(e)...)
		}
	}
}

// rewatch brings the alarms to where they stood after an iteration of the log.
func (t *Trainer) rewatch(ctx context.Context, db *store.DB, after int) error {
	t.watch = newWatches(t.workflow.Roles())
	logged, err := db.Metrics(ctx, t.id, 0)
	if err != nil {
		return err
	}
	for from := 0; from < len(logged) && logged[from].Iteration <= after; {
		values := map[[2]string]float64{}
		to := from
		for ; to < len(logged) && logged[to].Iteration == logged[from].Iteration; to++ {
			if m := &logged[to]; m.Slot == store.AllSlots && m.Value != nil {
				values[[2]string{m.Role, m.Name}] = *m.Value
			}
		}
		t.watch.observe(values)
		from = to
	}
	evals, err := db.Evals(ctx, t.id)
	if err != nil {
		return err
	}
	for _, e := range evals {
		if e.Iteration <= after && e.Split == t.cfg.EvalSplit && e.Temperature == t.cfg.Temperature && e.Accuracy != nil && e.Stderr != nil {
			t.watch.evaluated(store.Eval{Accuracy: *e.Accuracy, Stderr: *e.Stderr})
		}
	}
	return nil
}
