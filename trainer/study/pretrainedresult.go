package study

import (
	"context"
	"fmt"
	"math"

	"troupe/data/store"
)

// PretrainedResult is what a cell came to.
type PretrainedResult struct {
	Cell       PretrainedCell
	LeftOut    bool // did not fit the time
	Run        string
	Tasks      int
	Rollouts   int
	Iterations int
	Seconds    float64
	Sampled    Change // at the training temperature
	Greedy     Change
	Roles      []PretrainedRole
	Phases     []Phase
}

// PretrainedRole is how a role did, at the beginning and at the end. What was
// not measured is NaN.
type PretrainedRole struct {
	Role                        string
	Primary, Fallback, Unread   Ends // shares of the replies by how they could be read
	Right                       Ends // solutions of its own that were right
	Selection, Lift             Ends // right choices where candidates differed, and how far above chance
	Tokens                      Ends // mean length of a reply
	TruePositive, FalsePositive Ends // of an evaluator: right and wrong solutions it was satisfied with
}

// Ends is a quantity at the first and the last measurement.
type Ends struct{ First, Last float64 }

// Unplayable reports a role most of whose replies could still not be read at
// the end.
func (r PretrainedRole) Unplayable() bool { return r.Unread.Last > 0.5 }

// Phase is a part of a run and the time it took in all.
type Phase struct {
	Name    string
	Seconds float64
	Tokens  float64 // that went through the model in it; 0 where the log does not say
}

func (p *Pretrained) results(ctx context.Context, runs []*pretrainedRun) ([]PretrainedResult, error) {
	db, err := store.OpenReadOnly(p.Parts.DB.Path())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []PretrainedResult
	for _, r := range runs {
		res := PretrainedResult{Cell: r.cell, LeftOut: r.out}
		if !r.out {
			if err := res.read(ctx, db, r); err != nil {
				return nil, fmt.Errorf("%s: %w", r.cell.Name(), err)
			}
		}
		all = append(all, res)
	}
	return all, nil
}

func (res *PretrainedResult) read(ctx context.Context, db *store.DB, r *pretrainedRun) (err error) {
	res.Run, res.Tasks, res.Rollouts = r.cfg.ID(), r.cfg.Tasks, r.cfg.Rollouts
	if res.Iterations, err = db.LastIteration(ctx, res.Run); err != nil {
		return err
	}
	if res.Seconds, err = db.Seconds(ctx, res.Run); err != nil {
		return err
	}
	if res.Sampled, err = change(ctx, db, res.Run, res.Iterations, r.cfg.Temperature); err != nil {
		return err
	}
	if res.Greedy, err = change(ctx, db, res.Run, res.Iterations, 0); err != nil {
		return err
	}
	if res.Roles, err = pretrainedRoles(ctx, db, res.Run); err != nil {
		return err
	}
	res.Phases, err = phases(ctx, db, res.Run)
	return err
}

// roleEndsQuery has the first and the last value of each role's metrics.
const roleEndsQuery = `SELECT DISTINCT role, metric,
  first_value(value) OVER (w ORDER BY iteration), first_value(value) OVER (w ORDER BY iteration DESC)
FROM role_steps WHERE run = :run AND slot = -1 AND value IS NOT NULL
WINDOW w AS (PARTITION BY role, metric) ORDER BY role, metric`

func pretrainedRoles(ctx context.Context, db *store.DB, run string) ([]PretrainedRole, error) {
	rows, err := db.Query(ctx, roleEndsQuery, run)
	if err != nil {
		return nil, err
	}
	var all []PretrainedRole
	for r := rows.Next(); r != nil; r = rows.Next() {
		role, _ := r[0].(string)
		metric, _ := r[1].(string)
		first, _ := r[2].(float64)
		last, _ := r[3].(float64)
		if len(all) == 0 || all[len(all)-1].Role != role {
			no := Ends{math.NaN(), math.NaN()}
			all = append(all, PretrainedRole{Role: role, Primary: no, Fallback: no, Unread: no, Right: no, Selection: no,
				Lift: no, Tokens: no, TruePositive: no, FalsePositive: no})
		}
		now := &all[len(all)-1]
		if at, ok := map[string]*Ends{
			"parse/primary": &now.Primary, "parse/fallback": &now.Fallback, "parse/default": &now.Unread,
			"workflow/right": &now.Right, "workflow/selection": &now.Selection, "workflow/selection_lift": &now.Lift,
			"response_length/mean": &now.Tokens, "workflow/true_positive": &now.TruePositive, "workflow/false_positive": &now.FalsePositive,
		}[metric]; ok {
			*at = Ends{first, last}
		}
	}
	return all, rows.Close()
}

// phaseQuery adds up a run's phases, with the tokens of its rollouts and
// updates: a prompt counts once for all replies to it in an iteration, and the
// last token of a reply does not go through the model again.
const phaseQuery = `WITH prompts AS (
  SELECT iteration, sum(n) AS tokens, sum(CASE WHEN taught THEN n END) AS taught FROM (
    SELECT iteration, length(prompt_ids) / 4 AS n, max(advantage <> 0) AS taught FROM calls
    WHERE run = :run AND split = 'train' GROUP BY iteration, role, prompt_ids)
  GROUP BY iteration),
replies AS (
  SELECT iteration, sum(length(ids) / 4 - 1) AS tokens, sum(CASE WHEN advantage <> 0 THEN length(ids) / 4 - 1 END) AS taught
  FROM calls WHERE run = :run AND split = 'train' AND length(ids) > 0 GROUP BY iteration),
all_tokens AS (
  SELECT sum(p.tokens) AS prompt, sum(r.tokens) AS reply, sum(coalesce(p.taught, 0) + coalesce(r.taught, 0)) AS taught
  FROM prompts p JOIN replies r USING (iteration))
SELECT phase, sum(seconds), CASE phase
  WHEN 'rollout/prefill' THEN (SELECT prompt FROM all_tokens)
  WHEN 'rollout/decode' THEN (SELECT reply FROM all_tokens)
  WHEN 'update' THEN (SELECT taught FROM all_tokens) ELSE 0 END
FROM timings WHERE run = :run GROUP BY phase ORDER BY 2 DESC`

func phases(ctx context.Context, db *store.DB, run string) ([]Phase, error) {
	rows, err := db.Query(ctx, phaseQuery, run)
	if err != nil {
		return nil, err
	}
	var all []Phase
	for r := rows.Next(); r != nil; r = rows.Next() {
		var p Phase
		p.Name, _ = r[0].(string)
		p.Seconds, _ = r[1].(float64)
		switch n := r[2].(type) {
		case int64:
			p.Tokens = float64(n)
		case float64:
			p.Tokens = n
		}
		all = append(all, p)
	}
	return all, rows.Close()
}
