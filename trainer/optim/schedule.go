package optim

import (
	"fmt"
	"math"
)

// Shape names a learning-rate schedule.
type Shape string

// The schedules, after a linear warm-up from call 0 (whose rate is 0 when there
// is a warm-up).
const (
	Constant Shape = "constant"
	Linear   Shape = "linear" // from warm-up straight to Floor at Total
	Cosine   Shape = "cosine"
	Ramp     Shape = "ramp" // from 0 linearly to the full rate at Total: a negative control
)

// Shapes lists the names a config may use.
func Shapes() []string {
	return []string{string(Constant), string(Linear), string(Cosine), string(Ramp)}
}

// Schedule gives the learning rate of a call. What counts as a call (an
// iteration, or an update of one role) is the trainer's choice.
type Schedule struct {
	Shape  Shape
	Rate   float64 // the full rate
	Warmup int     // calls until the full rate
	Total  int     // calls at which Cosine and Linear end
	Cycles float64 // Cosine: 0.5 ends at the floor; 0 means 0.5
	Floor  float64 // share of Rate at the end
	Init   float64 // share of Rate at call 0 when there is a warm-up
	Clamp  bool    // hold the final rate after Total; without it Cosine rises again, as verl's does
}

// Validate reports a schedule that makes no sense.
func (s Schedule) Validate() error {
	switch s.Shape {
	case Constant, Linear, Cosine, Ramp:
	default:
		return fmt.Errorf("unknown schedule %q", string(s.Shape))
	}
	switch {
	case !(s.Rate >= 0) || math.IsInf(s.Rate, 0):
		return fmt.Errorf("learning rate %v is not a number of 0 or more", s.Rate)
	case s.Warmup < 0:
		return fmt.Errorf("warm-up %d is negative", s.Warmup)
	case s.Shape != Constant && s.Total <= s.Warmup:
		return fmt.Errorf("schedule %s ends at call %d, before its warm-up of %d does", s.Shape, s.Total, s.Warmup)
	case !(s.Floor >= 0 && s.Floor <= 1):
		return fmt.Errorf("floor %v is not in [0, 1]", s.Floor)
	}
	return nil
}

// At is the learning rate of call k, counted from 0.
func (s Schedule) At(k int) float64 { return s.Rate * s.factor(k) }

func (s Schedule) factor(k int) float64 {
	if k < s.Warmup {
		return s.Init + (1-s.Init)*float64(k)/float64(s.Warmup)
	}
	if s.Shape == Constant {
		return 1
	}
	if s.Shape == Ramp {
		return min(float64(k)/float64(s.Total), 1)
	}
	p := float64(k-s.Warmup) / float64(s.Total-s.Warmup)
	if s.Clamp {
		p = min(p, 1)
	}
	if s.Shape == Linear {
		return max(s.Floor, 1-(1-s.Floor)*p)
	}
	cycles := s.Cycles
	if cycles == 0 {
		cycles = 0.5
	}
	return max(s.Floor, (1+s.Floor)/2+(1-s.Floor)/2*math.Cos(2*math.Pi*cycles*p))
}
