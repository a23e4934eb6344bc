package metrics

import (
	"math"
	"testing"
)

func TestSensitivityIsZeroWhereThePromptDoesNotMatter(t *testing.T) {
	for _, c := range []struct {
		logs []float64
		want float64
	}{
		{[]float64{-3, -3}, 0},
		{[]float64{-3, -3, -3}, 0},
		{[]float64{-1, -1000}, math.Log(2)},        // the other prompt never gives this answer
		{[]float64{-1000, -1}, -999 + math.Log(2)}, // its own hardly does
		{[]float64{0, math.Log(0.5)}, -math.Log(0.75)},
	} {
		if got := Sensitivity(c.logs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.logs, got, c.want)
		}
	}
}

func TestSelectionAgainstChanceAndOracle(t *testing.T) {
	var s Selection
	if _, ok := s.Lift(); ok {
		t.Error("a lift of nothing")
	}
	s.Add([]bool{true, false, false}, true)   // contested, chosen well
	s.Add([]bool{true, true, false}, false)   // contested, chosen badly
	s.Add([]bool{true, true, true}, true)     // nothing to choose
	s.Add([]bool{false, false, false}, true)  // solved by the last role itself
	s.Add([]bool{false, false, false}, false) // hopeless
	lift, ok := s.Lift()
	if want := (1 - 1./3 - 2./3) / 2; !ok || math.Abs(lift-want) > 1e-12 {
		t.Errorf("lift %v, want %v", lift, want)
	}
	if s.Any != 3 || s.Right != 3 || s.Contested != 2 || s.MinusOracle() != 0 {
		t.Errorf("%+v, minus oracle %v", s, s.MinusOracle())
	}
}
