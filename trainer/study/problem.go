package study

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"troupe/data"
)

// problem is a task taken apart again, as the teacher needs it.
type problem struct {
	kind data.Kind
	text string
	op   op
	a, b int
}

// op is what a problem calculates.
type op int

const (
	sum        op = iota // a+b
	difference           // a-b

	plus      // n+a
	minus     // n-a
	from      // a-n
	times     // n*a
	timesPlus // n*a+b
	timesLess // n*a-b
	squarePlus
	squareLess
)

// family is the strategy that a program's operation belongs to.
var family = map[op]int{plus: 0, minus: 0, from: 0, times: 1, timesPlus: 2, timesLess: 2, squarePlus: 3, squareLess: 3}

// families lists the operations of each code strategy.
var families = [][]op{{plus, minus, from}, {times}, {timesPlus, timesLess}, {squarePlus, squareLess}}

// parseProblem reads a task's text: "47+38=" or the first three values of a
// function, "7,10,13>", which name it uniquely.
func parseProblem(t data.Task) (problem, error) {
	p := problem{kind: t.Kind, text: t.Text}
	bad := fmt.Errorf("task %s: %q is no problem of the tiny study", t.ID, t.Text)
	if t.Kind == data.Math {
		body := strings.TrimSuffix(t.Text, "=")
		i := strings.IndexAny(body, "+-")
		if i < 1 {
			return p, bad
		}
		if body[i] == '-' {
			p.op = difference
		}
		var errA, errB error
		p.a, errA = strconv.Atoi(body[:i])
		p.b, errB = strconv.Atoi(body[i+1:])
		if errA != nil || errB != nil {
			return p, bad
		}
		return p, nil
	}
	fields := strings.Split(strings.TrimSuffix(t.Text, ">"), ",")
	if len(fields) != 3 {
		return p, bad
	}
	var f [3]int
	for i, s := range fields {
		v, err := strconv.Atoi(s)
		if err != nil {
			return p, bad
		}
		f[i] = v
	}
	p.op, p.a, p.b = function(f[0], f[1]-f[0], f[2]-2*f[1]+f[0])
	if p.value(1) != f[1] || p.value(2) != f[2] {
		return p, bad
	}
	return p, nil
}

// function finds the operation from f(0), the first and the second difference.
func function(start, slope, bend int) (op, int, int) {
	switch {
	case bend != 0 && start >= 0:
		return squarePlus, start, 0
	case bend != 0:
		return squareLess, -start, 0
	case slope == -1:
		return from, start, 0
	case slope == 1 && start >= 0:
		return plus, start, 0
	case slope == 1:
		return minus, -start, 0
	case start == 0:
		return times, slope, 0
	case start > 0:
		return timesPlus, slope, start
	}
	return timesLess, slope, -start
}

// value is the answer of a sum, or a function's value at n.
func (p problem) value(n int) int {
	switch p.op {
	case sum:
		return p.a + p.b
	case difference:
		return p.a - p.b
	case plus:
		return n + p.a
	case minus:
		return n - p.a
	case from:
		return p.a - n
	case times:
		return n * p.a
	case timesPlus:
		return n*p.a + p.b
	case timesLess:
		return n*p.a - p.b
	case squarePlus:
		return n*n + p.a
	}
	return n*n - p.a
}

// answer is the right number, or the right program's expression.
func (p problem) answer() string {
	switch p.op {
	case sum, difference:
		return strconv.Itoa(p.value(0))
	case plus:
		return fmt.Sprintf("n+%d", p.a)
	case minus:
		return fmt.Sprintf("n-%d", p.a)
	case from:
		return fmt.Sprintf("%d-n", p.a)
	case times:
		return fmt.Sprintf("n*%d", p.a)
	case timesPlus:
		return fmt.Sprintf("n*%d+%d", p.a, p.b)
	case timesLess:
		return fmt.Sprintf("n*%d-%d", p.a, p.b)
	case squarePlus:
		return fmt.Sprintf("n*n+%d", p.a)
	}
	return fmt.Sprintf("n*n-%d", p.a)
}

const (
	largestConstant = 99
	largestFactor   = 9
)

// randomFunction draws constants for an operation.
func randomFunction(rng *rand.Rand, o op) problem {
	p := problem{kind: data.Code, op: o}
	switch o {
	case times, timesPlus, timesLess:
		p.a = 2 + rng.IntN(largestFactor-1)
		if o != times {
			p.b = 1 + rng.IntN(largestConstant)
		}
	default:
		p.a = 1 + rng.IntN(largestConstant)
	}
	return p
}

// wrong is a plausible mistake: never the right answer.
func (p problem) wrong(rng *rand.Rand) problem {
	if p.kind == data.Math {
		return p.wrongSum(rng)
	}
	q := p
	switch r := rng.IntN(6); {
	case r < 2, r == 2 && p.b == 0:
		q.a = p.a + 2*rng.IntN(2) - 1
		if q.a < 1 {
			q.a = p.a + 1
		}
	case r == 2:
		q.b = max(1, p.b+2*rng.IntN(2)-1)
	case r == 3:
		q = randomFunction(rng, plus+op(rng.IntN(8)))
	default:
		swap := map[op]op{plus: minus, minus: plus, from: minus, times: timesPlus,
			timesPlus: timesLess, timesLess: timesPlus, squarePlus: squareLess, squareLess: squarePlus}
		q.op = swap[p.op]
		if q.op == timesPlus && q.b == 0 {
			q.b = 1 + rng.IntN(largestConstant)
		}
	}
	if q.answer() == p.answer() {
		q = randomFunction(rng, plus+(p.op-plus+1+op(rng.IntN(7)))%8)
	}
	return q
}

// wrongSum keeps the operation and moves an operand, so that the value is off.
func (p problem) wrongSum(rng *rand.Rand) problem {
	right := p.value(0)
	var v int
	switch rng.IntN(5) {
	case 0:
		v = right + 10
	case 1:
		v = right - 10
	case 2:
		v = right + 1
	case 3:
		v = right - 1
	default:
		v = right + rng.IntN(41) - 20
	}
	if v < 0 {
		v = right + 1 + rng.IntN(9)
	}
	if v == right {
		v++
	}
	q := p
	q.a += v - right
	return q
}
