package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// answer is a query's rows, cells joined by spaces, rows by "; ".
func answer(t *testing.T, db *DB, query string) string {
	t.Helper()
	reader, err := OpenReadOnly(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rows, err := reader.Query(t.Context(), query, "")
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var lines []string
	for v := rows.Next(); v != nil; v = rows.Next() {
		cells := make([]string, len(v))
		for i, x := range v {
			cells[i] = fmt.Sprint(x)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	if err := rows.Close(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "; ")
}

func TestViewsOfAccuracy(t *testing.T) {
	db := newDB(t)
	addRun(t, db, "r")
	for i, acc := range []float64{.25, .5, .75, .625, .5, .375} {
		b := Batch{Run: "r", Iteration: 10 * i, Evals: []Eval{{"held", 1, 4, acc, .1}}}
		for task, right := range [][]float64{{0, 1}, {1, 1}, {1, 0}, {0, 1}, {0, 1}} {
			correct := right[0]
			if i > 0 {
				correct = right[1]
			}
			b.EvalItems = append(b.EvalItems, EvalItem{"held", 1, fmt.Sprint("t", task), correct, "AC"})
		}
		if err := db.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"SELECT base, peak, peak_at, final, final_at, gain, drop_ FROM cells": "0.25 0.75 20 0.375 50 0.125 0.375",
		// Medians of three: .5 .625 .625 .5; the last three: .625 .5 .375.
		"SELECT evaluations, peak, final, drop_ FROM cliffs": "6 0.625 0.5 0.125",
	} {
		if got := answer(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, q := range NamedQueries() {
		if q.Name == "gains" {
			got := answer(t, db, "SELECT n, base, final, gain, won, lost, z FROM ("+strings.TrimSuffix(strings.TrimSpace(q.SQL), ";")+")")
			if want := "5 0.4 0.8 0.4 3 1 1"; got != want {
				t.Errorf("gains: %s, want %s", got, want)
			}
		}
	}
}

func TestViewsOfMetricNames(t *testing.T) {
	db := newDB(t)
	addRun(t, db, "r")
	err := db.Write(t.Context(), Batch{Run: "r", Iteration: 1,
		Steps: []Step{{"critic/rewards/mean", .5}},
		RoleSteps: []RoleStep{{"generator", AllSlots, "actor/grad_norm", 2}, {"generator", 1, "actor/grad_norm", 1},
			{"generator", AllSlots, "critic/rewards/mean", .25}, {"generator", AllSlots, "calls", 8}}})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT metric, value FROM verl_metrics ORDER BY 1":      "actor/generator/grad_norm 2; actor/generator1/grad_norm 1; critic/generator/rewards/mean 0.25; critic/rewards/mean 0.5; generator/calls 8",
		"SELECT role, metric, value FROM trl_metrics ORDER BY 1": " reward 0.5; generator grad_norm 2; generator reward 0.25",
		"SELECT metric, value FROM rllm_metrics ORDER BY 1":      "reward/generator/mean 0.25; reward/mean 0.5",
	} {
		if got := answer(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestDocsNameEverything: docs/runs.md describes every table, view and query.
func TestDocsNameEverything(t *testing.T) {
	b, err := os.ReadFile("../../docs/runs.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	if n := len(NamedQueries()); n < 25 {
		t.Errorf("only %d ready-made queries", n)
	}
	for _, q := range NamedQueries() {
		if !strings.Contains(doc, "| `"+q.Name+"` | "+strings.TrimSuffix(q.Help, ".")) {
			t.Errorf("docs/runs.md lacks the row: | `%s` | %s |", q.Name, strings.TrimSuffix(q.Help, "."))
		}
	}
	for _, name := range strings.Split(answer(t, newDB(t), "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"), "; ") {
		if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, "`"+name+"(") {
			t.Errorf("docs/runs.md does not describe %s", name)
		}
	}
}
