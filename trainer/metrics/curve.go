package metrics

import (
	"math"
	"slices"
)

// Point is one evaluation of a run: which iteration, and which of the same
// tasks were right.
type Point struct {
	Iteration int
	Right     []bool
}

// Accuracy of a point.
func (p Point) Accuracy() float64 {
	n := 0
	for _, r := range p.Right {
		n += toInt(r)
	}
	if len(p.Right) == 0 {
		return 0
	}
	return float64(n) / float64(len(p.Right))
}

// Curve sums up the evaluations of one run.
type Curve struct {
	Base, Peak, Final float64
	PeakIteration     int
	Drop              float64 // Peak - Final
	Floor             float64 // lowest after the peak
	P                 float64 // paired p between the peak's and the last evaluation
	Cliff             bool    // Drop of at least 5 points with P < 0.01
	Terminal          bool    // a cliff whose steepest fall lies in the last quarter
	Drift             bool    // a cliff without a steep fall
}

// Summarize reads a curve whose first point is the base. Peak is the largest
// median of three neighbouring evaluations, so that one lucky draw is no peak;
// Final is the mean of the last three.
func Summarize(points []Point) Curve {
	if len(points) == 0 {
		return Curve{P: 1}
	}
	acc := make([]float64, len(points))
	for i, p := range points {
		acc[i] = p.Accuracy()
	}
	smooth := medianOf3(acc)
	peak := 0
	for i, v := range smooth {
		if v > smooth[peak] {
			peak = i
		}
	}
	last := len(points) - 1
	c := Curve{
		Base: acc[0], Peak: smooth[peak], PeakIteration: points[peak].Iteration,
		Final: Mean(acc[max(0, len(acc)-3):]), Floor: slices.Min(acc[peak:]), P: 1,
	}
	c.Drop = c.Peak - c.Final
	if peak < last && len(points[peak].Right) == len(points[last].Right) {
		c.P, _ = McNemar(Discordant(points[peak].Right, points[last].Right))
	}
	if c.Drop >= 0.05 && c.P < 0.01 {
		c.Cliff = true
		fall, at := steepest(points, acc)
		span := points[last].Iteration - points[0].Iteration
		c.Terminal = at >= points[last].Iteration-span/4
		c.Drift = fall < c.Drop/2
	}
	return c
}

// medianOf3 smooths with the neighbours; the ends keep their own value where
// they have only one.
func medianOf3(x []float64) []float64 {
	out := slices.Clone(x)
	for i := 1; i+1 < len(x); i++ {
		w := []float64{x[i-1], x[i], x[i+1]}
		slices.Sort(w)
		out[i] = w[1]
	}
	return out
}

// steepest is the largest fall within a tenth of the run, and the iteration at
// which it ends.
func steepest(points []Point, acc []float64) (fall float64, at int) {
	span := points[len(points)-1].Iteration - points[0].Iteration
	window := max(1, span/10)
	for i := range points {
		for j := i + 1; j < len(points); j++ {
			if points[j].Iteration-points[i].Iteration > window && j > i+1 {
				break
			}
			if d := acc[i] - acc[j]; d > fall {
				fall, at = d, points[j].Iteration
			}
		}
	}
	return fall, at
}

// Alarm watches one series by an exponentially weighted mean and variance and
// fires when a value lies more than Z standard deviations off on the watched
// side. The zero value is not ready: use NewAlarm.
type Alarm struct {
	Z      float64 // how many standard deviations
	Alpha  float64 // weight of the newest value
	Warm   int     // values before it may fire
	Upward bool    // fires on rises; else on falls
	mean   float64
	vari   float64
	n      int
}

// NewAlarm is the setting the study uses: three standard deviations, a memory of
// about ten values, no alarm in the first five.
func NewAlarm(upward bool) *Alarm { return &Alarm{Z: 3, Alpha: 0.2, Warm: 5, Upward: upward} }

// Observe takes the next value and reports whether it is out of line, and by
// how many standard deviations.
func (a *Alarm) Observe(x float64) (fired bool, z float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return true, math.Inf(1)
	}
	if a.n > 0 {
		sd := math.Sqrt(a.vari) + 1e-3*math.Abs(a.mean) + 1e-9
		z = (x - a.mean) / sd
		if !a.Upward {
			z = -z
		}
		fired = a.n >= a.Warm && z > a.Z
	}
	if a.n == 0 {
		a.mean = x
	} else {
		d := x - a.mean
		a.mean += a.Alpha * d
		a.vari = (1 - a.Alpha) * (a.vari + a.Alpha*d*d)
	}
	a.n++
	return fired, z
}
