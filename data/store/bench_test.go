package store

import (
	"fmt"
	"path/filepath"
	"testing"
)

// bigBatch is an iteration of Voting with 32 tasks and 8 rollouts: 1,024 calls.
func bigBatch(iteration int) Batch {
	b := Batch{Run: "r", Iteration: iteration}
	for i := range 60 {
		b.Steps = append(b.Steps, Step{fmt.Sprintf("critic/metric%d", i), float64(i)})
		b.RoleSteps = append(b.RoleSteps, RoleStep{"generator", i % 4, fmt.Sprintf("actor/metric%d", i), 1}, RoleStep{"aggregator", AllSlots, fmt.Sprintf("actor/metric%d", i), 1})
	}
	for task := range 32 {
		name := fmt.Sprintf("synth-math-medium/%016x", task*iteration)
		b.Tasks = append(b.Tasks, Task{ID: name, Kind: "math", Text: "47+38=", Gold: "85"})
		for rollout := range 8 {
			at := at(name, rollout)
			b.Episodes = append(b.Episodes, Episode{at, 1, true, "AC", true})
			b.Verdicts = append(b.Verdicts, Verdict{CallAt{At: at}, "AC", "", 1, 1, 5, false})
			for slot := range 4 {
				b.Calls = append(b.Calls, Call{CallAt{at, "generator", slot, 0}, make([]int32, 12), make([]int32, 5), make([]float32, 5), "[85]$", "primary", "stop", .5})
			}
		}
	}
	return b
}

func BenchmarkWrite(b *testing.B) {
	db, err := Open(filepath.Join(b.TempDir(), "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateRun(b.Context(), Run{ID: "r", Config: "x"}); err != nil {
		b.Fatal(err)
	}
	rows := 0
	for i := 0; b.Loop(); i++ {
		batch := bigBatch(i)
		if err := db.Write(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		rows += len(batch.Steps) + len(batch.RoleSteps) + len(batch.Tasks) + len(batch.Episodes) + len(batch.Verdicts) + len(batch.Calls)
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
