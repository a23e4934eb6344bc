package study

import (
	"context"
	"fmt"
	"strings"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// ArmOutcome is how one run of a control went.
type ArmOutcome struct {
	Label         string
	Run           string
	Curve         []metrics.Point
	Peak, Final   float64 // at PeakAt and at the end, on the same tasks
	PeakAt        int
	DropP         float64 // McNemar's exact test of peak against final
	Amplification float64 // of the generators, mean over the run; 0 where it is not defined
	Readable      float64 // share of the aggregator's replies in the form asked for, last iteration
	Alarm         string  // kind of the first alarm, empty for none
	AlarmAt       int
	FallAt        int // first evaluation 10 points under the peak; 0 for none
}

// Drop is how far the run ended under its peak.
func (a ArmOutcome) Drop() float64 { return a.Peak - a.Final }

// collapse is the fall that counts as one, in accuracy.
const collapse = 0.10

// Collapsed reports a fall of at least ten points with p below .01.
func (a ArmOutcome) Collapsed() bool { return a.Drop() >= collapse && a.DropP < 0.01 }

// Outcome is how a control came out.
type Outcome struct {
	Control
	Arms [2]ArmOutcome
	P    float64 // McNemar's exact test of the two final accuracies on the same tasks
	// AmplificationP is the exact sign test of the generators' amplification,
	// paired by iteration; 1 where it is not defined in both.
	AmplificationP float64
}

// Controls trains the pairs and compares them.
func (s *Study) Controls(ctx context.Context, controls []Control) ([]Outcome, error) {
	if err := s.train(ctx, ControlCells(controls)); err != nil {
		return nil, err
	}
	db, err := store.OpenReadOnly(s.opt.DB.Path())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []Outcome
	for _, c := range controls {
		o := Outcome{Control: c}
		for i, cell := range []Cell{c.A, c.B} {
			if o.Arms[i], err = s.armOutcome(ctx, db, cell); err != nil {
				return nil, fmt.Errorf("control %s: %w", c.Name, err)
			}
			o.Arms[i].Label = c.Labels[i]
		}
		o.P, _ = metrics.McNemar(metrics.Discordant(last(o.Arms[0].Curve).Right, last(o.Arms[1].Curve).Right))
		if o.AmplificationP, err = signTest(ctx, db, o.Arms[0].Run, o.Arms[1].Run); err != nil {
			return nil, fmt.Errorf("control %s: %w", c.Name, err)
		}
		all = append(all, o)
	}
	return all, nil
}

func last(curve []metrics.Point) metrics.Point { return curve[len(curve)-1] }

func (s *Study) armOutcome(ctx context.Context, db *store.DB, c Cell) (ArmOutcome, error) {
	b, _, err := s.start(ctx, c)
	if err != nil {
		return ArmOutcome{}, err
	}
	cfg := s.config(c, b)
	a := ArmOutcome{Run: cfg.ID(), DropP: 1}
	if a.Curve, err = curve(ctx, db, a.Run, cfg.Temperature); err != nil {
		return a, err
	}
	if len(a.Curve) == 0 {
		return a, ErrNoResult
	}
	end := last(a.Curve)
	peak := end
	for _, p := range a.Curve { // the summary smooths, so that no lucky draw is a peak
		if p.Iteration == metrics.Summarize(a.Curve).PeakIteration {
			peak = p
		}
	}
	a.Peak, a.PeakAt, a.Final = peak.Accuracy(), peak.Iteration, end.Accuracy()
	a.DropP, _ = metrics.McNemar(metrics.Discordant(peak.Right, end.Right))
	for _, p := range a.Curve {
		if p.Iteration > a.PeakAt && p.Accuracy() <= a.Peak-collapse {
			a.FallAt = p.Iteration
			break
		}
	}
	if a.Amplification, err = one(ctx, db, a.Run, amplificationQuery); err != nil {
		return a, err
	}
	if a.Readable, err = one(ctx, db, a.Run, readableQuery); err != nil {
		return a, err
	}
	a.Alarm, a.AlarmAt, err = firstAlarm(ctx, db, a.Run)
	return a, err
}

const (
	amplificationQuery = `SELECT avg(value) FROM role_steps
WHERE run = :run AND metric = 'actor/amplification' AND role = 'generator' AND slot = -1`
	// pairedQuery says in how many iterations one run's amplification is larger.
	pairedQuery = `SELECT coalesce(sum(a.value > b.value), 0), coalesce(sum(a.value < b.value), 0)
FROM role_steps a JOIN role_steps b USING (iteration, role, slot, metric)
WHERE a.run = :run AND b.run = '%s' AND metric = 'actor/amplification' AND role = 'generator' AND slot = -1`
	readableQuery = `SELECT value FROM role_steps
WHERE run = :run AND metric = 'parse/primary' AND role = 'aggregator' AND slot = -1 ORDER BY iteration DESC LIMIT 1`
	alarmQuery = `SELECT kind, role, iteration FROM events WHERE run = :run AND severity = 'alarm' ORDER BY iteration, seq LIMIT 1`
	curveQuery = `SELECT iteration, correct FROM eval_items
WHERE run = :run AND split = 'held' AND temperature = %v AND correct IS NOT NULL ORDER BY iteration, task`
)

// one is the number that a query returns, 0 for none.
func one(ctx context.Context, db *store.DB, run, query string) (float64, error) {
	rows, err := db.Query(ctx, query, run)
	if err != nil {
		return 0, err
	}
	x := 0.0
	if r := rows.Next(); r != nil {
		x, _ = r[0].(float64)
	}
	return x, rows.Close()
}

// signTest compares the generators' amplification of two runs, iteration by
// iteration.
func signTest(ctx context.Context, db *store.DB, a, b string) (float64, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(pairedQuery, b), a)
	if err != nil {
		return 1, err
	}
	p := 1.0
	if r := rows.Next(); r != nil {
		more, _ := r[0].(int64)
		less, _ := r[1].(int64)
		p, _ = metrics.McNemar(int(more), int(less)) // the sign test of two counts
	}
	return p, rows.Close()
}

