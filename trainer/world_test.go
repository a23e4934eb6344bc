package trainer

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"troupe/data"
	"troupe/data/store"
	"troupe/internal/prng"
	"troupe/internal/reexec"
	"troupe/model"
	"troupe/model/kernels"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// letters is an encoder of 32 tokens: an end token, and letters.
type letters struct{}

func (letters) Encode(chat []workflow.Message) ([]int32, error) {
	var ids []int32
	for _, m := range chat {
		s := m.Content
		for _, b := range []byte(s[max(0, len(s)-20):]) {
			ids = append(ids, 2+int32(b)%30)
		}
	}
	return ids, nil
}

func (letters) Text(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		if id >= 2 {
			b.WriteByte(byte('a' + id - 2))
		}
	}
	return b.String()
}

func (letters) Stop() []int32 { return []int32{1} }

// lottery rewards some texts and not others, for no reason but the same one
// every time; one in sixteen can't be judged.
type lottery struct{}

func (lottery) Verify(_ context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	h := fnv.New32a()
	h.Write([]byte(t.ID + answer))
	switch x := h.Sum32() % 16; {
	case x == 0:
		return verdict.Verdict{Code: verdict.IE, Reason: "the machine was struck by lightning", Reward: 7}, nil
	case x < 8:
		return verdict.Verdict{Code: verdict.AC, Reward: 1, Total: 1, Passed: 1}, nil
	}
	return verdict.Verdict{Code: verdict.WA, Total: 1}, nil
}

func smallModel(t testing.TB, pool *kernels.Pool) *model.Model {
	t.Helper()
	cfg := model.Config{Type: "qwen3", Hidden: 16, Inner: 32, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 8, Vocab: 32,
		MaxPositions: 256, Eps: 1e-6, RopeTheta: 1e3, Tied: true, BOS: -1, EOS: []int32{1}}
	m, err := model.New(cfg, func(name string, shape []int, w []float32) {
		rng := prng.Stream(1, name)
		for i := range w {
			w[i] = float32(rng.NormFloat64()) * 0.3
			if len(shape) == 1 {
				w[i] = 1
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.Save(dir, "f32"); err != nil {
		t.Fatal(err)
	}
	if m, err = model.Load(dir, model.LoadOptions{Trainable: true, Pool: pool}); err != nil {
		t.Fatal(err)
	}
	return m
}

func smallTasks() []data.Task {
	var tasks []data.Task
	for i := range 24 {
		t := data.Task{ID: fmt.Sprint("task", i), Kind: data.Math, Text: strings.Repeat(string(rune('a'+i)), 5), Gold: "1", Split: data.Train}
		if i >= 16 {
			t.Split = data.Held
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func smallConfig(change ...string) Config {
	c := clean()
	c.Workflow, c.Policy, c.Params, c.Chat = "voting", "isolated", "full", "off"
	c.Tasks, c.Rollouts, c.Iterations, c.Temperature, c.MaxTokens = 4, 4, 6, 1, 6
	c.LR, c.LRSchedule, c.LRWarmup, c.MiniBatch, c.Defaults = 1e-2, "constant", 0, 20, true
	c.EvalEvery, c.EvalN, c.CheckpointEvery, c.CheckpointKeep = 3, 8, 2, 2
	for _, kv := range change {
		k, v, _ := strings.Cut(kv, "=")
		if err := c.Set(k, v); err != nil {
			panic(err)
		}
	}
	return c
}

// world is a run with its database, to be looked at afterwards.
type world struct {
	cfg Config
	dir string
	t   *Trainer
	db  *store.DB
}

func newWorld(t testing.TB, dir string, cfg Config, change func(*Parts)) *world {
	t.Helper()
	db, err := store.Open(filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Out = filepath.Join(dir, "out")
	parts := Parts{Base: smallModel(t, nil), Encoder: letters{}, Verifier: lottery{}, Tasks: smallTasks(), DB: db, Host: dir}
	if change != nil {
		change(&parts)
	}
	tr, err := New(cfg, parts)
	if err != nil {
		t.Fatal(err)
	}
	return &world{cfg, dir, tr, db}
}

// play runs to the end and closes the database.
func (w *world) play(t testing.TB) *world {
	t.Helper()
	if err := w.t.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}

// rows is every row that equal runs share, as text: all tables but timings, all
// columns but the host, paths, and times.
func (w *world) rows(t testing.TB) []string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(w.dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out []string
	for _, table := range query(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'timings' ORDER BY name") {
		table = strings.Trim(table, "|")
		var columns []string
		for _, c := range query(t, db, "SELECT name FROM pragma_table_info('"+table+"') WHERE name <> 'host' AND name NOT LIKE '%\\_at' ESCAPE '\\' AND NOT (name = 'path')") {
			columns = append(columns, "quote("+strings.Trim(c, "|")+")")
		}
		for _, r := range query(t, db, "SELECT "+strings.Join(columns, ",")+" FROM "+table) {
			out = append(out, table+r)
		}
	}
	slices.Sort(out)
	return out
}

func query(t testing.TB, db *sql.DB, q string) []string {
	t.Helper()
	rows, err := db.Query(q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var out []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, v := range values {
			fmt.Fprintf(&b, "|%v", *v.(*any))
		}
		out = append(out, b.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// weights is a hash of all parameters and optimizer states.
func (w *world) weights() string {
	h := sha256.New()
	for _, name := range w.t.setNames {
		s := w.t.sets[name]
		for _, list := range [][][]float32{s.Values(), s.Opt.M, s.Opt.V} {
			for _, x := range list {
				for _, v := range x {
					fmt.Fprintf(h, "%08x", math.Float32bits(v))
				}
			}
		}
		fmt.Fprint(h, s.Opt.Step, s.Calls)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sameRows(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("row %d is\n%.300s\nwant\n%.300s", i, got[i], want[i])
			return
		}
	}
}
