package mathans

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
)

type tableCase struct {
	line                    int
	gold, answer, want, why string
}

// tableCases reads testdata/cases.tsv.
func tableCases(t testing.TB) []tableCase {
	t.Helper()
	f, err := os.Open("testdata/cases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []tableCase
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if sc.Text() == "" || sc.Text()[0] == '#' {
			continue
		}
		c := strings.Split(sc.Text(), "\t")
		if len(c) != 4 || c[2] != "=" && c[2] != "!" {
			t.Fatalf("testdata/cases.tsv:%d: want four columns", n)
		}
		out = append(out, tableCase{n, c[0], c[1], c[2], c[3]})
	}
	return out
}

// wrappings are the ways in which a reply can give its answer.
var wrappings = []string{
	`Working it out step by step gives the result. \boxed{%}`,
	"We add.\nAnswer: %",
	"We add.\n**Answer:** $%$",
	`Hence \[ \boxed{ % } \]`,
	"So the final answer is $%$. I hope it is correct.",
}

func TestCases(t *testing.T) {
	cases := tableCases(t)
	if len(cases) < 400 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		for _, w := range wrappings {
			reply := strings.ReplaceAll(w, "%", c.answer)
			if strings.Contains(w, "$") && strings.ContainsAny(c.answer, "$`*€") {
				continue
			}
			got := Judge(c.gold, reply, Options{})
			if (got.Outcome == Equal) != (c.want == "=") || got.Outcome == BadGold || got.Outcome == NoAnswer || got.Outcome == Undecided {
				t.Errorf("cases.tsv:%d: gold %q, reply %q: %s by %s (extracted %q); %s", c.line, c.gold, reply, got.Outcome, got.Rule, got.Extracted, c.why)
				break
			}
		}
	}
}

// testdata/replies.jsonl has whole replies: where the answer is in them, and the
// public bugs of other graders.
func TestReplies(t *testing.T) {
	f, err := os.Open("testdata/replies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var c struct {
			Gold, Reply, Why string
			Want             Outcome
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if got := Judge(c.Gold, c.Reply, Options{}); got.Outcome != c.Want {
			t.Errorf("gold %q, reply %q: %v, want %s; %s", c.Gold, c.Reply, got, c.Want, c.Why)
		}
	}
	if n < 100 {
		t.Errorf("only %d replies", n)
	}
}

func TestStrictInteger(t *testing.T) {
	strict := Options{StrictInteger: true}
	for _, c := range []struct {
		gold, answer string
		want         Outcome
	}{
		{"5050", "5050", Equal},
		{"5050", "5,050", Equal},
		{"5050", "5050.0", Equal},
		{"5050", `\text{5050}`, Equal},
		{"5050", `5050\text{ cm}`, Equal},
		{"5050", "x = 5050", Equal},
		{"5050", `\frac{100\cdot101}{2}`, Unequal},
		{"5050", `\sum_{k=1}^{100} k`, Unequal},
		{"5050", "5000+50", Unequal},
		{"5050", "5051", Unequal},
		{"-3", "-3", Equal},
		{`\frac{1}{2}`, "0.5", Equal},
		{`\frac{1}{2}`, "1-0.5", Equal},
	} {
		if got := Judge(c.gold, `\boxed{`+c.answer+"}", strict); got.Outcome != c.want {
			t.Errorf("gold %q, answer %q: %v, want %s", c.gold, c.answer, got, c.want)
		}
	}
}

func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		gold, answer string
		tol          float64
		want         Outcome
	}{
		{`\pi`, "3.1416", 0, Unequal},
		{`\pi`, "3.1416", 1e-4, Equal},
		{`\pi`, "3.15", 1e-4, Unequal},
		{"1000", "1000.05", 1e-4, Equal},
		{"0.333", `\frac13`, 1e-2, Equal},
	} {
		if got := Judge(c.gold, `\boxed{`+c.answer+"}", Options{Tolerance: c.tol}); got.Outcome != c.want {
			t.Errorf("gold %q, answer %q, tolerance %v: %v, want %s", c.gold, c.answer, c.tol, got, c.want)
		}
	}
}

// Several goroutines share the package's tables and constants.
func TestJudgeHammer(t *testing.T) {
	cases := tableCases(t)
	want := make([]Result, len(cases))
	for i, c := range cases {
		want[i] = Judge(c.gold, `\boxed{`+c.answer+"}", Options{})
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range cases {
				j := (i + g*len(cases)/4) % len(cases)
				if got := Judge(cases[j].gold, `\boxed{`+cases[j].answer+"}", Options{}); got != want[j] {
					t.Errorf("cases.tsv:%d: %v, alone %v", cases[j].line, got, want[j])
				}
			}
		})
	}
	wg.Wait()
}
