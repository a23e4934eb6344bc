package jsonl

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	var rows strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&rows, "{\"id\":\"q%d\",\"question\":\"%s\",\"answer\":\"He has %d.\\n#### %d\"}\n", i, strings.Repeat("A few words of a problem. ", 10), i, i)
	}
	dir := b.TempDir()
	path := dir + "/set.jsonl"
	writeFile(b, path, rows.String())
	b.SetBytes(int64(rows.Len()))
	for b.Loop() {
		if tasks, _, err := Read(path); err != nil || len(tasks) != 5000 {
			b.Fatal(len(tasks), err)
		}
	}
	b.ReportMetric(5000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
