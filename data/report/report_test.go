package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// filled is a database with two runs of four evaluations and every role metric
// that has a figure.
func filled(t *testing.T, parameters ...float64) *store.DB {
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
			if i == 0 && n < len(parameters) {
				b.Steps = []store.Step{{Metric: "model/parameters", Value: parameters[n]}}
			}
			if i == 0 || i == 30 {
				probe(&b, i)
			}
			a := float64(30+i+5*n) / 100
			b.Evals = []store.Eval{{Split: "held", Temperature: 1, N: 100, Accuracy: a, Stderr: math.Sqrt(a * (1 - a) / 100)}}
			for _, f := range metricFigures {
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

// probe adds three logged episodes, right only in the last iteration.
func probe(b *store.Batch, iteration int) {
	code := "WA"
	if iteration > 0 {
		code = "AC"
	}
	for k := range 3 {
		at := store.At{Split: "probe", Temperature: 1, Task: fmt.Sprintf("t%03d", k)}
		b.Tasks = append(b.Tasks, store.Task{ID: at.Task, Kind: "math", Text: "what is <" + at.Task + ">?", Gold: "7", Tests: "[]"})
		b.Episodes = append(b.Episodes, store.Episode{At: at, Verdict: code, Rewarded: true})
		b.Verdicts = append(b.Verdicts, store.Verdict{CallAt: store.CallAt{At: at}, Code: code})
		b.Calls = append(b.Calls, store.Call{CallAt: store.CallAt{At: at, Role: "generator"}, PromptIDs: []int32{1}, IDs: []int32{2},
			LogProbs: []float32{-1}, Text: fmt.Sprintf("at %d", iteration), Tier: "primary", Finish: "stop"})
	}
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
	point := []metrics.Point{{Right: []bool{true}}, {Iteration: 10, Right: []bool{false}}}
	got := accuracyFigures([]Cell{
		{Task: "math", Profile: "study/rate/ramp", Workflow: "voting", Temperature: 1, Points: point, place: scaled{arm: 0}},
		{Task: "math", Profile: "study/rate/recipe", Workflow: "voting", Temperature: 1, Points: point, place: scaled{arm: 1}},
		{Task: "math", Profile: "study/steps/equal", Workflow: "voting", Temperature: 1, Points: point},
		{Task: "math", Profile: "study", Workflow: "voting", Policy: "isolated", Temperature: 1, Points: point},
		{Task: "math", Profile: "study", Workflow: "voting", Policy: "isolated", Seed: 2, Temperature: 1, Points: point, place: scaled{seeds: 2, seedIndex: 1}}})
	if len(got) != 2 || got[0].Name != "accuracy-math-T1" || got[1].Name != "accuracy-math-controls-T1" {
		t.Fatalf("%+v", got)
	}
	grid, controls := got[0].Panels, got[1].Panels
	if len(grid) != 1 || len(grid[0].Series) != 2 || grid[0].Series[1].Key != "isolated, seed 2" {
		t.Errorf("grid %+v", grid)
	}
	if len(controls) != 2 || controls[0].Title != "rate: ramp / recipe" || controls[0].Series[1].Color != 1 {
		t.Errorf("controls %+v", controls)
	}
}

func TestRunsOfSeveralScalesHaveFiguresOfTheirOwn(t *testing.T) {
	r, err := Load(t.Context(), filled(t, 60_000, 900_000))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, f := range r.Figures[:2] {
		titles = append(titles, f.Title)
	}
	want := []string{"Accuracy: math, 60 k parameters, T 1", "Accuracy: math, 900 k parameters, T 1"}
	if !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
}

func TestEveryFigureIsFilled(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 2+len(metricFigures) {
		t.Errorf("%d figures", len(r.Figures))
	}
	panels := 0
	for _, f := range r.Figures {
		panels += len(f.Panels)
		for _, p := range f.Panels {
			if len(p.Series) == 0 || len(p.Series[0].X) == 0 {
				t.Errorf("figure %s has an empty panel", f.Name)
			}
		}
	}
	var html bytes.Buffer
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	s := html.String()
	if n := strings.Count(s, `role="img"`); n != panels {
		t.Errorf("%d drawings for %d panels", n, panels)
	}
	for _, w := range []string{"30.0", "60.0", "&#43;30.0", "SELECT", "generator, shared", "&lt;b&gt;reads", "var(--c0)", "Isolated against shared", "5.0"} {
		if !strings.Contains(s, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	for _, w := range []string{"http://", "https://", "<script", "ZgotmplZ", "fill:#", "stroke:#"} {
		if i := strings.Index(strings.ReplaceAll(strings.ReplaceAll(s, "http://www.w3.org", ""), "https://www.w3.org", ""), w); i >= 0 {
			t.Errorf("the report is not self-contained: it has %q", w)
		}
	}
	for _, f := range r.Figures {
		b, err := f.PNG()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(b)); err != nil {
			t.Error(err)
		}
	}
}

// TestAPairIsCompared knows the second policy five tasks better on the same
// hundred.
func TestAPairIsCompared(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != 1 {
		t.Fatalf("%+v", r.Pairs)
	}
	p := r.Pairs[0]
	wantP, _ := metrics.McNemar(0, 5)
	if math.Abs(p.Difference()-.05) > 1e-12 || p.P != wantP || math.Abs(p.SE-math.Sqrt(5-.25)/100) > 1e-12 {
		t.Errorf("%+v", p)
	}
}

func TestConversationsStandSideBySide(t *testing.T) {
	r, err := Load(t.Context(), filled(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Conversations) != 2*3 { // a fifth of ten for each of two runs, of which three are logged
		t.Fatalf("%d conversations", len(r.Conversations))
	}
	c := r.Conversations[0]
	if c.Task != "t000" || c.Text != "what is <t000>?" || c.Gold != "7" || c.Before.Verdict != "WA" || c.After.Verdict != "AC" ||
		len(c.Before.Turns) != 1 || c.Before.Turns[0].Text != "at 0" || c.After.Turns[0].Text != "at 30" {
		t.Errorf("%+v", c)
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
