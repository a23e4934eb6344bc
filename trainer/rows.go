package trainer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"troupe/data"
	"troupe/internal/prng"
	"troupe/trainer/grpo"
	"troupe/trainer/workflow"
)

// row is one model call as something to train on.
type row struct {
	episode   *workflow.Episode
	call      *workflow.Call
	set       string
	group     string // rows it was compared with
	reward    float64
	advantage float64
	masked    bool // cut off at the limit, and the overlong rule says so
	kept      bool // takes part in the update
}

// rows lines up the calls of all rewarded episodes, in their order, with their
// advantages. An episode whose verdict is an infrastructure failure has none.
// use, if not nil, names the tasks whose episodes take part.
func (t *Trainer) rows(episodes []workflow.Episode, use map[string]bool) ([]*row, error) {
	var rows []*row
	for i := range episodes {
		ep := &episodes[i]
		if !ep.Verdict.Rewarded() || use != nil && !use[ep.Task] {
			continue
		}
		for j := range ep.Calls {
			c := &ep.Calls[j]
			r := &row{episode: ep, call: c, set: t.route.Set(c.Role.Name, c.Role.Slot), reward: ep.Verdict.Reward}
			limit := c.MaxTokens
			if t.cfg.OverlongPenalty > 0 {
				r.reward += grpo.SoftPunishment(len(c.IDs), limit, t.cfg.OverlongBuffer, t.cfg.OverlongPenalty)
			}
			var err error
			if r.masked, err = grpo.Overlong(t.cfg.Overlong).Truncated(len(c.IDs), limit, c.Finish == workflow.Stop); err != nil {
				return nil, err
			}
			if r.group, err = grpo.Grouping(t.cfg.Grouping).Key(t.member(ep.Task, c)); err != nil {
				return nil, err
			}
			r.kept = len(c.IDs) > 0 && !r.masked && !t.sets[r.set].Frozen && t.soundSample(ep, c)
			rows = append(rows, r)
		}
	}
	return rows, t.advantages(rows)
}

// member is what the grouping rules know of a call.
func (t *Trainer) member(task string, c *workflow.Call) grpo.Member {
	m := grpo.Member{Task: task, Role: c.Role.Name, Slot: c.Role.Slot, Turn: c.Role.Turn, Trajectory: c.Role.Name}
	// The authors' math Voting numbers its generators, their code Voting and
	// their workers are not numbered.
	if t.cfg.Workflow == "voting" && t.kind == data.Math && c.Role.Name == "generator" {
		m.Trajectory = c.Role.Name + strconv.Itoa(c.Role.Slot)
	}
	if t.cfg.Grouping == string(grpo.BySamePrompt) {
		m.Prompt = fmt.Sprint(c.PromptIDs)
	}
	return m
}

// lineUp orders a set's rows before they are cut into mini-batches.
func (t *Trainer) lineUp(rows []*row, set string, iteration, epoch int) []*row {
	switch t.cfg.MiniBatchOrder {
	case "length":
		lengths := make([]int, len(rows))
		for i, r := range rows {
			lengths[i] = len(r.call.PromptIDs) + len(r.call.IDs)
		}
		return pick(rows, grpo.LengthBalanced(lengths))
	case "shuffle":
		if t.cfg.MiniBatch > 0 && len(rows) > t.cfg.MiniBatch {
			rng := prng.Stream(t.cfg.Seed, "minibatch", set, strconv.Itoa(iteration), strconv.Itoa(epoch))
			return pick(rows, rng.Perm(len(rows)))
		}
	}
	return rows
}

func pick(rows []*row, order []int) []*row {
	out := make([]*row, len(order))
	for i, j := range order {
		out[i] = rows[j]
	}
	return out
}

// part is the rows of one agent in a mini-batch. Gradients are taken part by
// part, so that metrics can tell who pushed where.
type part struct {
	role string
	slot int
	rows []int // places in the mini-batch
}

// divide takes a mini-batch apart by role and slot, in a fixed order. The rows of a
// role that only one agent has can be divided by rollout instead: what equal
// parts of one agent have in common is what several are compared with.
func (t *Trainer) divide(rows []*row) []part {
	var ps []part
	for i, r := range rows {
		role, slot := r.call.Role.Name, r.call.Role.Slot
		if t.cfg.GradParts > 1 && t.slots(role) == 1 {
			slot = r.episode.Rollout % t.cfg.GradParts
		}
		at := slices.IndexFunc(ps, func(p part) bool { return p.role == role && p.slot == slot })
		if at < 0 {
			at = len(ps)
			ps = append(ps, part{role: role, slot: slot})
		}
		ps[at].rows = append(ps[at].rows, i)
	}
	slices.SortStableFunc(ps, func(a, b part) int {
		if c := strings.Compare(a.role, b.role); c != 0 {
			return c
		}
		return a.slot - b.slot
	})
	return ps
}
