package mathans

import (
	"bufio"
	"os"
	"strings"
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
			if (got.Outcome == Equal) != (c.want == "=") || got.Outcome == BadGold || got.Outcome == NoAnswer {
				t.Errorf("cases.tsv:%d: gold %q, reply %q: %s by %s (extracted %q); %s", c.line, c.gold, reply, got.Outcome, got.Rule, got.Extracted, c.why)
				break
			}
		}
	}
}
