package code

import (
	"fmt"
	"strings"
	"testing"

	"troupe/data"
	"troupe/verifier/verdict"
)

func task(fn string, tests ...data.Test) data.Task {
	return data.Task{Kind: data.Code, Fn: fn, Tests: tests, Limits: data.Limits{TimeS: 0.2, MemoryMB: 64, OutputKB: 64}}
}

func calls(input, output string) data.Task { return task("f", data.Test{Input: input, Output: output}) }

// What a function returns is compared by value and exact type.
func TestCalls(t *testing.T) {
	w := worker(t)
	for _, c := range []struct {
		name, program, input, output string
		strict, lcb                  verdict.Code
	}{
		{"tuple", "def f(a): return (a, a)", "1", "[1, 1]", "AC", "AC"},
		{"nested tuple", "def f(a): return [(a, (a,))]", "1", "[[1, [1]]]", "AC", "AC"},
		{"sum of tenths", "def f(): return 0.1 + 0.2", "", "0.3", "WA", "WA"},
		{"float for int", "def f(): return 3.0", "", "3", "AC", "AC"},
		{"int for float", "def f(): return 3", "", "3.0", "AC", "AC"},
		{"true for 1", "def f(): return True", "", "1", "WA", "AC"},
		{"1 for true", "def f(): return 1", "", "true", "WA", "AC"},
		{"none", "def f(): pass", "", "null", "AC", "AC"},
		{"set", "def f(): return {1}", "", "[1]", "WA", "WA"},
		{"range", "def f(): return range(2)", "", "[0, 1]", "WA", "WA"},
		{"integer keys", "def f(): return {1: 'a', None: 2, True: 3} if 0 else {2: 'a', None: 2}", "", `{"2": "a", "null": 2}`, "AC", "AC"},
		{"default dict", "from collections import defaultdict\ndef f():\n d = defaultdict(int)\n d['x'] += 1\n return d", "", `{"x": 1}`, "AC", "AC"},
		{"counter", "from collections import Counter\ndef f(s): return Counter(s)", `"aab"`, `{"a": 2, "b": 1}`, "AC", "AC"},
		{"named tuple", "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)", "", "[1, 2]", "AC", "AC"},
		{"int enum", "from enum import IntEnum\nclass C(IntEnum):\n A = 4\ndef f(): return C.A", "", "4", "AC", "AC"},
		{"text", "def f(): return 'hi!'", "", `"hi!"`, "AC", "AC"},
		{"text for number", "def f(): return '5'", "", "5", "WA", "WA"},
		{"number for text", "def f(): return 5", "", `"5"`, "WA", "WA"},
		{"unicode", `def f(s): return s + '\U0001F600'`, `"\u00fc"`, `"\u00fc\ud83d\ude00"`, "AC", "AC"},
		{"lone surrogate", `def f(s): return s`, `"\ud800"`, `"\ud800"`, "AC", "AC"},
		{"prints meanwhile", "def f(a):\n print('debug', a)\n return a", "7", "7", "AC", "AC"},
		{"prints too much", "def f(a):\n print('x' * 100000)\n return a", "7", "7", "OLE", "OLE"},
		{"nan", "def f(): return float('nan')", "", "NaN", "WA", "WA"},
		{"infinity", "def f(): return float('inf')", "", "Infinity", "AC", "AC"},
		{"infinity argument", "def f(x): return x > 10**400", "Infinity", "true", "AC", "AC"},
		{"big integer", "def f(n): return 10 ** n", "5000", "1" + strings.Repeat("0", 5000), "AC", "AC"},
		{"big integer is no float", "def f(): return 10 ** 23", "", "1e23", "WA", "WA"},
		{"trailing newline", "def f(a, b): return a + b", "1\n2\n", "3", "AC", "AC"},
		{"mentions class Solution", "# class Solution\nclass Solution2: pass\ndef f(a): return a", "1", "1", "AC", "AC"},
		{"class Solution", "class Solution:\n def f(self, a): return self.g(a)\n def g(self, a): return -a", "1", "-1", "AC", "AC"},
		{"solution with state", "class Solution:\n def __init__(self): self.n = 0\n def f(self):\n  self.n += 1\n  return self.n", "", "1", "AC", "AC"},
		{"decorated", "from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n if n < 2 else f(n-1) + f(n-2)", "50", "12586269025", "AC", "AC"},
		{"lambda", "f = lambda a: a[::-1]", "[1, 2]", "[2, 1]", "AC", "AC"},
		{"changes its argument", "def f(a):\n a.sort()\n return a", "[3, 1]", "[1, 3]", "AC", "AC"},
		{"wrong arity", "def f(a): return a", "1\n2", "1", "RE", "RE"},
		{"raises", "def f(a): return a[5]", "[1]", "1", "RE", "RE"},
		{"no function", "x = 1", "1", "1", "RE", "RE"},
		{"needs typing", "def f(a: List[int]) -> int: return sum(a)", "[1, 2]", "3", "RE", "AC"},
		{"deep result", "def f():\n a = []\n for _ in range(800): a = [a]\n return a", "", strings.Repeat("[", 801) + strings.Repeat("]", 801), "AC", "AC"},
		{"cyclic result", "def f():\n a = []\n a.append(a)\n return a", "", "[]", "WA", "WA"},
		{"endless", "def f():\n while 1: pass", "", "1", "TLE", "TLE"},
		{"empty list", "def f(a): return a", "[]", "[]", "AC", "AC"},
		{"duplicate keys", "def f(d): return d['a']", `{"a": 1, "a": 2}`, "2", "AC", "AC"},
	} {
		for p, want := range map[Profile]verdict.Code{Strict: c.strict, LCB: c.lcb} {
			v := judged(t, w, calls(c.input, c.output), c.program, Options{Comparison: Comparison{Profile: p}})
			if v.Code != want {
				t.Errorf("%s, %s: %s (%s), want %s", c.name, p, v.Code, v.Reason, want)
			}
		}
	}
}

