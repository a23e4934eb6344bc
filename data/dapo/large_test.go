package dapo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
)

// TestALargeFileStreams makes a file of a gigabyte in the raw form and reads
// it. It needs that much disk, so it runs only where TROUPE_LARGE names a
// folder to use; the memory of both processes is measured by .ci and recorded
// in docs/performance.md.
func TestALargeFileStreams(t *testing.T) {
	dir := os.Getenv("TROUPE_LARGE")
	if dir == "" {
		t.Skip("TROUPE_LARGE is not set")
	}
	const problems, times = 17_000, 105
	path := filepath.Join(dir, "dapo-large.parquet")
	if _, err := os.Stat(path); err != nil {
		writeLarge(t, path, problems, times)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	tasks, report, err := Read(t.Context(), path)
	if err != nil || len(tasks) != problems || report.Rows != problems*times {
		t.Fatalf("%d tasks, %s, error %v", len(tasks), report.String(), err)
	}
	t.Logf("%d MB, %d rows, %d tasks", st.Size()>>20, report.Rows, len(tasks))
}

func writeLarge(t *testing.T, path string, problems, times int) {
	type row struct {
		Prompt []message `parquet:"prompt,list"`
		Reward reward    `parquet:"reward_model"`
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([]row, problems)
	for i := range rows {
		text := make([]byte, 330)
		for j := range text {
			text[j] = byte('a' + rng.IntN(26))
		}
		rows[i] = row{[]message{{prefix + fmt.Sprint(i) + string(text) + suffix, "user"}}, reward{fmt.Sprint(i), "rule"}}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquetgo.NewGenericWriter[row](f)
	for range times {
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
