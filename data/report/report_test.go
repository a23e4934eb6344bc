package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// filled is a database with two runs of four evaluations and every role metric
// that has a figure.
func filled(t *testing.T) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for n, policy := range []string{"shared", "isolated"} {
		id := fmt.Sprint("run", n)
		if err := w.CreateRun(t.Context(), store.Run{ID: id, Workflow: "voting", Policy: policy, Task: "math", State: store.Done}); err != nil {
			t.Fatal(err)
		}
		for i := 0; i <= 30; i += 10 {
			b := store.Batch{Run: id, Iteration: i}
			for k := range 100 {
				right := 0.0
				if k < 30+i+5*n {
					right = 1
				}
				b.EvalItems = append(b.EvalItems, store.EvalItem{Split: "held", Temperature: 1, Task: fmt.Sprintf("t%03d", k), Correct: right, Verdict: "AC"})
			}
			a := float64(30+i+5*n) / 100
			b.Evals = []store.Eval{{Split: "held", Temperature: 1, N: 100, Accuracy: a, Stderr: math.Sqrt(a * (1 - a) / 100)}}
			for _, f := range roleFigures {
				b.RoleSteps = append(b.RoleSteps, store.RoleStep{Role: "generator", Slot: store.AllSlots, Metric: f.metric, Value: float64(i)})
			}
			if i == 20 {
				b.Events = []store.Event{{Kind: "capture", Role: "aggregator", Severity: "alarm", Message: "<b>reads like a generator</b>"}}
			}
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestCellsAreWhatTheDatabaseSays(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != 2 || len(r.Events) != 2 {
		t.Fatalf("%d cells, %d events", len(r.Cells), len(r.Events))
	}
	c := r.Cells[0]
	wantP, _ := metrics.McNemar(0, 30)
	if math.Abs(c.Base-.3) > 1e-12 || math.Abs(c.Final-.6) > 1e-12 || c.Peak != c.Final || c.P != wantP || c.N != 100 || c.FinalAt != 30 {
		t.Errorf("cell %+v", c)
	}
	one, err := Load(t.Context(), filled(t), "run1")
	if err != nil || len(one.Cells) != 1 || one.Cells[0].Policy != "isolated" {
		t.Errorf("one run: %+v, %v", one.Cells, err)
	}
}

func TestControlsHaveFiguresOfTheirOwn(t *testing.T) {
	for _, x := range []struct{ profile, control, series string }{
		{"study", "", "voting shared"},
		{"study/equal-compute", "", "voting shared"},
		{"study/schedule/clamped", "schedule", "clamped"},
		{"paper", "", "voting shared"},
	} {
		if c, s := pair(x.profile, "voting", "shared"); c != x.control || s != x.series {
			t.Errorf("%s: %q %q", x.profile, c, s)
		}
	}
	point := []metrics.Point{{Right: []bool{true}}}
	got := accuracyFigures([]Cell{
		{Task: "math", Profile: "study/rate/ramp", Temperature: 1, Points: point},
		{Task: "math", Profile: "study/rate/recipe", Temperature: 1, Points: point},
		{Task: "math", Profile: "study", Workflow: "voting", Policy: "isolated", Temperature: 1, Points: point}})
	if len(got) != 2 || len(got[0].Series) != 2 || got[0].Series[0].Name != "ramp" || got[0].Name != "accuracy-math-rate-T1" || got[1].Name != "accuracy-math-T1" {
		t.Errorf("%+v", got)
	}
}

func TestEveryFigureIsFilled(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 1+len(roleFigures) {
		t.Errorf("%d figures", len(r.Figures))
	}
	var html bytes.Buffer
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	s := html.String()
	if n := strings.Count(s, "<svg"); n != len(r.Figures) {
		t.Errorf("%d drawings for %d figures", n, len(r.Figures))
	}
	for _, w := range []string{"30.0", "60.0", "&#43;30.0", "SELECT", "voting shared", "&lt;b&gt;reads"} {
		if !strings.Contains(s, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	for _, w := range []string{"http://", "https://"} {
		if i := strings.Index(strings.ReplaceAll(strings.ReplaceAll(s, "http://www.w3.org", ""), "https://www.w3.org", ""), w); i >= 0 {
			t.Errorf("the report is not self-contained: it names %q", w)
		}
	}
	b, err := r.Figures[0].PNG()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
}

func TestCSVHasOneLineACell(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.CSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][8] != "0.3" {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestAnEmptyDatabaseGivesAReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	w, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := Load(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := r.HTML(&html); err != nil || !strings.Contains(html.String(), "No run in this database") {
		t.Errorf("%v: %s", err, html.String())
	}
}