// How programs on stdin end, and what that is called.
func TestEnds(t *testing.T) {
	w := worker(t)
	for _, c := range []struct {
		name, program, output string
		strict, lcb           verdict.Code
		reason                string // part of it, strict
	}{
		{"right", "print(6)", "6", "AC", "AC", ""},
		{"wrong", "print(5)", "6", "WA", "WA", `line 1: printed "5", expected "6"`},
		{"exit 1 with the right output", "print(6)\nraise SystemExit(1)", "6", "RE", "AC", "exit code 1"},
		{"exception after the right output", "print(6)\n1/0", "6", "RE", "RE", "ZeroDivisionError: division by zero"},
		{"syntax", "print(6", "6", "CE", "CE", "SyntaxError"},
		{"endless", "while 1: pass", "6", "TLE", "TLE", "time limit"},
		{"flood", "while 1: print('x' * 1000)", "6", "OLE", "OLE", "output limit"},
		{"bomb", "a = []\nwhile 1: a.append(bytearray(1 << 20))", "6", "MLE", "MLE", ""},
		{"bomb survived, right", "try: bytearray(1 << 30)\nexcept MemoryError: print(6)", "6", "AC", "AC", ""},
		{"bomb survived, wrong", "try: bytearray(1 << 30)\nexcept MemoryError: print(5)", "6", "MLE", "MLE", ""},
		{"bomb survived, failed", "try: bytearray(1 << 30)\nexcept MemoryError: 1/0", "6", "MLE", "MLE", ""},
		{"missing module", "import numpy as np\nprint(6)", "6", "RE", "RE", "missing module: numpy"},
		{"missing module is tried", "try:\n import numpy\nexcept ImportError:\n pass\nprint(6)", "6", "AC", "AC", ""},
		{"own missing module", "raise ImportError('no')", "6", "RE", "RE", "ImportError: no"},
		{"preamble", "print(len(deque(accumulate([1, 2, 3]))) * 2)", "6", "RE", "AC", "NameError"},
		{"built-in names stay", "print(pow(2, 5, 26), sum([1]), open.__name__)", "6 1 open", "AC", "AC", ""},
		{"shadowed by itself", "from math import *\nprint(int(pow(6, 1)))", "6", "AC", "AC", ""},
	} {
		for p, want := range map[Profile]verdict.Code{Strict: c.strict, LCB: c.lcb} {
			v := judged(t, w, task("", data.Test{Input: "", Output: c.output}), c.program, Options{Comparison: Comparison{Profile: p}})
			if v.Code != want {
				t.Errorf("%s, %s: %s (%s), want %s", c.name, p, v.Code, v.Reason, want)
			}
			if p == Strict && !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: reason %q, want %q in it", c.name, v.Reason, c.reason)
			}
		}
	}
}

