package study

import (
	"context"
	"fmt"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Result is what training did to one cell, measured on the same held-out tasks
// before and after.
type Result struct {
	Cell    Cell
	Run     string
	Sampled Change // at the training temperature
	Greedy  Change
	Judged  int // verdicts of the run
	Cached  int // of those, questions that the run had asked before
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

// Results reads the results of all cells from the log.
func (s *Study) results(ctx context.Context) ([]Result, error) {
	db, err := store.OpenReadOnly(s.opt.DB.Path())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []Result
	for _, c := range s.opt.Cells {
		b, _, err := s.start(ctx, c.Kind)
		if err != nil {
			return nil, err
		}
		cfg := s.config(c, b)
		r := Result{Cell: c, Run: cfg.ID()}
		if r.Sampled, err = change(ctx, db, r.Run, cfg.Iterations, cfg.Temperature); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
		}
		if r.Greedy, err = change(ctx, db, r.Run, cfg.Iterations, 0); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
		}
		if r.Judged, r.Cached, err = judged(ctx, db, r.Run); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name(), err)
		}
		all = append(all, r)
	}
	return all, nil
}

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
	c := Change{N: len(before)}
	if c.N == 0 {
		return c, ErrNoResult
	}
	for i := range before {
		if before[i] {
			c.Base++
		}
		if after[i] {
			c.Final++
		}
	}
	c.Base /= float64(c.N)
	c.Final /= float64(c.N)
	c.Lost, c.Gained = metrics.Discordant(before, after)
	c.P, _ = metrics.McNemar(c.Lost, c.Gained)
	return c, nil
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
