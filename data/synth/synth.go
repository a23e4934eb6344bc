// Package synth generates the tasks that small models are trained and measured
// on: arithmetic, and programs to be found from examples. Streams are seeded
// and have no end; which split a problem belongs to is decided by a hash of the
// problem itself, so splits can't overlap, whatever the seed, the rendering or
// the number of tasks drawn.
package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"troupe/data"
	"troupe/internal/prng"
)

// Rendering is how a problem is put into words.
type Rendering int

// The renderings. Short is what models of a few thousand parameters read
// ("47+38=", "7,10,13>"); English is for real checkpoints.
const (
	Short Rendering = iota
	English
)

// Level grades the problems. Medium is the tiny study's.
type Level int

// The levels of difficulty.
const (
	Easy Level = iota
	Medium
	Hard
)

// String names the level as it stands in task ids.
func (l Level) String() string { return [...]string{"easy", "medium", "hard"}[l] }

// devShare is the part of all problems that goes to data.Dev; it is taken
// from the training side.
const devShare = 0.1

// Set is a family of tasks: one kind, one level, one rendering.
type Set struct {
	name  string
	ops   []op
	total int     // of the ops' weights
	held  float64 // share of problems set aside
	task  func(p problem) data.Task
}

// op is one operation with constants to be drawn.
type op struct {
	name    string
	weight  int
	args    []span
	ordered bool // a swap of the first two arguments is another problem
	// function marks families of functions: two that agree on all hidden tests
	// are one problem, however they are written.
	function bool
	valid    func(a []int) bool
	repair   func(a []int) // turns what is not valid into a valid problem
	value    func(a []int, n int) int
	short    func(a []int) string
	words    []string // English, with {0}, {1}, … for the arguments
}

// span is the range of an argument, both ends included.
type span struct{ lo, hi int }

// problem is an operation with its arguments.
type problem struct {
	op   *op
	args []int
}

// Math is arithmetic with one integer as answer. A fifth of the problems is
// set aside as data.Held; a+b and b+a are on the same side.
func Math(r Rendering, l Level) *Set {
	s := newSet("synth-math", r, l, mathOps(l), 0.2)
	s.task = func(p problem) data.Task {
		t := data.Task{Kind: data.Math, Text: p.op.short(p.args) + "=", Gold: fmt.Sprint(p.op.value(p.args, 0))}
		if r == English {
			t.Text = p.inWords() + " Answer with only the number."
		}
		return t
	}
	return s
}

// Code is programs to be found from examples f(0), f(1), …: read n, print
// f(n). Ten hidden tests, n from 0 to 9. Three tenths of the functions are set
// aside as data.Held.
func Code(r Rendering, l Level) *Set {
	s := newSet("synth-code", r, l, codeOps(l), 0.3)
	s.task = func(p problem) data.Task {
		t := data.Task{Kind: data.Code, Text: examples(p, l)}
		if r == English {
			t.Text = "Write a Python program that reads one integer n from standard input and prints f(n). " + exampleLines(p, l)
		}
		for n := range hiddenTests {
			t.Tests = append(t.Tests, data.Test{Input: fmt.Sprintln(n), Output: fmt.Sprintln(p.op.value(p.args, n))})
		}
		return t
	}
	return s
}

// Calls is Code with call-based tests: the answer defines a function f.
func Calls(r Rendering, l Level) *Set {
	s := newSet("synth-call", r, l, codeOps(l), 0.3)
	s.task = func(p problem) data.Task {
		t := data.Task{Kind: data.Code, Fn: "f", Text: examples(p, l)}
		if r == English {
			t.Text = "Write a Python function f(n) of one integer. " + exampleLines(p, l)
		}
		for n := range hiddenTests {
			t.Tests = append(t.Tests, data.Test{Input: fmt.Sprint(n), Output: fmt.Sprint(p.op.value(p.args, n))})
		}
		return t
	}
	return s
}

func newSet(name string, r Rendering, l Level, ops []op, held float64) *Set {
	s := &Set{name: name + "-" + l.String(), ops: ops, held: held}
	if r == English {
		s.name += "-english"
	}
	for _, o := range ops {
		s.total += o.weight
	}
	return s
}

