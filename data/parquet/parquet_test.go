package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"

	"troupe/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

type message struct {
	Content string `parquet:"content" json:"content"`
	Role    string `parquet:"role" json:"role"`
}

type model struct {
	GroundTruth string `parquet:"ground_truth" json:"ground_truth"`
	Style       string `parquet:"style" json:"style"`
}

// record has the shapes of real data sets: lists of structs, optional structs,
// lists of lists, numbers, nulls.
type record struct {
	ID      int64     `parquet:"id" json:"id"`
	Prompt  []message `parquet:"prompt,list" json:"prompt"`
	Reward  *model    `parquet:"reward_model,optional" json:"reward_model"`
	Nested  [][]int32 `parquet:"nested,list" parquet-element:",list" json:"nested"`
	Note    *string   `parquet:"note,optional" json:"note"`
	Score   float64   `parquet:"score" json:"score"`
	Flag    bool      `parquet:"flag" json:"flag"`
	Skipped []string  `parquet:"skipped,list" json:"-"`
}

func records(n int) []record {
	out := make([]record, n)
	for i := range out {
		r := record{ID: int64(i), Score: float64(i) / 3, Flag: i%2 == 0, Prompt: []message{}, Nested: [][]int32{}}
		for j := range i % 4 {
			r.Prompt = append(r.Prompt, message{fmt.Sprintf("text %d.%d \"quoted\"\n\t\x01 é", i, j), "user"})
			inner := []int32{}
			for k := range (i + j) % 3 {
				inner = append(inner, int32(k))
			}
			r.Nested = append(r.Nested, inner)
		}
		if i%3 > 0 {
			r.Reward = &model{fmt.Sprint(i), "rule"}
			note := strings.Repeat("x", i%50)
			r.Note = &note
		}
		r.Skipped = []string{strings.Repeat("never read", 10)}
		out[i] = r
	}
	return out
}

func write[T any](t testing.TB, rows []T, options ...parquetgo.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquetgo.NewGenericWriter[T](f, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	return path
}

var all = []string{"id", "prompt", "reward_model", "nested", "note", "score", "flag"}

func TestRowsComeBack(t *testing.T) {
	want := records(1000)
	for name, options := range map[string][]parquetgo.WriterOption{
		"plain":       nil,
		"snappy":      {parquetgo.Compression(&parquetgo.Snappy)},
		"zstd":        {parquetgo.Compression(&parquetgo.Zstd)},
		"gzip":        {parquetgo.Compression(&parquetgo.Gzip)},
		"small pages": {parquetgo.PageBufferSize(256)},
		"row groups":  {parquetgo.MaxRowsPerRowGroup(37)},
		"pages v1":    {parquetgo.DataPageVersion(1)},
	} {
		path := write(t, want, options...)
		s, err := Inspect(t.Context(), path)
		if err != nil || s.Rows != 1000 || !s.Has(all...) || s.Has("nosuch") {
			t.Errorf("%s: schema %+v, error %v", name, s, err)
		}
		n := 0
		err = Rows(t.Context(), path, append(all, "missing?"), func(row int, raw []byte, rowErr error) error {
			n++
			var got record
			if err := json.Unmarshal(raw, &got); err != nil || rowErr != nil || row != n {
				return fmt.Errorf("%s: %v %v", raw, err, rowErr)
			}
			got.Skipped = want[n-1].Skipped
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want[n-1])
			if !bytes.Equal(a, b) {
				return fmt.Errorf("row %d:\n got %s\nwant %s", n, a, b)
			}
			return nil
		})
		if err != nil || n != 1000 {
			t.Errorf("%s: %d rows, error %v", name, n, err)
		}
	}
}

func TestAnErrorOfTheCallerEndsTheReading(t *testing.T) {
	boom := errors.New("boom")
	n := 0
	err := Rows(t.Context(), write(t, records(5000)), []string{"id"}, func(int, []byte, error) error {
		if n++; n == 3 {
			return boom
		}
		return nil
	})
	if !errors.Is(err, boom) || n != 3 {
		t.Errorf("%d rows, error %v", n, err)
	}
}

// Only the child is watched: whoever takes the rows may take his time.
func TestASlowCallerIsNotTakenForAStuckReader(t *testing.T) {
	defer func(d time.Duration) { silence = d }(silence)
	silence = 1500 * time.Millisecond
	n := 0
	rows := 20_000 // more than all buffers hold
	err := Rows(t.Context(), write(t, records(rows)), []string{"id", "prompt"}, func(int, []byte, error) error {
		if n++; n == 1 {
			time.Sleep(silence + silence/4)
		}
		return nil
	})
	if err != nil || n != rows {
		t.Errorf("%d rows, error %v", n, err)
	}
}

