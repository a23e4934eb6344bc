// Package metrics has the numbers that tell what training did: gradients taken
// apart by role and slot, ratios between policies, capture of one role by
// another, peaks and cliffs of accuracy curves, and the statistics behind every
// claim. All of it is pure functions; the trainer decides what to compute when.
package metrics

import "math"

// Mean of x; 0 for none.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Std is the sample standard deviation (n-1); 0 for fewer than two.
func Std(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// BinomialSE is the standard error of a proportion p over n tasks.
func BinomialSE(p float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return math.Sqrt(p * (1 - p) / float64(n))
}