// Name is the data set's name, the first part of its tasks' ids.
func (s *Set) Name() string { return s.name }

// Draw is draw number i of a split: the same for equal arguments, whatever was
// drawn before. Operations come with the weights of the tiny study.
func (s *Set) Draw(split data.Split, seed uint64, i int) data.Task {
	state := prng.Key{Seed: seed, Task: s.name, Role: string(split), Rollout: i}.State()
	token := 0
	intn := func(n int) int {
		u := state.Uniform(token)
		token++
		return int(u * float64(n))
	}
	for {
		p := s.random(intn)
		if s.split(p) == split {
			return s.finish(p, split)
		}
	}
}

// Distinct is n different tasks of a split, or all it has if they are fewer.
func (s *Set) Distinct(split data.Split, seed uint64, n int) []data.Task {
	if all, ok := s.All(split); ok {
		prng.Stream(seed, s.name, string(split)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(n, len(all))]
	}
	seen := make(map[string]bool, n)
	tasks := make([]data.Task, 0, n)
	for i := 0; len(tasks) < n; i++ {
		if t := s.Draw(split, seed, i); !seen[t.ID] {
			seen[t.ID] = true
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// enumerable is the largest number of problems that All lists.
const enumerable = 100_000

// All is every task of a split, ordered by id; ok is false where they are too
// many to list.
func (s *Set) All(split data.Split) (tasks []data.Task, ok bool) {
	size := 0
	for i := range s.ops {
		size += s.ops[i].size()
	}
	if size > enumerable {
		return nil, false
	}
	for i := range s.ops {
		o := &s.ops[i]
		o.each(func(args []int) {
			p := problem{o, args}
			if s.split(p) == split {
				tasks = append(tasks, s.finish(problem{o, slices.Clone(args)}, split))
			}
		})
	}
	slices.SortFunc(tasks, func(a, b data.Task) int { return strings.Compare(a.ID, b.ID) })
	return tasks, true
}

func (s *Set) finish(p problem, split data.Split) data.Task {
	t := s.task(p)
	t.ID, t.Split = data.TaskID(s.name, t.Text), split
	return t
}

func (s *Set) random(intn func(int) int) problem {
	r := intn(s.total)
	o := &s.ops[0]
	for i := range s.ops {
		o = &s.ops[i]
		if r -= o.weight; r < 0 {
			break
		}
	}
	for {
		args := make([]int, len(o.args))
		for i, a := range o.args {
			args[i] = a.lo + intn(a.hi-a.lo+1)
		}
		if o.valid != nil && !o.valid(args) && o.repair != nil {
			o.repair(args)
		}
		if o.valid == nil || o.valid(args) {
			return problem{o, args}
		}
	}
}

// split is decided by the problem alone: not by its wording, not by the seed.
func (s *Set) split(p problem) data.Split {
	u := float64(p.hash()>>11) / (1 << 53)
	switch {
	case u < s.held:
		return data.Held
	case u < s.held+devShare:
		return data.Dev
	}
	return data.Train
}

func (p problem) hash() uint64 {
	args := p.args
	if p.op.function {
		values := make([]int, hiddenTests)
		for n := range values {
			values[n] = p.op.value(args, n)
		}
		sum := sha256.Sum256(fmt.Append(nil, values))
		return binary.LittleEndian.Uint64(sum[:])
	}
	if !p.op.ordered && len(args) > 1 && args[0] > args[1] {
		args = slices.Clone(args)
		args[0], args[1] = args[1], args[0]
	}
	sum := sha256.Sum256(fmt.Append(nil, p.op.name, args))
	return binary.LittleEndian.Uint64(sum[:])
}

func (o *op) size() int {
	n := 1
	for _, a := range o.args {
		if n *= a.hi - a.lo + 1; n > enumerable {
			return n
		}
	}
	return n
}

func (o *op) each(f func(args []int)) {
	args := make([]int, len(o.args))
	var walk func(i int)
	walk = func(i int) {
		if i == len(args) {
			if o.valid == nil || o.valid(args) {
				f(args)
			}
			return
		}
		for v := o.args[i].lo; v <= o.args[i].hi; v++ {
			args[i] = v
			walk(i + 1)
		}
	}
	walk(0)
}
