package synth

import (
	"fmt"
	"strconv"
	"strings"
)

// mathOps are the operations of a level. Medium: two-digit a+b (5/8) and a-b
// with a >= b (3/8).
func mathOps(l Level) []op {
	switch l {
	case Easy:
		return []op{addition(0, 9, 5, "%d+%d"), subtraction(0, 9, 3, "%d-%d")}
	case Medium:
		return []op{addition(0, 99, 5, "%02d+%02d"), subtraction(0, 99, 3, "%02d-%02d")}
	}
	return []op{
		addition(100, 999, 2, "%d+%d"), subtraction(100, 999, 2, "%d-%d"),
		{name: "a*b", weight: 2, args: []span{{2, 99}, {2, 12}}, ordered: true,
			value: func(a []int, _ int) int { return a[0] * a[1] },
			short: func(a []int) string { return fmt.Sprintf("%d*%d", a[0], a[1]) },
			words: []string{"What is {0} times {1}?",
				"A box holds {0} pencils. How many pencils are in {1} such boxes?",
				"A train makes {1} trips a day and carries {0} people on each. How many people does it carry in a day?"}},
		{name: "a*b+c", weight: 1, args: []span{{2, 99}, {2, 12}, {1, 99}}, ordered: true,
			value: func(a []int, _ int) int { return a[0]*a[1] + a[2] },
			short: func(a []int) string { return fmt.Sprintf("%d*%d+%d", a[0], a[1], a[2]) },
			words: []string{"What is {0} times {1}, plus {2}?",
				"A shop gets {1} crates with {0} apples each and already has {2} apples. How many apples has it now?"}},
		{name: "a+b-c", weight: 1, args: []span{{10, 99}, {10, 99}, {10, 99}},
			valid: func(a []int) bool { return a[0]+a[1] >= a[2] },
			value: func(a []int, _ int) int { return a[0] + a[1] - a[2] },
			short: func(a []int) string { return fmt.Sprintf("%d+%d-%d", a[0], a[1], a[2]) },
			words: []string{"What is {0} + {1} - {2}?",
				"Sam has {0} stamps, gets {1} more and gives {2} away. How many stamps has Sam left?"}},
	}
}

func addition(lo, hi, weight int, format string) op {
	return op{name: "a+b", weight: weight, args: []span{{lo, hi}, {lo, hi}},
		value: func(a []int, _ int) int { return a[0] + a[1] },
		short: func(a []int) string { return fmt.Sprintf(format, a[0], a[1]) },
		words: []string{"What is {0} + {1}?", "What is {0} + {1}?",
			"Mia has {0} marbles and finds {1} more. How many marbles has she now?",
			"One class has {0} pupils, another has {1}. How many pupils are there together?",
			"A book has {0} pages of text and {1} pages of notes. How many pages are that?"}}
}

func subtraction(lo, hi, weight int, format string) op {
	return op{name: "a-b", weight: weight, args: []span{{lo, hi}, {lo, hi}}, ordered: true,
		valid:  func(a []int) bool { return a[0] >= a[1] },
		repair: func(a []int) { a[0], a[1] = a[1], a[0] },
		value:  func(a []int, _ int) int { return a[0] - a[1] },
		short:  func(a []int) string { return fmt.Sprintf(format, a[0], a[1]) },
		words: []string{"What is {0} - {1}?", "What is {0} - {1}?",
			"Tom has {0} coins and spends {1} of them. How many coins has he left?",
			"Of {0} seats in a hall, {1} are taken. How many seats are free?",
			"A rope is {0} metres long; {1} metres are cut off. How many metres are left?"}}
}

// inWords picks one of the operation's wordings by the problem's hash, so that
// a problem has one wording only.
func (p problem) inWords() string {
	text := p.op.words[p.hash()%uint64(len(p.op.words))]
	for i, a := range p.args {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", strconv.Itoa(a))
	}
	return text
}
