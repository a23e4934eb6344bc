package report

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Cell is one run as the study's tables show it, at one temperature, on tasks
// that were never trained on.
type Cell struct {
	Run, Task, Workflow, Policy, Model string
	Profile                            string
	Seed                               uint64
	Parameters                         int64 // where runs of the task differ in that
	Temperature                        float64
	N                                  int
	Base, Peak, Final, Floor           float64
	PeakAt, FinalAt                    int
	SE                                 float64 // of Final
	P                                  float64 // McNemar, exact, base against final; 1 without both
	Curve                              metrics.Curve
	Points                             []metrics.Point

	place scaled
}

// Name is the cell's name in tables.
func (c Cell) Name() string { return c.Workflow + " " + c.Policy + " " + c.Task }

// Control is the pair of runs that the cell belongs to, and Arm which of the two
// it is; both are empty for cells of the grid.
func (c Cell) Control() string { return c.key().control }

// Arm names the cell within its control.
func (c Cell) Arm() string {
	if k := c.key(); k.control != "" {
		return k.series
	}
	return ""
}

// Gain is final minus base.
func (c Cell) Gain() float64 { return c.Final - c.Base }

func (c Cell) key() key {
	return keyOf(store.Run{Workflow: c.Workflow, Policy: c.Policy, Task: c.Task, Profile: c.Profile, Seed: c.Seed}, c.place)
}

// sortCells has math before code, the grid before controls, and the paper's order
// of workflows.
func sortCells(cells []Cell) {
	slices.SortStableFunc(cells, func(a, b Cell) int {
		x, y := a.key(), b.key()
		return cmp.Or(x.group.compare(y.group), cmp.Compare(x.control, y.control), cmp.Compare(a.Seed, b.Seed),
			cmp.Compare(order(a.Workflow), order(b.Workflow)), cmp.Compare(x.color(), y.color()), cmp.Compare(a.Policy, b.Policy))
	})
}

// heldSplit is the split that printed tables use.
const heldSplit = "held"

// cellsQuery is the table behind the ceilings and floors.
const cellsQuery = `SELECT run, temperature, base, peak, peak_at, final, final_at,
  (SELECT min(accuracy) FROM evals e WHERE e.run = c.run AND e.split = c.split
    AND e.temperature = c.temperature AND e.iteration >= c.peak_at) AS floor
FROM cells c WHERE split = 'held'`

// itemsQuery reads the outcomes of one run's evaluations.
const itemsQuery = `SELECT iteration, temperature, task, correct FROM eval_items
WHERE run = :run AND split = 'held' AND correct IS NOT NULL ORDER BY temperature, iteration, task`

// loadCells makes one cell for each temperature at which the run was evaluated.
func loadCells(ctx context.Context, db *store.DB, run store.Run, place scaled) ([]Cell, error) {
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
				Seed: run.Seed, Parameters: place.scale, Temperature: e.Temperature, Base: *e.Accuracy, Peak: math.Inf(-1), Floor: math.Inf(1), P: 1, place: place}
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

// Pair sets an isolated policy against the shared one of the same workflow, on
// the same tasks.
type Pair struct {
	Task, Workflow string
	Parameters     int64
	Seed           uint64
	Temperature    float64
	N              int
	Shared         float64 // final accuracies
	Isolated       float64
	SE             float64 // of their difference, over tasks
	P              float64 // McNemar, exact
}

// Difference is isolated minus shared.
func (p Pair) Difference() float64 { return p.Isolated - p.Shared }

// pairPolicies finds the pairs among the cells of the grid.
func pairPolicies(cells []Cell) []Pair {
	var out []Pair
	for _, a := range cells {
		if a.Policy != "shared" || a.Workflow == "single" || len(a.Points) < 2 || a.Control() != "" {
			continue
		}
		for _, b := range cells {
			if b.Policy != "isolated" || b.Control() != "" || a.Profile != b.Profile || a.Workflow != b.Workflow || a.Task != b.Task ||
				a.Seed != b.Seed || a.Model != b.Model || a.Temperature != b.Temperature || len(b.Points) < 2 {
				continue
			}
			x, y := a.Points[len(a.Points)-1].Right, b.Points[len(b.Points)-1].Right
			if len(x) != len(y) {
				continue
			}
			lost, won := metrics.Discordant(x, y)
			p := Pair{Task: a.Task, Workflow: a.Workflow, Parameters: a.Parameters, Seed: a.Seed, Temperature: a.Temperature, N: len(x), Shared: a.Final, Isolated: b.Final}
			p.P, _ = metrics.McNemar(lost, won)
			n, d := float64(len(x)), float64(won-lost)
			p.SE = math.Sqrt(max(0, float64(won+lost)-d*d/n)) / n
			out = append(out, p)
		}
	}
	return out
}
