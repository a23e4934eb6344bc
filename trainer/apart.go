package trainer

import (
	"troupe/data/store"
	"troupe/trainer/metrics"
	"troupe/trainer/policy"
)

// apart reports whether a set answers for one of several agents of a role, each
// with a set of its own. Then what the agents' gradients have in common is seen
// only across sets.
func (t *Trainer) apart(set *policy.Set, ps []metrics.Part) bool {
	for _, p := range ps {
		for s := range t.slots(p.Role) {
			if t.route.Set(p.Role, s) != set.Name {
				return true
			}
		}
	}
	return false
}

// logApart notes, for roles whose agents have a set each, what the agents'
// gradients have in common, as it is noted within a set that they share.
func (t *Trainer) logApart(log *record, updates []updated) {
	for _, role := range t.workflow.Roles() {
		var ps []metrics.Part
		var grads [][][]float32
		for i := range updates {
			u := &updates[i]
			for k, g := range u.apart {
				if p := u.gradients.Parts[k]; p.Role == role {
					ps, grads = append(ps, p), append(grads, g)
				}
			}
		}
		if len(ps) < 2 {
			continue
		}
		g := metrics.NewGradients(ps, grads)
		log.role(role, store.AllSlots, "actor/grad_norm", g.Norm(role))
		log.role(role, store.AllSlots, "actor/amplification", g.Amplification(role))
		log.role(role, store.AllSlots, "actor/slot_cosine", g.SlotCosine(role))
	}
}
