package store

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// manyMetrics is a log with a run of n iterations of per metrics each.
func manyMetrics(tb testing.TB, n, per int) *DB {
	tb.Helper()
	path := tb.TempDir() + "/runs.db"
	w, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.CreateRun(context.Background(), Run{ID: "r"}); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		b := Batch{Run: "r", Iteration: i, Steps: []Step{{Metric: "reward", Value: float64(i)}, {Metric: "odd", Value: math.NaN()}}}
		for m := range per {
			b.RoleSteps = append(b.RoleSteps, RoleStep{Role: "worker", Slot: m%3 - 1, Metric: fmt.Sprintf("m%03d", m), Value: float64(m)})
		}
		if err := w.Write(context.Background(), b); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	db, err := OpenReadOnly(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}

func TestSeries(t *testing.T) {
	db := manyMetrics(t, 4, 6)
	cases := []struct {
		names []string
		from  int
		slots bool
		want  string
	}{
		{[]string{"reward"}, 0, false, "reward -1: 0 1 2 3;"},
		{[]string{"reward"}, 2, false, "reward -1: 2 3;"},
		{[]string{"m000", "m001"}, 0, false, "m000worker -1: 0 1 2 3;"},
		{[]string{"m000", "m001"}, 3, true, "m000worker -1: 3;m001worker 0: 3;"},
		{nil, 3, false, "m000worker -1: 3;m003worker -1: 3;odd -1: 3;reward -1: 3;"},
		{[]string{"none"}, 0, true, ""},
		{[]string{"'; DROP TABLE steps; --"}, 0, true, ""},
	}
	for _, c := range cases {
		rows, err := db.Series(t.Context(), "r", c.names, c.from, c.slots)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, m := range rows {
			if i == 0 || rows[i-1].Name != m.Name || rows[i-1].Slot != m.Slot {
				if i > 0 {
					got += ";"
				}
				got += fmt.Sprintf("%s%s %d:", m.Name, m.Role, m.Slot)
			}
			got += fmt.Sprint(" ", m.Iteration)
			if (m.Value == nil) != (m.Name == "odd") {
				t.Errorf("%s has the value %v", m.Name, m.Value)
			}
		}
		if len(rows) > 0 {
			got += ";"
		}
		if got != c.want {
			t.Errorf("%v from %d: %q, want %q", c.names, c.from, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Series(ctx, "r", nil, 0, true); err == nil {
		t.Error("an ended context gave an answer")
	}
}

// TestMetricsPages reads a log in pieces and compares with the whole.
func TestMetricsPages(t *testing.T) {
	db := manyMetrics(t, 10, 6)
	whole, err := db.Metrics(t.Context(), "r", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 7, 8, 20, 79, 80, 1000} {
		n, pages := 0, 0
		for from := 0; from >= 0; pages++ {
			rows, next, err := db.MetricsPage(t.Context(), "r", from, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range rows {
				if w := whole[n]; m.Iteration != w.Iteration || m.Name != w.Name || m.Slot != w.Slot {
					t.Fatalf("limit %d: row %d is %+v, want %+v", limit, n, m, w)
				}
				n++
			}
			from = next
		}
		if n != len(whole) {
			t.Errorf("limit %d: %d rows in %d pages, want %d", limit, n, pages, len(whole))
		}
	}
}

// BenchmarkSeries reads all curves of a run of 100,000 values.
func BenchmarkSeries(b *testing.B) {
	db := manyMetrics(b, 1000, 98)
	for name, names := range map[string][]string{"all": nil, "one": {"m000"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Series(context.Background(), "r", names, 0, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
