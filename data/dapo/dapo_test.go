package dapo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"troupe/data"
	"troupe/data/nprand"
	"troupe/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

func TestShapes(t *testing.T) {
	wrapped, _ := json.Marshal(prefix + "Solve S." + suffix)
	want := data.Task{ID: data.TaskID(Set, "Solve S."), Kind: data.Math, Text: "Solve S.", Gold: "34"}
	for name, row := range map[string]string{
		"raw":                `{"prompt":[{"content":` + string(wrapped) + `,"role":"user"}],"reward_model":{"ground_truth":"34","style":"rule"}}`,
		"processed":          `{"prompt":"Solve S.","solution":"34","reward_model":{"ground_truth":"34"}}`,
		"processed, wrapped": `{"prompt":` + string(wrapped) + `,"solution":" 34 "}`,
	} {
		got, err := Task([]byte(row))
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
		}
	}
	for reason, row := range map[string]string{
		"no answer":       `{"prompt":"p","solution":null}`,
		"no problem text": `{"prompt":" ","solution":"1"}`,
		"a prompt that is neither text nor messages": `{"prompt":1,"solution":"1"}`,
		"a prompt without a user message":            `{"prompt":[{"role":"system","content":"x"}],"solution":"1"}`,
		"columns of another type than DAPO's":        `{"prompt":"p","solution":7}`,
	} {
		_, err := Task([]byte(row))
		if e, ok := err.(*data.RowError); !ok || e.Reason != reason {
			t.Errorf("%s: error %v, want %s", row, err, reason)
		}
	}
}

// TestUnwrapKeepsLetters: trimming by a set of characters would eat "Solve" and
// the end of problems, as it does in public scripts.
func TestUnwrapKeepsLetters(t *testing.T) {
	for _, p := range []string{"Solve the following: x", "mathematics", "Answer: what?", "", "x\n\nRemember"} {
		if got := Unwrap(prefix + p + suffix); got != p {
			t.Errorf("%q becomes %q", p, got)
		}
		if got := Unwrap(p); got != p {
			t.Errorf("bare %q becomes %q", p, got)
		}
	}
}

func TestRawFileIsReadOnceAProblem(t *testing.T) {
	tasks, report, err := Read(t.Context(), rawFile(t, 50, 20))
	if err != nil || len(tasks) != 50 || report.Rows != 1002 || report.Used != 50 {
		t.Fatalf("%d tasks, %s, error %v", len(tasks), report.String(), err)
	}
	if tasks[7].Text != "Problem 7?" || tasks[7].Gold != "14" || tasks[7].Split != "" {
		t.Errorf("%+v", tasks[7])
	}
	if report.Bad[0].Reason != errAgain.Reason || report.Bad[0].Count != 950 || len(report.Bad) != 3 {
		t.Errorf("%s", report.String())
	}
}

func TestProcessedFileHasThePapersSplit(t *testing.T) {
	const n = 14116
	tasks, report, err := Read(t.Context(), processedFile(t, n))
	if err != nil || len(tasks) != n {
		t.Fatalf("%s, error %v", report.String(), err)
	}
	_, test, _ := nprand.Split(n, .1, 42)
	held := 0
	for _, task := range tasks {
		if task.Split == data.Held {
			held++
		}
	}
	if held != 1412 || tasks[test[0]].Split != data.Held || test[0] != 4723 || tasks[0].Split != data.Train {
		t.Errorf("%d held, first test row %d", held, test[0])
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "x.parquet")
	os.WriteFile(text, []byte(strings.Repeat("no parquet ", 9)), 0o644)
	if _, _, err := Read(t.Context(), text); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v", err)
	}
}

func ExampleUnwrap() {
	fmt.Println(Unwrap(prefix + "What is 1+1?" + suffix))
	// Output: What is 1+1?
}
