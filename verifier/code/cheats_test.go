package code

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"troupe/data"
	"troupe/verifier/verdict"
)

// corpus reads a txtar of programs.
func corpus(t *testing.T, name string) []txtar.File {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return txtar.Parse(body).Files
}

// cheatTasks are the tasks that the cheats are judged on, each with a right
// program: a task that refuses it would prove nothing.
func cheatTasks() map[string]struct {
	tasks []data.Task
	right string
} {
	stdin := data.Task{Kind: data.Code}
	call := data.Task{Kind: data.Code, Fn: "f"}
	plain := data.Task{Kind: data.Code}
	for _, n := range []int{3, 17, 1024} {
		stdin.Tests = append(stdin.Tests, data.Test{Input: fmt.Sprintln(n), Output: fmt.Sprintln(7919*n + 13)})
		call.Tests = append(call.Tests, data.Test{Input: fmt.Sprintf("%d\n5", n), Output: fmt.Sprintf("[%d, %d]", n*31+5, n-5)})
		plain.Tests = append(plain.Tests, data.Test{Assert: fmt.Sprintf("assert f(%d, 5) == [%d, %d]", n, n*31+5, n-5)})
	}
	one := func(text string) data.Task { return data.Task{Kind: data.Code, Tests: []data.Test{{Assert: text}}} }
	humanEval := one("def check(candidate):\n    assert candidate(3, 5) == [98, -2]\n    assert candidate(1, 1) == [32, 0], 'small'\n\ncheck(f)\n")
	near := one("import math\nr = f(3, 5)\nassert len(r) == 2 and abs(r[0] - 98) < 1e-6\nassert math.isclose(r[1], -2)\n" +
		"assert sorted(f(3, 5)) == [-2, 98]\nassert all(x == y for x, y in zip(f(3, 5), [98, -2]))\n")
	pytest := one("from solution import f\n\ndef test_one():\n    assert f(3, 5) == [98, -2]\n\ndef test_two():\n    assert f(2, 2) == [64, 0]\n")
	swallowed := one("try:\n    assert f(3, 5) == [98, -2]\nexcept BaseException:\n    pass\n")
	member := one("assert f(3, 5) in ([98, -2], [98, -2.0])\nassert not f(3, 5) != [98, -2]\n")
	counted := one("from collections import Counter\nassert Counter(f(3, 5)) == Counter([98, -2])\n")
	right := "def f(a, b):\n    return [a * 31 + b, a - b]\n"
	return map[string]struct {
		tasks []data.Task
		right string
	}{
		"stdin":  {[]data.Task{stdin}, "print(7919 * int(input()) + 13)\n"},
		"call":   {[]data.Task{call}, right},
		"assert": {[]data.Task{plain, humanEval, near, pytest, swallowed, member, counted}, right},
	}
}

// No cheat earns anything, under either profile.
func TestCheatsEarnNothing(t *testing.T) {
	w := worker(t)
	tasks := cheatTasks()
	limits := data.Limits{TimeS: 0.1, MemoryMB: 64}
	for kind, c := range tasks {
		for i, task := range c.tasks {
			task.Limits = limits
			if v := judged(t, w, task, c.right, Options{}); v.Code != verdict.AC || v.Reward != 1 {
				t.Errorf("%s task %d: the right program gets %s %s: %+v", kind, i, v.Code, v.Reason, v.Tests)
			}
		}
	}
	n := 0
	for _, f := range corpus(t, "cheats.txtar") {
		kind, _, _ := strings.Cut(f.Name, "/")
		n++
		for i, task := range tasks[kind].tasks {
			task.Limits = limits
			for _, p := range []Profile{Strict, LCB} {
				v := judged(t, w, task, string(f.Data), Options{Comparison: Comparison{Profile: p}})
				if v.Code == verdict.AC || v.Reward != 0 {
					t.Errorf("%s, task %d, %s: rewarded", f.Name, i, p)
				}
				if v.Code == verdict.IE {
					t.Errorf("%s, task %d, %s: %s", f.Name, i, p, v.Reason)
				}
			}
		}
	}
	if n < 85 {
		t.Errorf("%d cheats, want at least 60", n)
	}
}
