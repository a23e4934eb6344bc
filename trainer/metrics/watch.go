package metrics

import "math"

// Rule says when one series calls for a person. Its conditions are alternatives;
// those that are zero don't apply.
type Rule struct {
	Kind   string // what the alarm is called
	Metric string
	Upward bool // rises are bad; else falls

	Sudden float64 // fires three standard deviations off, if the change is this share of the mean at least
	Factor float64 // fires at this multiple of the first value
	Change float64 // fires this far from the first value
	Smooth float64 // fires when the moving average is this far from its best
	Beyond *Bound  // fires beyond a fixed value

	// Average says that Factor, Change and Beyond are about the moving average
	// once it has settled, and not about each value: what lasts, not what one
	// batch happens to show. The first value is then the first settled average.
	Average bool
}

// Bound is a fixed limit.
type Bound struct{ At float64 }

// silence is for how many values a rule that fired by suddenness stays quiet.
const silence = 10

// Watch is one series under a rule. It forgets nothing but what the values
// themselves say, so feeding the same values again gives the same state.
type Watch struct {
	Rule  Rule
	alarm *Alarm
	first float64
	best  float64 // of the moving average, once it has settled
	seen  int
	quiet int
	off   bool // out of bounds already
	low   bool // far from the best already
}

// NewWatch starts a series. A moving average that is judged itself has to rest on
// as many values as it remembers.
func NewWatch(r Rule) *Watch {
	w := &Watch{Rule: r, alarm: NewAlarm(r.Upward)}
	if r.Average {
		w.alarm.Warm = 10
	}
	return w
}

// Observe takes the next value and reports whether the rule fires now. A value
// that stays out of bounds fires once.
func (w *Watch) Observe(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false // reported as non-finite elsewhere
	}
	mean := w.alarm.mean
	sudden, _ := w.alarm.Observe(x)
	off := false
	switch {
	case !w.Rule.Average:
		off = w.outOfBounds(x)
	case w.settled():
		off = w.outOfBounds(w.alarm.mean)
	}
	slid := w.slid()
	fired := off && !w.off || slid && !w.low
	w.off, w.low = off, slid
	w.quiet--
	if w.Rule.Sudden > 0 && sudden && w.quiet <= 0 && math.Abs(x-mean) >= w.Rule.Sudden*math.Abs(mean) {
		w.quiet = silence
		fired = true
	}
	return fired
}

// Holds reports whether a condition that lasts, any but suddenness, holds for the
// newest value.
func (w *Watch) Holds() bool { return w.off || w.low }

// slid reports whether the moving average has gone far from its best.
func (w *Watch) slid() bool {
	if w.Rule.Smooth == 0 || !w.settled() {
		return false
	}
	mean := w.alarm.mean
	if w.alarm.n == w.alarm.Warm+1 || (mean > w.best) != w.Rule.Upward {
		w.best = mean
	}
	return math.Abs(mean-w.best) >= w.Rule.Smooth
}

// settled reports whether the moving average rests on enough values.
func (w *Watch) settled() bool { return w.alarm.n > w.alarm.Warm }

// outOfBounds compares a value with the fixed limit and with the first one. A
// multiple of a first value that is 0 says nothing.
func (w *Watch) outOfBounds(x float64) bool {
	w.seen++
	if w.seen == 1 {
		w.first = x
	}
	r := &w.Rule
	past := func(limit float64) bool {
		if r.Upward {
			return x >= limit
		}
		return x <= limit
	}
	change := r.Change
	if !r.Upward {
		change = -change
	}
	return r.Beyond != nil && past(r.Beyond.At) ||
		w.seen > 1 && (r.Factor > 0 && w.first != 0 && past(r.Factor*w.first) || r.Change > 0 && past(w.first+change))
}

// LeadTime is how many iterations before the first evaluation that lies at
// least depth under the highest one before it an alarm came; ok is false where
// no evaluation does, or the alarm came later.
func LeadTime(points []Point, depth float64, alarm int) (lead int, ok bool) {
	peak := math.Inf(-1)
	for _, p := range points {
		a := p.Accuracy()
		if a <= peak-depth {
			return p.Iteration - alarm, alarm < p.Iteration
		}
		peak = max(peak, a)
	}
	return 0, false
}
