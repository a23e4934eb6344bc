package trainer

import (
	"testing"

	"troupe/trainer/workflow"
)

// The constant of Dr. GRPO does not depend on which roles have rows in a
// mini-batch.
func TestTheConstantAggregationIsTheSameForEveryMiniBatch(t *testing.T) {
	cfg := smallConfig("loss.aggregation=dr-grpo", "role-tokens.aggregator=2")
	w, err := cfg.NewWorkflow("math", nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trainer{cfg: cfg, workflow: w}
	rowOf := func(role string, limit int) *row {
		return &row{call: &workflow.Call{Request: workflow.Request{Role: workflow.Role{Name: role}, MaxTokens: limit},
			Sample: workflow.Sample{IDs: []int32{2}}}}
	}
	for _, rows := range [][]*row{
		{rowOf("aggregator", 2), rowOf("aggregator", 2)},
		{rowOf("generator", cfg.MaxTokens), rowOf("aggregator", 2)},
	} {
		weights, err := tr.weights(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range weights {
			if want := 1 / float64(2*cfg.MaxTokens); got != want {
				t.Errorf("%s: weight %v, want %v", rows[i].call.Role.Name, got, want)
			}
		}
	}
}