func firstAlarm(ctx context.Context, db *store.DB, run string) (kind string, at int, err error) {
	rows, err := db.Query(ctx, alarmQuery, run)
	if err != nil {
		return "", 0, err
	}
	if r := rows.Next(); r != nil {
		name, _ := r[0].(string)
		role, _ := r[1].(string)
		n, _ := r[2].(int64)
		kind, at = strings.TrimSpace(name+" "+role), int(n)
	}
	return kind, at, rows.Close()
}

// curve is a run's evaluations on the same tasks in the same order.
func curve(ctx context.Context, db *store.DB, run string, temperature float64) ([]metrics.Point, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(curveQuery, temperature), run)
	if err != nil {
		return nil, err
	}
	var points []metrics.Point
	for r := rows.Next(); r != nil; r = rows.Next() {
		n, _ := r[0].(int64)
		if len(points) == 0 || last(points).Iteration != int(n) {
			points = append(points, metrics.Point{Iteration: int(n)})
		}
		p := &points[len(points)-1]
		p.Right = append(p.Right, right(r[1]))
	}
	return points, rows.Close()
}

// Sentence is what the pair shows, from its numbers alone.
func (o Outcome) Sentence() string {
	a, b := o.Arms[0], o.Arms[1]
	var said []string
	for _, arm := range o.Arms {
		if arm.Collapsed() {
			s := fmt.Sprintf("%s collapses: %.0f points from its peak", arm.Label, 100*arm.Drop())
			switch {
			case arm.Alarm == "" || arm.FallAt == 0:
				s += ", and no alarm fired"
			case arm.AlarmAt < arm.FallAt:
				s += fmt.Sprintf("; the alarm %s fired %d iterations before the first measurement 10 points down", arm.Alarm, arm.FallAt-arm.AlarmAt)
			default:
				s += fmt.Sprintf("; the alarm %s came too late", arm.Alarm)
			}
			said = append(said, s)
		}
	}
	if o.Slots && a.Amplification > 0 && b.Amplification > 0 {
		said = append(said, fmt.Sprintf("the generators' amplification is %.2f with %s and %.2f with %s (p %.2g over iterations)", a.Amplification, a.Label, b.Amplification, b.Label, o.AmplificationP))
	}
	switch {
	case o.P >= 0.05:
		said = append(said, fmt.Sprintf("the ends of %s and %s can't be told apart", a.Label, b.Label))
	case b.Final > a.Final:
		said = append(said, fmt.Sprintf("%s ends %.1f points above %s", b.Label, 100*(b.Final-a.Final), a.Label))
	default:
		said = append(said, fmt.Sprintf("%s ends %.1f points above %s", a.Label, 100*(a.Final-b.Final), b.Label))
	}
	s := strings.Join(said, "; ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