func TestCellsWithoutAJSONFormAreRowErrors(t *testing.T) {
	type row struct {
		A string  `parquet:"a"`
		B float64 `parquet:"b"`
		C []byte  `parquet:"c"`
	}
	path := write(t, []row{{"ok", 1, []byte("x")}, {"\xff", 2, nil}, {"ok", math.NaN(), []byte{0xff}}})
	var got []string
	err := Rows(t.Context(), path, []string{"a", "b", "c"}, func(row int, raw []byte, rowErr error) error {
		got = append(got, fmt.Sprintf("%d %s %v", row, raw, rowErr))
		return nil
	})
	want := []string{`1 {"a":"ok","b":1,"c":"x"} <nil>`, `2  not UTF-8: column a`, `3 {"a":"ok","b":null,"c":"/w=="} <nil>`}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestMissingColumnsAndFiles(t *testing.T) {
	path := write(t, records(3))
	err := Rows(t.Context(), path, []string{"id", "problem"}, func(int, []byte, error) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `no column "problem"; it has`) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	text := filepath.Join(t.TempDir(), "text.parquet")
	os.WriteFile(text, []byte(strings.Repeat("just text ", 10)), 0o644)
	empty := filepath.Join(t.TempDir(), "empty.parquet")
	os.WriteFile(empty, nil, 0o644)
	marks := filepath.Join(t.TempDir(), "marks.parquet")
	os.WriteFile(marks, []byte("PAR1PAR1"), 0o644)
	huge := filepath.Join(t.TempDir(), "huge.parquet")
	os.WriteFile(huge, []byte("PAR1\xff\xff\xff\xffPAR1"), 0o644)
	for _, p := range []string{text, empty, marks, huge, t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := Inspect(t.Context(), p); err == nil || !strings.Contains(err.Error(), p) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", p, err)
		}
	}
}

// TestDamagedFilesAreErrors flips, cuts and repeats bytes. Whatever happens,
// the answer is rows or one line that names the file, and this process lives.
func TestDamagedFilesAreErrors(t *testing.T) {
	small := records(40)
	original, err := os.ReadFile(write(t, small, parquetgo.Compression(&parquetgo.Snappy)))
	if err != nil {
		t.Fatal(err)
	}
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	failed := 0
	for i := range rounds {
		b := bytes.Clone(original)
		switch i % 3 {
		case 0: // in the footer, where the structure is
			at := len(b) - 8 - 1 - rng.IntN(min(len(b)-20, 600))
			b[at] ^= byte(1 + rng.IntN(255))
		case 1:
			for range 1 + rng.IntN(8) {
				b[4+rng.IntN(len(b)-12)] ^= byte(1 + rng.IntN(255))
			}
		case 2: // a piece is missing in the middle
			at := 4 + rng.IntN(len(b)-40)
			b = append(b[:at], b[at+1+rng.IntN(16):]...)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		err := Rows(t.Context(), path, all, func(row int, raw []byte, rowErr error) error {
			if rowErr == nil && !json.Valid(raw) {
				t.Errorf("round %d: row %d is no JSON: %q", i, row, raw)
			}
			return nil
		})
		if err != nil {
			failed++
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("round %d: %v", i, err)
			}
		}
	}
	t.Logf("%d of %d damaged files refused", failed, rounds)
	if failed < rounds/3 {
		t.Errorf("only %d of %d damaged files were refused", failed, rounds)
	}
}

// FuzzRows reads damaged files through the child, as the product does: there a
// crash is an answer, here it must never be one.
func FuzzRows(f *testing.F) {
	for _, options := range [][]parquetgo.WriterOption{nil, {parquetgo.Compression(&parquetgo.Snappy)}, {parquetgo.DataPageVersion(1)}} {
		b, err := os.ReadFile(write(f, records(3), options...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("PAR1PAR1PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		err := Rows(t.Context(), path, []string{"id?", "prompt?", "nested?", "note?"}, func(row int, raw []byte, rowErr error) error {
			if rowErr == nil && !json.Valid(raw) {
				t.Errorf("row %d is no JSON: %q", row, raw)
			}
			return nil
		})
		if err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path)) {
			t.Errorf("%v", err)
		}
	})
}
