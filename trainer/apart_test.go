package trainer

import (
	"strconv"
	"testing"
)

// Agents with a set each are looked at together as those that share one are:
// in the first iteration, when all sets are the same, the numbers agree.
func TestAgentsApartAreComparedLikeThoseTogether(t *testing.T) {
	logs := map[string]map[string]string{}
	for _, policy := range []string{"isolated", "slot"} {
		w := newWorld(t, t.TempDir(), smallConfig("workflow=voting", "policy="+policy, "params=full", "minibatch=0", "iterations=1"), nil).play(t)
		logs[policy] = metricsOf(t, w)
	}
	for _, metric := range []string{"actor/amplification", "actor/slot_cosine"} {
		together, errA := strconv.ParseFloat(logs["isolated"]["generator "+metric], 64)
		apart, errB := strconv.ParseFloat(logs["slot"]["generator "+metric], 64)
		if errA != nil || errB != nil || together == 0 {
			t.Fatalf("%s: %v, %v", metric, logs["isolated"]["generator "+metric], logs["slot"]["generator "+metric])
		}
		if d := apart/together - 1; d > 1e-3 || d < -1e-3 {
			t.Errorf("%s: %v together, %v apart", metric, together, apart)
		}
	}
}
