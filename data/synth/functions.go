package synth

import (
	"fmt"
	"strings"
)

// hiddenTests is the number of tests of a code task, n from 0.
const hiddenTests = 10

// codeOps are the families of functions of a level. Medium is the tiny
// study's: 2,087 functions, those of the form n*a+c and n*a-c three times as
// likely as the others.
func codeOps(l Level) []op {
	switch l {
	case Easy:
		return []op{
			family("n+c", 1, func(a []int, n int) int { return n + a[0] }, span{1, 20}),
			family("n-c", 1, func(a []int, n int) int { return n - a[0] }, span{1, 20}),
			family("n*a", 1, func(a []int, n int) int { return n * a[0] }, span{2, 20}),
		}
	case Medium:
		c, a := span{1, 99}, span{2, 9}
		return []op{
			family("n+c", 1, func(a []int, n int) int { return n + a[0] }, c),
			family("n-c", 1, func(a []int, n int) int { return n - a[0] }, c),
			family("c-n", 1, func(a []int, n int) int { return a[0] - n }, c),
			family("n*a", 1, func(a []int, n int) int { return n * a[0] }, a),
			family("n*a+c", 3, func(a []int, n int) int { return n*a[0] + a[1] }, a, c),
			family("n*a-c", 3, func(a []int, n int) int { return n*a[0] - a[1] }, a, c),
			family("n*n+c", 1, func(a []int, n int) int { return n*n + a[0] }, c),
			family("n*n-c", 1, func(a []int, n int) int { return n*n - a[0] }, c),
		}
	}
	larger := family("max(n*a,c)", 1, func(a []int, n int) int { return max(n*a[0], a[1]) }, span{2, 9}, span{1, 35})
	// Both parts of it must show in the examples.
	larger.valid = func(a []int) bool { return a[0] < a[1] && a[1] < 4*a[0] }
	return []op{
		family("a*n*n+b*n+c", 2, func(a []int, n int) int { return a[0]*n*n + a[1]*n + a[2] }, span{2, 9}, span{-9, 9}, span{-50, 50}),
		family("n%a*b+c", 1, func(a []int, n int) int { return n%a[0]*a[1] + a[2] }, span{2, 4}, span{2, 9}, span{0, 50}),
		family("n//a+c", 1, func(a []int, n int) int { return n/a[0] + a[1] }, span{2, 3}, span{0, 99}),
		larger,
	}
}

func family(name string, weight int, value func(a []int, n int) int, args ...span) op {
	return op{name: name, weight: weight, args: args, ordered: true, value: value, function: true}
}

// shown is the number of examples: three tell the functions of the lower
// levels apart.
func shown(l Level) int {
	if l == Hard {
		return 6
	}
	return 3
}

// examples is the short rendering: f(0),f(1),f(2)>.
func examples(p problem, l Level) string {
	values := make([]string, shown(l))
	for n := range values {
		values[n] = fmt.Sprint(p.op.value(p.args, n))
	}
	return strings.Join(values, ",") + ">"
}

func exampleLines(p problem, l Level) string {
	var b strings.Builder
	b.WriteString("Find f from these examples:\n")
	for n := range shown(l) {
		fmt.Fprintf(&b, "f(%d) = %d\n", n, p.op.value(p.args, n))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
