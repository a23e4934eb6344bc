package study

import (
	"context"
	"fmt"

	"troupe/data/store"
)

// Result is what training did to one cell, measured on the same held-out tasks
// before and after.
type Result struct {
	Cell       Cell
	Run        string
	Iterations int
	Sampled    Change // at the training temperature
	Greedy     Change
	Peak       float64 // highest measured at the training temperature
	PeakAt     int     // iteration of Peak
	Compute    float64 // see computeQuery
	Roles      []Mechanism
	outcome    []bool // of the last evaluation at the training temperature
	Judged     int    // verdicts of the run
	Cached     int    // of those, questions that the run had asked before
}

// Change compares two evaluations task by task.
type Change struct {
	N           int
	Base, Final float64
	P           float64 // McNemar's exact test, two-sided
	Gained      int     // tasks right only after training
	Lost        int     // tasks right only before
}

// Gain is the difference of the accuracies.
func (c Change) Gain() float64 { return c.Final - c.Base }

// results reads the results of all cells from the log.
func (s *Study) results(ctx context.Context, cells []Cell) ([]Result, error) {
	db, err := store.OpenReadOnly(s.opt.DB.Path())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []Result
	for _, c := range cells {
		b, _, err := s.start(ctx, c)
		if err != nil {
			return nil, err
		}
		cfg := s.config(c, b)
		r := Result{Cell: c, Run: cfg.ID(), Iterations: cfg.Iterations}
		if r.Sampled, err = change(ctx, db, r.Run, cfg.Iterations, cfg.Temperature); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
		}
		if cfg.EvalGreedy { // the runs of controls are not measured so
			if r.Greedy, err = change(ctx, db, r.Run, cfg.Iterations, 0); err != nil {
				return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
			}
		}
		if err := r.read(ctx, db, cfg.Temperature); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
		}
		r.Compute *= float64(cfg.Iterations)
		all = append(all, r)
	}
	return all, nil
}

// read takes what is no comparison of base and end.
func (r *Result) read(ctx context.Context, db *store.DB, temperature float64) (err error) {
	points, err := curve(ctx, db, r.Run, temperature)
	if err != nil {
		return err
	}
	if len(points) > 0 {
		r.outcome = last(points).Right
	}
	if r.Roles, err = mechanisms(ctx, db, r.Run); err != nil {
		return err
	}
	for _, p := range points {
		if a := p.Accuracy(); a > r.Peak {
			r.Peak, r.PeakAt = a, p.Iteration
		}
	}
	if r.Compute, err = one(ctx, db, r.Run, computeQuery); err != nil {
		return err
	}
	r.Judged, r.Cached, err = judged(ctx, db, r.Run)
	return err
}

// Drop is how far the cell ended under its highest measurement.
func (r Result) Drop() float64 { return r.Peak - r.Sampled.Final }

// computeQuery is the compute of an iteration in token passes, the mean over
// the iterations whose calls are logged: a token costs one pass forward when it
// is sampled, and three when its row is trained on. Rows without advantage are
// not. One pass is about two FLOPs a parameter.
const computeQuery = `SELECT sum((length(prompt_ids) + length(ids)) / 4.0 * CASE WHEN advantage <> 0 THEN 4 ELSE 1 END)
/ count(DISTINCT iteration) FROM calls WHERE run = :run AND split = 'train'`

// pairs is the outcome of every task that was judged both before and after.
const pairs = `SELECT a.correct, b.correct FROM eval_items a JOIN eval_items b USING (run, split, temperature, task)
WHERE a.run = :run AND a.iteration = 0 AND b.iteration = %d AND temperature = %v
AND a.verdict <> 'IE' AND b.verdict <> 'IE'`

func change(ctx context.Context, db *store.DB, run string, last int, temperature float64) (Change, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(pairs, last, temperature), run)
	if err != nil {
		return Change{}, err
	}
	var before, after []bool
	for r := rows.Next(); r != nil; r = rows.Next() {
		before, after = append(before, right(r[0])), append(after, right(r[1]))
	}
	if err := rows.Close(); err != nil {
		return Change{}, err
	}
	if len(before) == 0 {
		return Change{}, ErrNoResult
	}
	return compare(before, after), nil
}

func right(v any) bool {
	x, ok := v.(float64)
	return ok && x >= 0.5
}

func judged(ctx context.Context, db *store.DB, run string) (all, cached int, err error) {
	rows, err := db.Query(ctx, "SELECT count(*), coalesce(sum(cached), 0) FROM verdicts WHERE run = :run", run)
	if err != nil {
		return 0, 0, err
	}
	if r := rows.Next(); r != nil {
		n, _ := r[0].(int64)
		k, _ := r[1].(int64)
		all, cached = int(n), int(k)
	}
	return all, cached, rows.Close()
}
