package synth

import (
	"fmt"

	"troupe/data"
)

// Plain is arithmetic in plain English for small pretrained checkpoints:
// sums of one-digit numbers (Easy) and of two-digit numbers, up to 120 (Medium),
// and one-step word problems
// (Hard). The last integer of a reply counts as its answer. The text is the
// question alone: how to answer is for the prompts to say.
func Plain(l Level) *Set {
	s := newSet("synth-plain", English, l, plainOps(l), 0.2)
	s.task = func(p problem) data.Task {
		return data.Task{Kind: data.Math, Text: p.inWords(), Gold: fmt.Sprint(p.op.value(p.args, 0)), Answer: data.LastInteger}
	}
	return s
}

func plainOps(l Level) []op {
	switch l {
	case Easy, Medium:
		lo, hi := 0, 9
		if l == Medium {
			lo, hi = 10, 99
		}
		sum := addition(lo, hi, 1, "%d+%d")
		sum.words = sum.words[:1]
		sum.valid = func(a []int) bool { return a[0]+a[1] <= largestSum }
		return []op{sum}
	}
	more, less := addition(2, 49, 1, "%d+%d"), subtraction(2, 49, 1, "%d-%d")
	more.words, less.words = more.words[stories:], less.words[stories:]
	return []op{more, less}
}

// largestSum bounds the two-digit sums.
const largestSum = 120

// stories is the place of the first wording of a sum or a difference that
// tells of things rather than numbers.
const stories = 2

// named are the sets that have a name of their own on the command line.
var named = []struct {
	name string
	set  func() *Set
}{
	{"sums1", func() *Set { return Plain(Easy) }},
	{"sums2", func() *Set { return Plain(Medium) }},
	{"stories", func() *Set { return Plain(Hard) }},
}

// Named gives the set of a name that Names lists.
func Named(name string) (set *Set, ok bool) {
	for _, n := range named {
		if n.name == name {
			return n.set(), true
		}
	}
	return nil, false
}

// Names lists the named sets, easiest first.
func Names() []string {
	names := make([]string, len(named))
	for i, n := range named {
		names[i] = n.name
	}
	return names
}
