package trainer

import (
	"context"
	"slices"

	"troupe/data/store"
	"troupe/model"
	"troupe/trainer/metrics"
	"troupe/trainer/policy"
)

// corrected is what the slots of a role have in common once the noise of small
// batches is taken out.
type corrected struct{ cos, amplification float64 }

// halvesDue reports whether the noise is taken out in an iteration.
func (t *Trainer) halvesDue(iteration int) bool {
	return t.cfg.ProbeEvery > 0 && (iteration == 1 || t.dueAt(iteration, t.last).probes > 0)
}

// halves takes the gradients of the roles with several slots again, over every
// other task only, and with them the noise out of the slots' cosine. The other
// half is the whole minus the first, so nothing that is trained on changes.
func (t *Trainer) halves(ctx context.Context, set *policy.Set, rows []*row, weights []float64, ps []metrics.Part, whole [][][]float32) (map[string]corrected, error) {
	slots := map[string]int{}
	for _, p := range ps {
		slots[p.Role]++
	}
	var half []*row
	var weigh []float64
	place := map[string]int{}
	for i, r := range rows {
		if _, ok := place[r.episode.Task]; !ok {
			place[r.episode.Task] = len(place)
		}
		if place[r.episode.Task]%2 == 0 && slots[r.call.Role.Name] > 1 {
			half, weigh = append(half, r), append(weigh, weights[i])
		}
	}
	if len(half) == 0 {
		return nil, nil
	}
	_, names, grads, err := t.gradients(ctx, set, half, weigh)
	if err != nil {
		return nil, err
	}
	out := map[string]corrected{}
	for role, n := range slots {
		var pairs [][2][][]float32
		for i, p := range ps {
			k := slices.Index(names, p)
			if p.Role == role && k >= 0 {
				pairs = append(pairs, [2][][]float32{grads[k].Tensors(), difference(whole[i], grads[k])})
			}
		}
		if len(pairs) < 2 {
			continue
		}
		if cos, ok := metrics.CorrectedCosine(pairs); ok {
			out[role] = corrected{cos, metrics.AmplificationFromCosine(cos, n)}
		}
	}
	return out, nil
}

func difference(whole [][]float32, part *model.Grads) [][]float32 {
	out := clone(whole)
	for i, x := range part.Tensors() {
		for j, v := range x {
			out[i][j] -= v
		}
	}
	return out
}

// logGroups notes how many of a role's groups can teach: those whose rewards
// differ, those that are all right, and those that are all wrong.
func logGroups(log *record, role string, rows []*row) {
	type group struct{ lowest, highest float64 }
	groups := map[string]*group{}
	n, idle := 0.0, 0.0
	for _, r := range rows {
		if r.call.Role.Name != role {
			continue
		}
		n++
		if r.advantage == 0 {
			idle++
		}
		g := groups[r.group]
		if g == nil {
			g = &group{r.reward, r.reward}
			groups[r.group] = g
		}
		g.lowest, g.highest = min(g.lowest, r.reward), max(g.highest, r.reward)
	}
	if n == 0 {
		return
	}
	var teach, easy, hard float64
	for _, g := range groups {
		switch {
		case g.lowest != g.highest:
			teach++
		case g.lowest > 0:
			easy++
		default:
			hard++
		}
	}
	all := float64(len(groups))
	put := func(metric string, value float64) { log.role(role, store.AllSlots, metric, value) }
	put("critic/advantages/fraction_zero", idle/n)
	put("batch/fractions/effective", teach/all)
	put("batch/fractions/too_easy", easy/all)
	put("batch/fractions/too_hard", hard/all)
}
