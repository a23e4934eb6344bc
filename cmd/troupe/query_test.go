package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
)

func TestQuery(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // queries must work beside an open writer
	for _, id := range []string{"abc1", "abd2"} {
		if err := db.CreateRun(t.Context(), store.Run{ID: id, Config: "seed: 1\n", Workflow: "voting", Policy: "shared", Task: "math"}); err != nil {
			t.Fatal(err)
		}
		for i, acc := range []float64{.25, .5, .75} {
			err := db.Write(t.Context(), store.Batch{Run: id, Iteration: 10 * i,
				Evals:  []store.Eval{{Split: "held", Temperature: 1, N: 600, Accuracy: acc, Stderr: .02}},
				Steps:  []store.Step{{Metric: "critic/rewards/mean", Value: acc}},
				Events: []store.Event{{Kind: "x", Severity: "info", Message: "tab\there, \x1b[31mred"}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string // in standard output, or for errors in standard error
	}{
		{"query SELECT_id,state_FROM_runs_ORDER_BY_id", 0, "id    state\nabc1  running\nabd2  running\n"},
		{"query SELECT_1_AS_a,NULL_AS_b,'x,y'_AS_c --format csv", 0, "a,b,c\n1,,\"x,y\"\n"},
		{"query SELECT_1_AS_z,NULL_AS_b,'x'_AS_a,x'00ff'_AS_d,1e999_AS_e --json", 0, `{"z":1,"b":null,"a":"x","d":"00ff","e":null}` + "\n"},
		{"query grid --run ab --format csv", 3, "several runs begin so"},
		{"query grid --run abd --format csv", 0, "math,voting,shared,,0,held,1,600,0.25,0.75,20,0.75,0.5,0\n"},
		{"query grid --run nosuch", 3, "no such run: nosuch"},
		{"query SELECT_message_FROM_events_LIMIT_1", 0, "tab·here, ·[31mred\n"},
		{"query --list", 0, "grid"},
		{"query --list runs", 2, "takes no query"},
		{"query grid --show", 0, "FROM cells"},
		{"query", 2, "--list"},
		{"query gird", 2, `did you mean "grid"?`},
		{"query SELECT_nosuch_FROM_runs", 3, "no such column: nosuch"},
		{"query DELETE_FROM_runs", 3, "only reading is allowed"},
		{"query VACUUM_INTO_'" + path + ".copy'", 3, "only reading is allowed"},
		{"query ATTACH_'" + path + ".other'_AS_x", 3, "only reading is allowed"},
		{"query SELECT_1;_SELECT_2", 3, "one statement at a time"},
		{"query PRAGMA_synchronous=off", 3, "only reading is allowed"},
		{"query SELECT_1 --db " + path + ".missing", 3, "no such file"},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "_", " ")
		}
		if !strings.Contains(c.args, "--db") {
			args = append(args, "--db", path)
		}
		var out, errs bytes.Buffer
		code := run(args, nil, &out, &errs)
		got := out.String()
		if c.code != 0 {
			got = errs.String()
		}
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%v: exit code %d, want %d\noutput %q\nwant   %q\nerrors %q", args, code, c.code, got, c.want, errs.String())
		}
	}
	for _, q := range store.NamedQueries() {
		for _, more := range [][]string{nil, {"--run", "abc1"}} {
			var out, errs bytes.Buffer
			if code := run(append([]string{"query", q.Name, "--db", path}, more...), nil, &out, &errs); code != 0 {
				t.Errorf("query %s %v: exit code %d, %s", q.Name, more, code, errs.String())
			}
			if q.Help == "" {
				t.Errorf("query %s has no description", q.Name)
			}
		}
	}
	if matches, _ := filepath.Glob(path + ".*"); len(matches) > 0 {
		t.Errorf("queries left %v", matches)
	}
}
