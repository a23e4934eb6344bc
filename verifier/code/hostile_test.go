package code

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"troupe/data"
	"troupe/verifier/verdict"
)

// call is a task that calls f once.
func call(name, input, output string) data.Task {
	return data.Task{Kind: data.Code, Fn: name, Tests: []data.Test{{Input: input, Output: output}}}
}

// A tolerance is a share of the expected number: no share of what is beyond all
// floats accepts everything.
func TestToleranceOfHugeNumbers(t *testing.T) {
	c := valueComparison{Comparison{FloatTol: 1e-6}}
	huge := "1" + strings.Repeat("0", 400)
	for _, x := range []struct {
		got, want string
		equal     bool
	}{
		{"7", "Infinity", false}, {"7", "-Infinity", false}, {"7", huge, false}, {"Infinity", huge, false},
		{"-" + huge, huge, false}, {huge + "0", huge, false}, {huge, "1e308", false}, {"NaN", "NaN", false},
		{"Infinity", "Infinity", true}, {huge[:400] + "7", huge, true}, {"1.0000001", "1", true},
		{"1.00001", "1", false}, {"0.0000001", "0", true}, {"Infinity", "-Infinity", false},
	} {
		got, err1 := parseJSON(x.got)
		want, err2 := parseJSON(x.want)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if c.equal(got, want) != x.equal {
			t.Errorf("%.20s for %.20s: equal is %t", x.got, x.want, !x.equal)
		}
	}
}

// A program chooses how large a result is; what that costs the host is bounded.
func TestLargeResultsCostLittle(t *testing.T) {
	w := worker(t)
	for name, x := range map[string]struct {
		program string
		task    data.Task
	}{
		"long list":   {"def f(n): return [None] * 20_000_000", call("f", "1", "[1]")},
		"inner list":  {"def f(n): return [[None] * 20_000_000]", call("f", "1", "[[1]]")},
		"huge key":    {"def f(n): return {1 << 100_000_000: 1}", call("f", "1", `{"1": 2}`)},
		"huge value":  {"def f(n): return [1 << 100_000_000]", call("f", "1", "[2]")},
		"slow list":   {"class L(list): pass\ndef f(n): return L([None] * 300_000)", call("f", "1", "[1]")},
		"huge member": {"def f(n): return [1 << 100_000_000, 2]", call("f", "1", "[1, 2]")},
	} {
		for _, unordered := range []bool{false, true} {
			begin := time.Now()
			v := judged(t, w, x.task, x.program, Options{Comparison: Comparison{Unordered: unordered}})
			if took := time.Since(begin); v.Code != verdict.WA || took > 20*time.Second {
				t.Errorf("%s: %s %s after %s", name, v.Code, v.Reason, took)
			}
		}
	}
}

// A huge integer is handed to a checker as a text.
func TestHugeIntegersAsJSON(t *testing.T) {
	v := value{kind: integer, int: new(big.Int).Lsh(big.NewInt(1), 200_000_000)}
	if s := v.json(); s != `"an integer of 200000001 bits"` {
		t.Errorf("%.100s", s)
	}
	if _, ok := v.key(); ok {
		t.Error("it is a key")
	}
}

// A name that the program or the preamble imported does not hide the method
// under test; a function of the program's own goes before a method.
func TestFunctionUnderTest(t *testing.T) {
	w := worker(t)
	for _, x := range []struct {
		program, name, input, output string
		profile                      Profile
	}{
		{"class Solution:\n    def search(self, a, x): return a.index(x)\n", "search", "[1, 2, 3]\n2", "1", LCB},
		{"from heapq import *\nclass Solution:\n    def merge(self, a): return a\n", "merge", "[1, 2]", "[1, 2]", Strict},
		{"import functools\n@functools.cache\ndef f(n): return n + 1\nclass Solution:\n    def f(self, n): return 0\n", "f", "1", "2", Strict},
		{"from math import gcd\n", "gcd", "4\n6", "2", Strict},
		{"class Solution:\n    pass\ndef f(n): return n\n", "f", "1", "1", Strict},
	} {
		v := judged(t, w, call(x.name, x.input, x.output), x.program, Options{Comparison: Comparison{Profile: x.profile}})
		if v.Code != verdict.AC {
			t.Errorf("%s of %q: %s %s", x.name, x.program, v.Code, v.Reason)
		}
	}
}

// An output that breaks a sound checker is wrong; a checker that is broken
// itself judges nobody.
func TestOutputThatBreaksTheChecker(t *testing.T) {
	w := worker(t)
	for _, x := range []struct {
		checker string
		want    verdict.Code
	}{
		{"def check(i, o, e):\n    return int(o) == int(e)\n", verdict.WA},
		{"def check(i, o, e):\n    return int(i) == 1\n", verdict.IE},
		{"def check(i, o, e)\n", verdict.IE},
	} {
		task := data.Task{Kind: data.Code, Checker: x.checker, Tests: []data.Test{{Output: "5"}}}
		if v := judged(t, w, task, "print('five')\n", Options{}); v.Code != x.want {
			t.Errorf("%q: %s %s", x.checker, v.Code, v.Reason)
		}
	}
}

// An import from __future__ stays first, whatever blanks it is written with.
func TestPreambleAfterFutureImport(t *testing.T) {
	for _, s := range []string{"from __future__\timport annotations\n", "from  __future__ import  division\n"} {
		if got := withPreamble(s + "x = 1\n"); !strings.HasPrefix(got, s) {
			t.Errorf("%q: preamble stands before it", s)
		}
	}
}