// Right programs under assertions, in the ways that data sets write them.
func TestAssertions(t *testing.T) {
	w := worker(t)
	for _, c := range []struct {
		name, program, test string
		want                verdict.Code
	}{
		{"plain", "def f(x): return x + 1", "assert f(1) == 2\nassert f(2) == 3, 'two'", "AC"},
		{"one fails", "def f(x): return 2", "assert f(1) == 2\nassert f(2) == 3, 'two'", "RE"},
		{"floats", "def f(x): return x / 3", "assert abs(f(1) - 0.3333333) < 1e-6", "AC"},
		{"isclose", "def f(x): return x / 3", "import math\nassert math.isclose(f(1), 1/3)", "AC"},
		{"shadows a built-in", "def sum(a, b): return a * b", "assert sum(2, 3) == 6\nassert sum(1, 1) == 1", "AC"},
		{"uses a built-in of that name", "def len(x): return 2", "assert sorted([len([1, 2, 3])]) == [3]", "RE"},
		{"check", "def add(a, b): return a + b", "def check(candidate):\n    for a in range(3):\n        assert candidate(a, 1) == a + 1\ncheck(add)", "AC"},
		{"pytest style", "def f(x): return -x", "from solution import f\ndef test_f():\n    assert f(1) == -1\ndef test_g():\n    assert f(2) == -2", "AC"},
		{"pytest style fails", "def f(x): return -1", "from solution import f\ndef test_f():\n    assert f(1) == -1\ndef test_g():\n    assert f(2) == -2", "RE"},
		{"raises", "def f(x): raise ValueError('no')", "try:\n    f(1)\n    assert False\nexcept ValueError as e:\n    assert str(e) == 'no'", "AC"},
		{"does not raise", "def f(x): pass", "try:\n    f(1)\n    assert False\nexcept ValueError as e:\n    assert str(e) == 'no'", "RE"},
		{"sets and tuples", "def f(x): return tuple(x)", "assert set(f([1, 2])) == {1, 2}\nassert f([1]) == (1,)\nassert 1 in f([1])", "AC"},
		{"chained", "def f(x): return x", "assert 0 < f(1) < 2 <= f(2) != 3", "AC"},
		{"chained fails", "def f(x): return x", "assert 0 < f(3) < 2", "RE"},
		{"objects", "class P:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return s.x == o.x\n    def __add__(s, o): return P(s.x + o.x)\n", "assert P(1) + P(2) == P(3)\nassert P(1) != P(2)\nassert P(1).x == 1", "AC"},
		{"dataclass", "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n", "assert P(1) == P(1)\nassert P(2) > P(1) if hasattr(P, '__gt__') and 0 else True", "AC"},
		{"counter and fraction", "from collections import Counter\nfrom fractions import Fraction\ndef f(): return Counter('aab'), Fraction(1, 2)", "from collections import Counter\nassert f()[0] == Counter(a=2, b=1)\nassert f()[1] == 0.5\nassert f()[0] == {'a': 2, 'b': 1}", "AC"},
		{"no assert, no error", "def f(): pass", "f()", "AC"},
		{"no assert, error", "def f(): 1/0", "f()", "RE"},
		{"never reached", "def f(): pass", "def unused():\n    assert f() == 1", "RE"},
		{"syntax error in the program", "def f(:", "assert f() == 1", "CE"},
		{"unordered text", "def f(s): return s.split()", "assert [w.upper() for w in f('a b')] == ['A', 'B']\nassert {k: v for k, v in zip(f('a b'), [1, 2])} == {'a': 1, 'b': 2}", "AC"},
	} {
		v := judged(t, w, task("", data.Test{Assert: c.test}), c.program, Options{})
		if v.Code != c.want || v.Trust != verdict.InGuest {
			t.Errorf("%s: %s (%s, %s), want %s", c.name, v.Code, v.Reason, v.Trust, c.want)
		}
	}
}

