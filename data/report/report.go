// Package report turns a run database into something to read: tables, and
// figures as the paper has them, in one self-contained HTML file, or as CSV and
// PNG. Every number in it comes from a query that stands beside it.
package report

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Cell is one run as the study's tables show it, at one temperature, on tasks
// that were never trained on.
type Cell struct {
	Run, Task, Workflow, Policy, Model string
	Profile                            string
	Seed                               uint64
	Temperature                        float64
	N                                  int
	Base, Peak, Final, Floor           float64
	PeakAt, FinalAt                    int
	SE                                 float64 // of Final
	P                                  float64 // McNemar, exact, base against final; 1 without both
	Curve                              metrics.Curve
	Points                             []metrics.Point
}

// Name is the cell's name in tables.
func (c Cell) Name() string { return c.Workflow + " " + c.Policy + " " + c.Task }

// pair splits the profile of a control's run, study/NAME/ARM: the pair that it
// belongs to, which has figures of its own, and what it is called in them. Other
// runs belong to none and are called by workflow and policy.
func pair(profile, workflow, policy string) (control, series string) {
	if name, ok := strings.CutPrefix(profile, "study/"); ok {
		if control, arm, ok := strings.Cut(name, "/"); ok {
			return control, arm
		}
	}
	return "", workflow + " " + policy
}

// Gain is final minus base.
func (c Cell) Gain() float64 { return c.Final - c.Base }

// Report is everything a report shows.
type Report struct {
	Database string
	Runs     []store.Run
	Cells    []Cell
	Figures  []Figure
	Events   []Event
}

// Event is an alarm of a run.
type Event struct {
	Run string
	store.EventRow
	// Lead is how many iterations before the run's first evaluation at least
	// 10 points under an earlier one an alarm came; Leads is false where there
	// is no such evaluation after it.
	Lead  int
	Leads bool
}

// fall is how far under an earlier evaluation one must lie for alarms before it
// to have warned.
const fall = 0.1

// heldSplit is the split that printed tables use.
const heldSplit = "held"

// Load reads a report's content from db. runs limits it to the given ids; none
// means all.
func Load(ctx context.Context, db *store.DB, runs ...string) (*Report, error) {
	all, err := db.Runs(ctx)
	if err != nil {
		return nil, err
	}
	want := map[string]bool{}
	for _, id := range runs {
		want[id] = true
	}
	r := &Report{Database: db.Path()}
	for _, run := range all {
		if len(runs) > 0 && !want[run.ID] {
			continue
		}
		r.Runs = append(r.Runs, run)
		cells, err := loadCells(ctx, db, run)
		if err != nil {
			return nil, fmt.Errorf("report on run %s: %w", run.ID, err)
		}
		r.Cells = append(r.Cells, cells...)
		events, err := db.Events(ctx, run.ID, 0)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Severity != "info" {
				event := Event{Run: run.ID, EventRow: e}
				if e.Severity == "alarm" && len(cells) > 0 {
					event.Lead, event.Leads = metrics.LeadTime(cells[0].Points, fall, e.Iteration)
				}
				r.Events = append(r.Events, event)
			}
		}
	}
	sort.SliceStable(r.Cells, func(i, j int) bool {
		a, b := r.Cells[i], r.Cells[j]
		if a.Task != b.Task {
			return a.Task > b.Task // math before code
		}
		return order(a.Workflow) < order(b.Workflow)
	})
	r.Figures, err = loadFigures(ctx, db, r)
	return r, err
}

// order is the order of workflows in the paper's tables.
func order(workflow string) int {
	for i, w := range []string{"single", "evalopt", "voting", "orch"} {
		if w == workflow {
			return i
		}
	}
	return 9
}

// itemsQuery reads the outcomes of one run's evaluations.
const itemsQuery = `SELECT iteration, temperature, task, correct FROM eval_items
WHERE run = :run AND split = 'held' AND correct IS NOT NULL ORDER BY temperature, iteration, task`

// loadCells makes one cell for each temperature at which the run was evaluated.
func loadCells(ctx context.Context, db *store.DB, run store.Run) ([]Cell, error) {
	series, err := loadItems(ctx, db, run.ID)
	if err != nil {
		return nil, err
	}
	evals, err := db.Evals(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	cells := map[float64]*Cell{}
	var temps []float64
	for _, e := range evals {
		if e.Split != heldSplit || e.Accuracy == nil {
			continue
		}
		c := cells[e.Temperature]
		if c == nil {
			c = &Cell{Run: run.ID, Task: run.Task, Workflow: run.Workflow, Policy: run.Policy, Model: run.Model, Profile: run.Profile,
				Seed: run.Seed, Temperature: e.Temperature, Base: *e.Accuracy, Peak: math.Inf(-1), Floor: math.Inf(1), P: 1}
			cells[e.Temperature] = c
			temps = append(temps, e.Temperature)
		}
		c.N = e.N
		if *e.Accuracy > c.Peak {
			c.Peak, c.PeakAt, c.Floor = *e.Accuracy, e.Iteration, *e.Accuracy
		}
		c.Floor = min(c.Floor, *e.Accuracy)
		c.Final, c.FinalAt = *e.Accuracy, e.Iteration
		if e.Stderr != nil {
			c.SE = *e.Stderr
		}
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(temps))) // the training temperature first
	var out []Cell
	for _, t := range temps {
		c := cells[t]
		c.Points = series[t]
		if n := len(c.Points); n > 1 && len(c.Points[0].Right) == len(c.Points[n-1].Right) {
			c.P, _ = metrics.McNemar(metrics.Discordant(c.Points[0].Right, c.Points[n-1].Right))
		}
		c.Curve = metrics.Summarize(c.Points)
		out = append(out, *c)
	}
	return out, nil
}

// loadItems groups outcomes by temperature and iteration, tasks in order, so
// that points of one series are paired.
func loadItems(ctx context.Context, db *store.DB, run string) (map[float64][]metrics.Point, error) {
	rows, err := db.Query(ctx, itemsQuery, run)
	if err != nil {
		return nil, err
	}
	out := map[float64][]metrics.Point{}
	for v := rows.Next(); v != nil; v = rows.Next() {
		iteration, _ := v[0].(int64)
		temperature, _ := v[1].(float64)
		correct, _ := v[3].(float64)
		s := out[temperature]
		if len(s) == 0 || s[len(s)-1].Iteration != int(iteration) {
			s = append(s, metrics.Point{Iteration: int(iteration)})
		}
		last := &s[len(s)-1]
		last.Right = append(last.Right, correct >= 0.5)
		out[temperature] = s
	}
	return out, rows.Close()
}
