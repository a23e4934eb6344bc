package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"troupe/data/store"
)

// Moment is what was played in one iteration of a run on one split.
type Moment struct {
	Run         string
	Iteration   int
	Split       string
	Temperature float64
}

// Conversation is one task as the roles solved it before and after training.
type Conversation struct {
	Task, Text, Gold string
	Title            string // of the run or pair of runs
	Before, After    Talk
}

// Talk is one episode: what each role wrote, and how it was judged.
type Talk struct {
	Moment
	Verdict, Reason string
	Turns           []Turn
}

// Turn is one role's reply.
type Turn struct {
	Role       string
	Slot, Turn int
	Text       string
}

// Number counts the role's agents from 1.
func (t Turn) Number() int { return t.Slot + 1 }

// Color is the role's.
func (t Turn) Color() int {
	if i := slices.Index(roles, t.Role); i >= 0 {
		return i
	}
	return len(roles)
}

// conversations is about how many a report shows.
const conversations = 10

// loadConversations shows a few tasks before and after training: of each run
// of the grid's first seed, and of each checkpoint that was evaluated as its
// base was.
func loadConversations(ctx context.Context, db *store.DB, runs, evaluations []store.Run) ([]Conversation, error) {
	type ends struct {
		title         string
		before, after Moment
	}
	var all []ends
	for _, e := range evaluatedPairs(evaluations) {
		before, ok, err := momentOf(ctx, db, e[0].ID, "ASC", "held", "train")
		if err != nil {
			return nil, err
		}
		after, ok2, err := momentOf(ctx, db, e[1].ID, "ASC", "held", "train")
		if err != nil {
			return nil, err
		}
		if ok && ok2 {
			all = append(all, ends{titleOf(e[1]), before, after})
		}
	}
	for _, run := range runs {
		if control, _ := pair(run.Profile, run.Workflow, run.Policy); control != "" || run.Seed != runs[0].Seed {
			continue
		}
		before, ok, err := momentOf(ctx, db, run.ID, "ASC", "held", "probe")
		if err != nil {
			return nil, err
		}
		after, ok2, err := momentOf(ctx, db, run.ID, "DESC", "held", "probe")
		if err != nil {
			return nil, err
		}
		if ok && ok2 && before.Split == after.Split && before.Iteration < after.Iteration {
			all = append(all, ends{titleOf(run), before, after})
		}
	}
	var out []Conversation
	for _, e := range all {
		some, err := Conversations(ctx, db, e.before, e.after, max(1, conversations/len(all)))
		if err != nil {
			return nil, err
		}
		for i := range some {
			some[i].Title = e.title
		}
		out = append(out, some...)
	}
	return out, nil
}

func titleOf(run store.Run) string {
	_, name := pair(run.Profile, run.Workflow, run.Policy)
	return name + " on " + run.Task
}

// evaluatedPairs joins evaluations of a base model and of a checkpoint under
// the same workflow on the same task.
func evaluatedPairs(evaluations []store.Run) [][2]store.Run {
	const base = `# evaluated: checkpoint ""`
	var out [][2]store.Run
	for _, b := range evaluations {
		if strings.Contains(b.Config, base) {
			continue
		}
		for _, a := range evaluations {
			if strings.Contains(a.Config, base) && a.Workflow == b.Workflow && a.Task == b.Task && a.Model == b.Model && a.Seed == b.Seed {
				out = append(out, [2]store.Run{a, b})
				break
			}
		}
	}
	return out
}

// momentOf is the first or the last iteration of a run whose calls are logged
// on the first of the splits that has any.
func momentOf(ctx context.Context, db *store.DB, run, direction string, splits ...string) (Moment, bool, error) {
	for _, split := range splits {
		rows, err := db.Query(ctx, fmt.Sprintf(`SELECT iteration, temperature FROM calls WHERE run = :run AND split = '%s'
			ORDER BY iteration %s, temperature DESC LIMIT 1`, split, direction), run)
		if err != nil {
			return Moment{}, false, err
		}
		v := rows.Next()
		if err := rows.Close(); err != nil {
			return Moment{}, false, err
		}
		if v != nil {
			iteration, _ := v[0].(int64)
			temperature, _ := v[1].(float64)
			return Moment{run, int(iteration), split, temperature}, true, nil
		}
	}
	return Moment{}, false, nil
}

// conversationsQuery lists tasks of which both moments have the texts.
const conversationsQuery = `SELECT DISTINCT task, rollout FROM calls
WHERE run = :run AND iteration = %d AND split = '%s' AND temperature = %v ORDER BY task, rollout`

// Conversations pairs the first n tasks of which both moments have the texts,
// in the order of their ids: nothing is chosen by its outcome.
func Conversations(ctx context.Context, db *store.DB, before, after Moment, n int) ([]Conversation, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(conversationsQuery, before.Iteration, before.Split, before.Temperature), before.Run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Conversation
	seen := ""
	for v := rows.Next(); v != nil && len(out) < n; v = rows.Next() {
		task, _ := v[0].(string)
		rollout, _ := v[1].(int64)
		if task == seen {
			continue
		}
		c := Conversation{Task: task}
		if c.Before, err = before.talk(ctx, db, task, int(rollout)); err != nil {
			return nil, err
		}
		if c.After, err = after.talk(ctx, db, task, int(rollout)); err != nil {
			return nil, err
		}
		if len(c.After.Turns) == 0 {
			continue
		}
		seen = task
		t, _, err := db.TaskByID(ctx, before.Run, task)
		if err != nil {
			return nil, err
		}
		c.Text, c.Gold = t.Text, t.Gold
		out = append(out, c)
	}
	return out, rows.Close()
}

// talk reads one episode of the moment; it has no turns if the log has none.
func (m Moment) talk(ctx context.Context, db *store.DB, task string, rollout int) (Talk, error) {
	t, at := Talk{Moment: m}, store.At{Split: m.Split, Temperature: m.Temperature, Task: task, Rollout: rollout}
	calls, err := db.CallsOf(ctx, m.Run, m.Iteration, at)
	if err != nil {
		return t, err
	}
	for _, c := range calls {
		t.Turns = append(t.Turns, Turn{c.Role, c.Slot, c.Turn, c.Text})
	}
	verdicts, err := db.VerdictsOf(ctx, m.Run, m.Iteration, at)
	if err != nil {
		return t, err
	}
	for _, v := range verdicts {
		if v.Role == "" {
			t.Verdict, t.Reason = v.Code, v.Reason
		}
	}
	return t, nil
}