func TestChecker(t *testing.T) {
	w := worker(t)
	function := "def check(input, output, expected):\n    return sum(map(int, output.split())) == int(input)\n"
	script := "import sys\nask, want, got = (open(p).read() for p in sys.argv[1:4])\nprint(1 if sum(map(int, got.split())) == int(ask) else 0)\n"
	code := "import sys\nask, want, got = (open(p).read() for p in sys.argv[1:4])\nsys.exit(0 if sum(map(int, got.split())) == int(ask) else 1)\n"
	for name, c := range map[string]struct {
		checker, program string
		want             verdict.Code
	}{
		"function accepts": {function, "print(3, 7)", "AC"},
		"function refuses": {function, "print(3, 8)", "WA"},
		"script accepts":   {script, "print(1, 9)", "AC"},
		"script refuses":   {script, "print(1, 8)", "WA"},
		"code accepts":     {code, "print(1, 9)", "AC"},
		"code refuses":     {code, "print(1, 8)", "WA"},
		"it fails":         {"1/0", "print(1)", "IE"},
		"it says nothing":  {"pass", "print(1)", "IE"},
	} {
		x := task("", data.Test{Input: "10", Output: "5 5"})
		x.Checker = c.checker
		if v := judged(t, w, x, c.program, Options{}); v.Code != c.want || v.Rewarded() != (c.want != "IE") {
			t.Errorf("%s: %s (%s), want %s", name, v.Code, v.Reason, c.want)
		}
	}
	x := calls("4", "[1, 2]")
	x.Checker = "import json\ndef check(input, output, expected):\n    a, b = json.loads(output)\n    return a + b == int(input)\n"
	if v := judged(t, w, x, "def f(n): return 1, n - 1", Options{}); v.Code != verdict.AC {
		t.Errorf("checker of a call: %s (%s)", v.Code, v.Reason)
	}
}

// Judging stops at the first failure, or goes on and counts.
func TestPartialCredit(t *testing.T) {
	w := worker(t)
	var tests []data.Test
	for i := range 5 {
		tests = append(tests, data.Test{Input: fmt.Sprint(i), Output: fmt.Sprint(i % 2)})
	}
	x := task("", tests...)
	first := judged(t, w, x, "print(0)", Options{})
	all := judged(t, w, x, "print(0)", Options{AllTests: true})
	if len(first.Tests) != 2 || first.Passed != 1 || first.Total != 5 || first.Code != verdict.WA {
		t.Errorf("early stop: %+v", first)
	}
	if len(all.Tests) != 5 || all.Passed != 3 || all.Score() != 0.6 || all.Reward != 0 || all.Code != verdict.WA {
		t.Errorf("all tests: %+v", all)
	}
	if !strings.HasPrefix(all.Reason, "test 2: ") {
		t.Errorf("reason %q", all.Reason)
	}
}

// Equal questions cost equal fuel.
func TestFuelIsDeterministic(t *testing.T) {
	w := worker(t)
	x := task("", data.Test{Input: "30", Output: "832040"})
	program := "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\nprint(fib(int(input())), end='')\n"
	want := judged(t, w, x, program, Options{})
	for range 5 {
		if v := judged(t, w, x, program, Options{}); v.Code != verdict.AC || v.Fuel != want.Fuel {
			t.Errorf("%s with %d ticks, before %s with %d", v.Code, v.Fuel, want.Code, want.Fuel)
		}
	}
}
