package mathans

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answers reads the gold answers of a data set under TROUPE_DATA.
func answers(t *testing.T, name string, rows int) []string {
	t.Helper()
	dir := os.Getenv("TROUPE_DATA")
	if dir == "" {
		t.Skipf("TROUPE_DATA is not set: %s is not read", name)
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r struct{ Answer string }
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Answer)
	}
	if len(out) != rows {
		t.Fatalf("%s has %d rows, want %d", name, len(out), rows)
	}
	return out
}

// dataWrappings are the ways in which a model gives a data set's answer.
var dataWrappings = append([]string{"Answer: $\\boxed{%}$.", "$%$", "$$%$$", `\[%\]`, `\fbox{%}`, `\boxed{$%$}`}, wrappings...)

func testSelfEqual(t *testing.T, golds []string) {
	for _, gold := range golds {
		for _, w := range dataWrappings {
			reply := strings.ReplaceAll(w, "%", gold)
			if got := Judge(gold, reply, Options{}); got.Outcome != Equal {
				t.Errorf("gold %q in %q: %v", gold, w, got)
			}
		}
		if _, err := parse(gold); err != nil {
			t.Errorf("gold %q is not read: %v", gold, err)
		}
	}
}

func TestMATH500GoldsEqualThemselves(t *testing.T) {
	testSelfEqual(t, answers(t, "math500.jsonl", 500))
}

func TestGSM8KGoldsEqualThemselves(t *testing.T) {
	testSelfEqual(t, answers(t, "gsm8k_test.jsonl", 1319))
}

// Different answers of MATH-500 must not be equal, but for a few that are
// written in two ways.
func TestMATH500GoldsDiffer(t *testing.T) {
	golds := answers(t, "math500.jsonl", 500)
	equal := 0
	for i, a := range golds {
		for _, b := range golds[i+1:] {
			if spelled(a) != spelled(b) && Judge(a, `\boxed{`+b+"}", Options{}).Outcome == Equal {
				equal++
				t.Logf("%q = %q", a, b)
			}
		}
	}
	if equal > 60 {
		t.Errorf("%d pairs of different golds are equal", equal)
	}
}
