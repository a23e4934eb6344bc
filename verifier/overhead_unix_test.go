//go:build unix

package verifier

import (
	"fmt"
	"syscall"
	"testing"

	"troupe/data"
	"troupe/verifier/verdict"
)

// cpu is the processor time of this process, or of its ended children.
func cpu(who int) float64 {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// What a verdict costs beside what its worker spends: extraction, protocol,
// comparison, caching. The metric is its share in per cent.
func BenchmarkOverhead(b *testing.B) {
	p := open(b, 1)
	j := New(Options{Pool: p, CacheSize: -1})
	t := data.Task{Kind: data.Code}
	for i := range 10 {
		t.Tests = append(t.Tests, data.Test{Input: fmt.Sprintf("%d %d\n", i, i+1), Output: fmt.Sprintln(2*i + 1)})
	}
	answer := "So:\n```python\na, b = map(int, input().split())\nprint(a + b)\n```\n"
	own, workers := cpu(syscall.RUSAGE_SELF), cpu(syscall.RUSAGE_CHILDREN)
	for b.Loop() {
		if v, err := j.One(b.Context(), Item{Task: t, Answer: answer}); err != nil || v.Code != verdict.AC {
			b.Fatal(v, err)
		}
	}
	p.Close()
	own, workers = cpu(syscall.RUSAGE_SELF)-own, cpu(syscall.RUSAGE_CHILDREN)-workers
	b.ReportMetric(100*own/workers, "overhead-%")
	b.ReportMetric(float64(b.N*len(t.Tests))/(own+workers), "tests/cpu-s")
}
