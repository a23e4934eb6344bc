package metrics

import (
	"math"
	"slices"
	"testing"
)

func fires(r Rule, series []float64) []int {
	var at []int
	w := NewWatch(r)
	for i, x := range series {
		if w.Observe(x) {
			at = append(at, i)
		}
	}
	return at
}

func TestWatchesFireOnceWhereTheyShould(t *testing.T) {
	steady := []float64{1, 1.02, .98, 1.01, .99, 1, 1.02, 1, .99, 1.01}
	for _, c := range []struct {
		name   string
		rule   Rule
		series []float64
		want   []int
	}{
		{"steady", Rule{Upward: true, Sudden: .2, Factor: 1.5, Change: 1}, steady, nil},
		{"a jump", Rule{Upward: true, Sudden: .2}, append(slices.Clone(steady), 2, 2.1, 2), []int{10}},
		{"a jump the good way", Rule{Sudden: .2}, append(slices.Clone(steady), 2, 2.1, 2), nil},
		{"too small a jump", Rule{Upward: true, Sudden: .2}, append(slices.Clone(steady), 1.12), nil},
		{"a slow rise by factor", Rule{Upward: true, Factor: 1.5}, []float64{2, 2.3, 2.6, 2.9, 3.2, 3.5}, []int{4}},
		{"a fall, back, and again", Rule{Change: .2}, []float64{.9, .8, .6, .5, .9, .6}, []int{2, 5}},
		{"a slide from the best", Rule{Smooth: .1}, []float64{.4, .4, .4, .4, .4, .4, .5, .6, .6, .5, .4, .3, .3, .3, .3, .3}, []int{13}},
		{"a rise is no slide", Rule{Smooth: .1}, []float64{.1, .1, .1, .1, .1, .2, .3, .5, .8, .9, .9, .9}, nil},
		{"zero at once", Rule{Beyond: &Bound{0}}, []float64{0, 0, .1, 0}, []int{0, 3}},
		{"one batch says nothing of the average", Rule{Upward: true, Average: true, Factor: 2, Beyond: &Bound{3}}, append(slices.Clone(steady), 1, 1, 3.5, 1), nil},
		{"an average over its limit", Rule{Upward: true, Average: true, Beyond: &Bound{.5}}, []float64{.9, .1, .9, .1, .9, .1, .9, .9, .9, .9, .9, .9, .1, .1, .1}, []int{10}},
		{"an average twice the first settled one", Rule{Upward: true, Average: true, Factor: 2}, append(slices.Clone(steady), 1, 3, 3, 3, 3), []int{14}},
		{"a multiple of nothing", Rule{Upward: true, Factor: 2}, []float64{0, 0, 1}, nil},
		{"what is not finite", Rule{Upward: true, Factor: 1.5}, []float64{1, math.NaN(), math.Inf(1), 2}, []int{3}},
	} {
		if got := fires(c.rule, c.series); !slices.Equal(got, c.want) {
			t.Errorf("%s: fired at %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLeadTime(t *testing.T) {
	var points []Point
	for i, n := range []int{30, 50, 52, 48, 41, 20} {
		p := Point{Iteration: 10 * i, Right: make([]bool, 100)}
		for k := range n {
			p.Right[k] = true
		}
		points = append(points, p)
	}
	for _, c := range []struct {
		alarm, lead int
		ok          bool
	}{{25, 15, true}, {39, 1, true}, {40, 0, false}, {45, -5, false}} {
		if lead, ok := LeadTime(points, 0.1, c.alarm); lead != c.lead || ok != c.ok {
			t.Errorf("alarm at %d: %d %v", c.alarm, lead, ok)
		}
	}
	if _, ok := LeadTime(points[:4], 0.1, 5); ok {
		t.Error("a lead over no fall")
	}
}
