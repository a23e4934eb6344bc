package study

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"troupe/data"
	"troupe/data/store"
	"troupe/model"
	"troupe/verifier/verdict"
)

// untrainedBase puts a base that has learnt nothing into a cache.
func untrainedBase(t *testing.T, cache string, seed uint64) {
	t.Helper()
	all, err := tasks()
	if err != nil {
		t.Fatal(err)
	}
	shape := Shapes()[0]
	dir := filepath.Join(cache, "bases", baseKey(shape, data.Math, seed, all[data.Math]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := shape.fresh(seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(dir, "f32"); err != nil {
		t.Fatal(err)
	}
	if err := writeTokenizer(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, baseFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Load(dir, model.LoadOptions{Trainable: true}); err != nil {
		t.Fatal(err)
	}
}

// generous finds every second answer right, by its length, so that an
// untrained model has something to learn from.
type generous struct{}

func (generous) Verify(_ context.Context, _ data.Task, answer string) (verdict.Verdict, error) {
	v := verdict.Verdict{Code: verdict.WA, Total: 1}
	if len(answer)%2 == 1 {
		v.Code, v.Reward, v.Passed = verdict.AC, 1, 1
	}
	return v, nil
}

func open(t *testing.T, path string, cells []Cell, cache string) *Study {
	t.Helper()
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := New(Options{Cells: cells, Iterations: 2, Cache: cache, Out: t.TempDir(), DB: db, Verifier: generous{}, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// One cell a machine, then merged, is the same as all on one machine.
func TestMergedGridEqualsOneMachine(t *testing.T) {
	cache, dir, ctx := t.TempDir(), t.TempDir(), context.Background()
	untrainedBase(t, cache, 1)
	cells := []Cell{{Workflow: "single", Policy: "shared", Kind: data.Math}, {Workflow: "voting", Policy: "isolated", Kind: data.Math}}
	want, err := open(t, filepath.Join(dir, "one.db"), cells, cache).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all := open(t, filepath.Join(dir, "runs.db"), cells, cache)
	for i, c := range cells {
		path := filepath.Join(dir, "cell-"+string(rune('0'+i))+".db")
		if _, err := open(t, path, []Cell{c}, cache).Run(ctx); err != nil {
			t.Fatal(err)
		}
		m, err := all.opt.DB.Merge(ctx, path)
		if err != nil || len(m.Added) != 1 {
			t.Fatalf("merged %+v, %v", m, err)
		}
	}
	got, err := all.results(ctx, cells)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		clearNaN(want[i].Roles)
		clearNaN(got[i].Roles)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("merged\n%+v\none machine\n%+v", got, want)
	}
	if m, err := all.opt.DB.Merge(ctx, filepath.Join(dir, "one.db")); err != nil || len(m.Present) != 2 {
		t.Errorf("the one machine's log is not the same: %+v, %v", m, err)
	}
}

// clearNaN makes mechanisms comparable.
func clearNaN(all []Mechanism) {
	for i := range all {
		v := reflect.ValueOf(&all[i]).Elem()
		for k := range v.NumField() {
			if f := v.Field(k); f.Kind() == reflect.Float64 && math.IsNaN(f.Float()) {
				f.SetFloat(-1)
			}
		}
	}
}

// A study that was stopped gives the same results when it goes on.
func TestStudyGoesOn(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	untrainedBase(t, cache, 1)
	cells := []Cell{{Workflow: "single", Policy: "shared", Kind: data.Math}}
	want, err := open(t, filepath.Join(dir, "whole.db"), cells, cache).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "broken.db"), cells, cache)
	ctx, cancel := context.WithCancel(context.Background())
	s.opt.Fail = func(site string) {
		if site == "after-transaction" {
			cancel()
		}
	}
	if _, err := s.Run(ctx); err == nil {
		t.Fatal("the study was not stopped")
	}
	s.opt.Fail = nil
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	clearNaN(want[0].Roles)
	clearNaN(got[0].Roles)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("went on\n%+v\nwhole\n%+v", got, want)
	}
}
