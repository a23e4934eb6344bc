package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

func TestMergeCommand(t *testing.T) {
	dir := t.TempDir()
	create := func(name, run, config string, iterations int) string {
		path := filepath.Join(dir, name)
		db, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateRun(t.Context(), store.Run{ID: run, Config: config}); err != nil {
			t.Fatal(err)
		}
		for i := range iterations {
			if err := db.Write(t.Context(), store.Batch{Run: run, Iteration: i, Steps: []store.Step{{Metric: "x", Value: float64(i)}}}); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	a, b, c := create("a.db", "r1", "x", 2), create("b.db", "r2", "x", 1), create("c.db", "r1", "other", 2)
	into := filepath.Join(dir, "all.db")
	for _, step := range []struct {
		from []string
		code int
		want string
	}{
		{[]string{a, b}, 0, a + ": 1 runs added, 0 completed, 0 there already\n" + b + ": 1 runs added"},
		{[]string{a, b}, 0, "0 runs added, 0 completed, 1 there already"},
		{[]string{c}, exitInput, "run r1: the logs differ: equal ids, but other settings"},
		{[]string{filepath.Join(dir, "none.db")}, exitInput, "no such file"},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"merge", into}, step.from...), nil, &out, &errs)
		if code != step.code || !strings.Contains(out.String()+errs.String(), step.want) {
			t.Errorf("merge %v: exit code %d, %s%s", step.from, code, out.String(), errs.String())
		}
	}
}
