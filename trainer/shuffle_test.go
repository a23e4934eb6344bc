package trainer

import (
	"maps"
	"slices"
	"testing"

	"troupe/trainer/rollout"
)

// drawn plays one iteration and lines up its rows.
func drawn(t *testing.T, overrides ...string) (*Trainer, []*row) {
	t.Helper()
	w := newWorld(t, t.TempDir(), smallConfig(overrides...), nil)
	t.Cleanup(func() { w.db.Close() })
	episodes, err := rollout.Play(t.Context(), w.t.workflow, rollout.Jobs(1, 1, w.t.source.draw(1, 4), 8), w.t.engine, lottery{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.t.rows(episodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.t, rows
}

func TestShuffledAdvantagesAreDealtOutAcrossTasks(t *testing.T) {
	tr, rows := drawn(t, "workflow=voting")
	hand := func() map[string][]float64 {
		h := map[string][]float64{}
		for _, r := range rows {
			h[r.call.Role.Name] = append(h[r.call.Role.Name], r.advantage)
		}
		for _, a := range h {
			slices.Sort(a)
		}
		return h
	}
	before := map[*row]float64{}
	for _, r := range rows {
		before[r] = r.advantage
	}
	had := hand()
	tr.shuffle(1, rows)
	if !maps.EqualFunc(had, hand(), slices.Equal[[]float64]) {
		t.Error("a role's advantages are not the ones it had")
	}
	shared, moved := map[string]float64{}, 0
	for _, r := range rows {
		if r.advantage != before[r] {
			moved++
		}
		if r.call.Role.Name != "generator" {
			continue
		}
		key := r.episode.Task + string(rune(r.episode.Rollout))
		if a, ok := shared[key]; ok && a != r.advantage {
			t.Fatal("the generators of an episode no longer share their advantage")
		}
		shared[key] = r.advantage
	}
	if moved < len(rows)/4 {
		t.Errorf("%d of %d advantages moved", moved, len(rows))
	}
	first := map[*row]float64{}
	for _, r := range rows {
		first[r], r.advantage = r.advantage, before[r]
	}
	tr.shuffle(1, rows)
	for _, r := range rows {
		if r.advantage != first[r] {
			t.Fatal("the same iteration was dealt out in another way")
		}
	}
}

func TestALoneAgentIsDividedByRollout(t *testing.T) {
	for parts, want := range map[string]int{"0": 1, "3": 3} {
		tr, rows := drawn(t, "workflow=single", "metrics.parts="+parts)
		ps := tr.divide(rows)
		n := 0
		for _, p := range ps {
			n += len(p.rows)
			for _, i := range p.rows {
				if want > 1 && rows[i].episode.Rollout%want != p.slot {
					t.Fatal("a row is in the wrong part")
				}
			}
		}
		if len(ps) != want || n != len(rows) {
			t.Errorf("metrics.parts %s: %d parts with %d of %d rows", parts, len(ps), n, len(rows))
		}
	}
}
