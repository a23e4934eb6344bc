package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data/store"
	"troupe/trainer/grid"
	"troupe/trainer/study"
)

func TestMergeStageWantsEveryCell(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	args := []string{"grid", "--smoke", "--seed", "3", "--stage", "merge", "--dir", dir}
	c := gridCmd{gridFlags: gridFlags{Smoke: true, Scales: []string{"tiny-s"}, Seeds: 1, Seed: 3}}
	f := grid.Folder{Dir: dir, Study: grid.StudyID(c.args())}
	var out, errs bytes.Buffer
	if code := run(args, nil, &out, &errs); code != exitInput || !strings.Contains(errs.String(), "not done in "+dir+": cell-0, cell-1") {
		t.Errorf("nothing done: exit code %d, %s", code, errs.String())
	}
	for i := range study.SmokeCells() {
		db, err := store.Open(f.DB(i))
		if err != nil {
			t.Fatal(err)
		}
		id := string(rune('a' + i))
		if err := db.CreateRun(context.Background(), store.Run{ID: id, Config: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Mark(grid.CellMark(i)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // merging again changes nothing
		out.Reset()
		errs.Reset()
		if code := run(append(args, "--wait"), nil, &out, &errs); code != 0 || !strings.Contains(out.String(), "all 6 cells are in "+f.Merged()) {
			t.Fatalf("all done: exit code %d, %s%s", code, out.String(), errs.String())
		}
		db, err := store.OpenReadOnly(f.Merged())
		if err != nil {
			t.Fatal(err)
		}
		runs, err := db.Runs(t.Context())
		db.Close()
		if err != nil || len(runs) != 6 {
			t.Errorf("%d runs, error %v", len(runs), err)
		}
		if _, err := os.Stat(f.Report()); err != nil {
			t.Error(err)
		}
	}
}
