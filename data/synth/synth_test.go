package synth

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"troupe/data"
)

func sets() []*Set {
	var all []*Set
	for _, r := range []Rendering{Short, English} {
		for _, l := range []Level{Easy, Medium, Hard} {
			all = append(all, Math(r, l), Code(r, l), Calls(r, l))
		}
	}
	return all
}

var splits = []data.Split{data.Train, data.Dev, data.Held}

func TestTheTinyStudysProblems(t *testing.T) {
	count := func(s *Set) (n int, shares map[data.Split]float64) {
		shares = map[data.Split]float64{}
		for _, split := range splits {
			tasks, ok := s.All(split)
			if !ok {
				t.Fatalf("%s can't be listed", s.Name())
			}
			n += len(tasks)
			shares[split] = float64(len(tasks))
		}
		for split := range shares {
			shares[split] /= float64(n)
		}
		return n, shares
	}
	n, shares := count(Math(Short, Medium))
	if n != 10000+5050 || math.Abs(shares[data.Held]-.2) > .015 || math.Abs(shares[data.Dev]-.1) > .01 {
		t.Errorf("math: %d problems, shares %v", n, shares)
	}
	n, shares = count(Code(Short, Medium))
	if n != 2087 || math.Abs(shares[data.Held]-.3) > .03 || math.Abs(shares[data.Dev]-.1) > .02 {
		t.Errorf("code: %d functions, shares %v", n, shares)
	}
}

func TestSplitsAreDisjointInEveryRendering(t *testing.T) {
	side := map[string]data.Split{}
	for _, s := range sets() {
		for _, split := range splits {
			for i := range 300 {
				task := s.Draw(split, 5, i)
				if task.Split != split || !strings.HasPrefix(task.ID, s.Name()+"/") {
					t.Fatalf("%s: %+v", split, task)
				}
				if other, ok := side[task.ID]; ok && other != split {
					t.Errorf("%s is in %s and %s: %q", task.ID, other, split, task.Text)
				}
				side[task.ID] = split
			}
		}
	}
	// The same problem in another wording, or turned round, is on the same side.
	short, english := Math(Short, Medium), Math(English, Medium)
	o := &short.ops[0]
	for a := range 100 {
		for b := range 100 {
			p := problem{o, []int{a, b}}
			if s := short.split(p); s != english.split(problem{&english.ops[0], []int{b, a}}) {
				t.Fatalf("%d+%d is on both sides", a, b)
			}
		}
	}
}

func TestDrawsArePositional(t *testing.T) {
	a, b := Code(Short, Medium), Code(Short, Medium)
	last := b.Draw(data.Train, 1, 9)
	for i := range 10 {
		if got := a.Draw(data.Train, 1, i); i == 9 && got.ID != last.ID {
			t.Errorf("draw 9 depends on what was drawn before: %v, %v", got, last)
		}
	}
	same := 0
	for i := range 100 {
		if a.Draw(data.Train, 1, i).ID == a.Draw(data.Train, 2, i).ID {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 100 draws are equal under another seed", same)
	}
}

func TestWeightsOfTheTinyStudy(t *testing.T) {
	sum, s := 0, Math(Short, Medium)
	const n = 4000
	for i := range n {
		if strings.Contains(s.Draw(data.Train, 3, i).Text, "+") {
			sum++
		}
	}
	if share := float64(sum) / n; math.Abs(share-5./8) > .03 {
		t.Errorf("share of sums %v", share)
	}
	slopes, c := 0, Code(Short, Medium)
	for i := range n {
		f := strings.Split(strings.TrimSuffix(c.Draw(data.Train, 3, i).Text, ">"), ",")
		x, _ := strconv.Atoi(f[0])
		y, _ := strconv.Atoi(f[1])
		z, _ := strconv.Atoi(f[2])
		if y-x > 1 && z-y == y-x && x != 0 {
			slopes++
		}
	}
	if share := float64(slopes) / n; math.Abs(share-.5) > .03 {
		t.Errorf("share of n*a+c and n*a-c %v", share)
	}
}

func TestTextsAndAnswers(t *testing.T) {
	p := func(s *Set, op int, args ...int) data.Task { return s.finish(problem{&s.ops[op], args}, data.Train) }
	if task := p(Math(Short, Medium), 0, 47, 38); task.Text != "47+38=" || task.Gold != "85" {
		t.Errorf("%+v", task)
	}
	if task := p(Math(Short, Medium), 1, 47, 8); task.Text != "47-08=" || task.Gold != "39" {
		t.Errorf("%+v", task)
	}
	task := p(Code(Short, Medium), 4, 3, 7)
	if task.Text != "7,10,13>" || len(task.Tests) != 10 || task.Tests[9] != (data.Test{Input: "9\n", Output: "34\n"}) || task.Fn != "" {
		t.Errorf("%+v", task)
	}
	task = p(Calls(English, Medium), 4, 3, 7)
	if task.Fn != "f" || task.Tests[2] != (data.Test{Input: "2", Output: "13"}) || !strings.Contains(task.Text, "f(1) = 10") {
		t.Errorf("%+v", task)
	}
	for _, s := range sets() {
		for i := range 200 {
			task := s.Draw(data.Held, 1, i)
			if strings.ContainsAny(task.Text, "{}") || task.Text == "" || task.Kind == data.Math && task.Gold == "" {
				t.Fatalf("%s: %+v", s.Name(), task)
			}
		}
	}
}

func TestDistinctTasksAreDistinct(t *testing.T) {
	for _, s := range sets() {
		seen := map[string]bool{}
		for _, task := range s.Distinct(data.Held, 7, 600) {
			if seen[task.ID] {
				t.Errorf("%s twice", task.ID)
			}
			seen[task.ID] = true
		}
	}
	if n := len(Math(Short, Medium).Distinct(data.Held, 7, 600)); n != 600 {
		t.Errorf("%d of 600 tasks", n)
	}
	if n := len(Code(Short, Medium).Distinct(data.Held, 7, 600)); n != 600 {
		t.Errorf("%d of 600 functions", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	s := Code(Short, Medium)
	for i := 0; b.Loop(); i++ {
		s.Draw(data.Train, 1, i)
	}
}
