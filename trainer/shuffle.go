package trainer

import (
	"strconv"

	"troupe/internal/prng"
	"troupe/trainer/workflow"
)

// shuffle deals the advantages out anew among the rows of each role, slot and
// turn, across tasks. It is the null of everything that a reward does: how many
// advantages there are and how large stays, and that the rows of an episode
// share one where every episode has as many, but not what they were given for.
func (t *Trainer) shuffle(iteration int, rows []*row) {
	hands := map[workflow.Role][]*row{}
	var order []workflow.Role
	for _, r := range rows {
		role := r.call.Role
		if hands[role] == nil {
			order = append(order, role)
		}
		hands[role] = append(hands[role], r)
	}
	for _, role := range order {
		hand := hands[role]
		dealt := make([]float64, len(hand))
		// Hands of one size are shuffled alike.
		for i, j := range prng.Stream(t.cfg.Seed, "shuffle", strconv.Itoa(iteration), strconv.Itoa(len(hand))).Perm(len(hand)) {
			dealt[i] = hand[j].advantage
		}
		for i, r := range hand {
			r.advantage = dealt[i]
		}
	}
}
