package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCopyRate(t *testing.T) {
	for _, c := range []struct {
		reply  []int32
		before [][]int32
		want   float64
	}{
		{nil, [][]int32{{1}}, 0},
		{[]int32{1, 2}, nil, 0},
		{[]int32{1, 2, 3, 4}, [][]int32{{9, 2, 3, 9}}, 0.5},
		{[]int32{1, 2, 3, 4}, [][]int32{{9}, {0, 1, 2, 3, 4, 5}}, 1},
		{[]int32{0, 0, 0, 1}, [][]int32{{0, 0}}, 0.5},
		{[]int32{5, 6}, [][]int32{{6, 5}}, 0.5},
	} {
		if got := CopyRate(c.reply, c.before...); got != c.want {
			t.Errorf("%v in %v: %v, want %v", c.reply, c.before, got, c.want)
		}
	}
}

// Against the plain table of all pairs of places.
func TestCopyRateIsTheLongestCommonRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	draw := func() []int32 {
		ids := make([]int32, 1+rng.IntN(40))
		for i := range ids {
			ids[i] = rng.Int32N(3)
		}
		return ids
	}
	for range 500 {
		a, b := draw(), draw()
		longest := 0
		for i := range a {
			for j := range b {
				n := 0
				for i+n < len(a) && j+n < len(b) && a[i+n] == b[j+n] {
					n++
				}
				longest = max(longest, n)
			}
		}
		if got, want := CopyRate(a, b), float64(longest)/float64(len(a)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v in %v: %v, want %v", a, b, got, want)
		}
	}
}

func TestDistinct(t *testing.T) {
	if _, ok := Distinct([][]int32{{1, 2, 3}}, 4); ok {
		t.Error("replies that are too short have no runs")
	}
	if got, _ := Distinct([][]int32{{1, 2, 3, 4, 5}, {1, 2, 3, 4}}, 4); math.Abs(got-2.0/3) > 1e-12 {
		t.Errorf("%v of three runs differ, want two thirds", got)
	}
}
