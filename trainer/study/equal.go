package study

import (
	"context"
	"fmt"
	"math"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Equal sets a workflow against a single agent that was trained for as much
// compute.
type Equal struct {
	Cell       Cell
	Compute    float64 // token passes of the workflow's training
	Final      float64
	Iterations int     // of the single agent until it had used as much
	Single     float64 // its accuracy there
	P          float64 // McNemar's exact test on the same tasks
}

// equalStep is how often the long single-agent run is measured, in iterations.
const equalStep = 20

// EqualCompute trains one long single-agent run for every base and measures it
// where it has used the compute of each workflow. results are those of the
// grid, with the single-agent cell of each base among them.
func (s *Study) EqualCompute(ctx context.Context, results []Result) ([]Equal, error) {
	long, err := longRuns(results)
	if err != nil {
		return nil, err
	}
	var cells []Cell
	for _, c := range long {
		cells = append(cells, c.cell)
	}
	if err := s.train(ctx, cells); err != nil {
		return nil, err
	}
	db, err := store.OpenReadOnly(s.opt.DB.Path())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []Equal
	for _, r := range results {
		l, ok := long[rootOf(r.Cell)]
		if r.Cell.Workflow == "single" || !ok {
			continue
		}
		e, err := s.equal(ctx, db, r, l)
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", r.Cell.Name(), err)
		}
		all = append(all, e)
	}
	return all, nil
}

// longRun is a single-agent run long enough for every workflow on its base.
type longRun struct {
	cell Cell
	step float64 // compute of one of its iterations
}

func rootOf(c Cell) root { return root{c.Kind, c.Scale, c.seed()} }

func longRuns(results []Result) (map[root]longRun, error) {
	long := map[root]longRun{}
	for _, r := range results {
		if r.Cell.Workflow == "single" && r.Iterations > 0 && r.Compute > 0 {
			c := r.Cell
			c.Arm = "equal-compute/" + string(c.Kind)
			long[rootOf(c)] = longRun{c, r.Compute / float64(r.Iterations)}
		}
	}
	if len(long) == 0 {
		return nil, fmt.Errorf("no single-agent cell says what an iteration costs")
	}
	for _, r := range results {
		if l, ok := long[rootOf(r.Cell)]; ok {
			l.cell.Iterations = max(l.cell.Iterations, l.until(r.Compute))
			long[rootOf(r.Cell)] = l
		}
	}
	return long, nil
}

// until is the first measurement at which the run has used so much compute.
func (l longRun) until(compute float64) int {
	return max(1, int(math.Ceil(compute/l.step/equalStep))) * equalStep
}

func (s *Study) equal(ctx context.Context, db *store.DB, r Result, l longRun) (Equal, error) {
	b, _, err := s.start(ctx, l.cell)
	if err != nil {
		return Equal{}, err
	}
	cfg := s.config(l.cell, b)
	e := Equal{Cell: r.Cell, Compute: r.Compute, Final: r.Sampled.Final, Iterations: l.until(r.Compute)}
	single, err := curve(ctx, db, cfg.ID(), cfg.Temperature)
	if err != nil {
		return e, err
	}
	own, err := curve(ctx, db, r.Run, cfg.Temperature)
	if err != nil || len(own) == 0 {
		return e, err
	}
	for _, p := range single {
		if p.Iteration == e.Iterations {
			e.Single = p.Accuracy()
			e.P, _ = metrics.McNemar(metrics.Discordant(p.Right, last(own).Right))
			return e, nil
		}
	}
	return e, ErrNoResult
}
