package store

import (
	"context"
	"database/sql"
)

// Cell is a run's row of the grid for one split and temperature. Accuracies
// are nil where the evaluation had no task to judge.
type Cell struct {
	Run, Task, Workflow, Policy, Model, Profile, State string

	Seed        uint64
	Split       string
	Temperature float64
	N           int
	Base        *float64 // before the first update
	Peak        *float64 // the best evaluation: the ceiling
	PeakAt      int
	Floor       *float64 // the lowest evaluation after the peak, itself included
	Final       *float64
	FinalAt     int
	Stderr      *float64 // of final
	Parameters  int64    // of the model; 0 where the log does not say
	Alarms      int      // of the run
}

// Cells is the grid: every evaluated run, split and temperature.
func (db *DB) Cells(ctx context.Context) ([]Cell, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, c *Cell) error {
		var seed int64
		var parameters float64
		err := rows.Scan(&c.Run, &c.Task, &c.Workflow, &c.Policy, &c.Model, &c.Profile, &c.State, &seed, &c.Split, &c.Temperature,
			&c.N, &c.Base, &c.Peak, &c.PeakAt, &c.Floor, &c.Final, &c.FinalAt, &c.Stderr, &parameters, &c.Alarms)
		c.Seed, c.Parameters = uint64(seed), int64(parameters)
		return err
	}, `SELECT c.run, c.task, c.workflow, c.policy, c.model, c.profile, r.state, c.seed, c.split, c.temperature,
		c.n, c.base, c.peak, c.peak_at,
		(SELECT min(accuracy) FROM evals e WHERE e.run = c.run AND e.split = c.split AND e.temperature = c.temperature AND e.iteration >= c.peak_at),
		c.final, c.final_at, c.stderr,
		coalesce((SELECT value FROM steps s WHERE s.run = c.run AND s.iteration = 0 AND s.metric = 'model/parameters'), 0),
		(SELECT count(*) FROM events e WHERE e.run = c.run AND e.severity = 'alarm')
		FROM cells c JOIN runs r ON r.id = c.run
		ORDER BY c.task, c.workflow, c.policy, c.model, c.seed, c.run, c.split, c.temperature`)
}

// Pair is a task that two runs were both evaluated on, at the last evaluation
// of each.
type Pair struct {
	Split       string
	Temperature float64
	Task        string
	A, B        float64 // share of the task's answers judged right
}

// Pairs joins the last evaluations of two runs by split, temperature and task.
func (db *DB) Pairs(ctx context.Context, a, b string) ([]Pair, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, p *Pair) error {
		return rows.Scan(&p.Split, &p.Temperature, &p.Task, &p.A, &p.B)
	}, `WITH last AS (
		SELECT run, split, temperature, max(iteration) AS iteration FROM eval_items WHERE run IN (?1, ?2) GROUP BY run, split, temperature
	), items AS (
		SELECT i.* FROM eval_items i JOIN last USING (run, split, temperature, iteration) WHERE i.correct IS NOT NULL
	)
	SELECT x.split, x.temperature, x.task, x.correct, y.correct
	FROM items x JOIN items y ON y.run = ?2 AND y.split = x.split AND y.temperature = x.temperature AND y.task = x.task
	WHERE x.run = ?1
	ORDER BY x.split, x.temperature, x.task`, a, b)
}

// Kept is what an iteration has to read: episodes, and model calls where they
// were logged.
type Kept struct{ Iteration, Episodes, Calls int }

// KeptIterations lists the iterations that have episodes.
func (db *DB) KeptIterations(ctx context.Context, run string) ([]Kept, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, k *Kept) error {
		return rows.Scan(&k.Iteration, &k.Episodes, &k.Calls)
	}, `SELECT e.iteration, e.n, coalesce(c.n, 0)
		FROM (SELECT iteration, count(*) AS n FROM episodes WHERE run = ?1 GROUP BY iteration) e
		LEFT JOIN (SELECT iteration, count(*) AS n FROM calls WHERE run = ?1 GROUP BY iteration) c USING (iteration)
		ORDER BY e.iteration`, run)
}
