package trainer

import (
	"testing"

	"troupe/model"
	"troupe/model/kernels"
)

// A set that trained all parameters gives padding ids no more probability when
// it is evaluated than when it was trained.
func TestALoadedSetKnowsThePaddingOfItsBase(t *testing.T) {
	dir := t.TempDir()
	if err := smallModel(t, kernels.Default()).Save(dir, "f32"); err != nil {
		t.Fatal(err)
	}
	base, err := model.Load(dir, model.LoadOptions{Trainable: true, Vocab: 20})
	if err != nil {
		t.Fatal(err)
	}
	set, err := loadSet(base, "shared", dir)
	if err != nil {
		t.Fatal(err)
	}
	seq := []model.Sequence{{Prompt: []int32{3}, Action: []int32{4, 5, 1}}}
	want, err := base.Score(t.Context(), seq, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Model.Score(t.Context(), seq, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want[0].LogProbs {
		if got[0].LogProbs[i] != w {
			t.Errorf("token %d: %v, want %v", i, got[0].LogProbs[i], w)
		}
	}
}
