package trainer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data"
	"troupe/model/lora"
	"troupe/trainer/policy"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// paperTrainer is a trainer with the paper profile on many small tasks.
func paperTrainer(t *testing.T, name, routing string, kind data.Kind) *Trainer {
	t.Helper()
	cfg := paper()
	cfg.Workflow, cfg.Policy, cfg.Task, cfg.Rank = name, routing, string(kind), 2
	var tasks []data.Task
	for i := range 80 {
		tasks = append(tasks, data.Task{ID: fmt.Sprint("task", i), Kind: kind, Text: "x", Gold: "1", Split: data.Train})
	}
	tr, err := New(cfg, Parts{Base: smallModel(t, nil), Encoder: letters{}, Verifier: lottery{}, Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The accounting of an iteration as the authors' code does it: 64 tasks, 8
// rollouts, mini-batches of 512 rows.
func TestPaperAccounting(t *testing.T) {
	for _, c := range []struct {
		workflow, policy string
		kind             data.Kind
		want             []string // set, rows, steps
	}{
		{"single", "shared", data.Math, []string{"shared 512 1"}},
		{"voting", "shared", data.Math, []string{"shared 2048 4"}},
		{"voting", "isolated", data.Math, []string{"generator 1536 3", "aggregator 512 1"}},
		{"voting", "isolated", data.Code, []string{"generator 1536 3", "aggregator 512 1"}},
		{"orch", "shared", data.Math, []string{"shared 2560 5"}},
		{"orch", "isolated", data.Math, []string{"orchestrator 512 1", "worker 1536 3", "synthesizer 512 1"}},
		{"evalopt", "isolated", data.Math, []string{"generator 1536 3", "evaluator 1536 3"}},
		{"evalopt", "isolated", data.Code, []string{"generator 1024 2", "evaluator 1024 2"}},
	} {
		text := paperTrainer(t, c.workflow, c.policy, c.kind).Accounting()
		if !strings.Contains(text, "512 episodes an iteration (64 tasks x 8 rollouts)") {
			t.Errorf("%s", text)
		}
		for _, w := range c.want {
			var set string
			var rows, steps int
			fmt.Sscan(w, &set, &rows, &steps)
			if line := fmt.Sprintf("  %-14s at most %d rows, %d optimizer steps\n", set, rows, steps); !strings.Contains(text, line) {
				t.Errorf("%s %s %s: no line %q in\n%s", c.workflow, c.policy, c.kind, line, text)
			}
		}
	}
}

// The groups of one task under the paper profile: sizes by role for 8 rollouts
// in which every agent spoke as often as it can.
func TestPaperGroups(t *testing.T) {
	for _, c := range []struct {
		workflow string
		kind     data.Kind
		calls    []workflow.Role // of an episode
		want     map[string]string
	}{
		{"voting", data.Math, []workflow.Role{{Name: "generator"}, {Name: "generator", Slot: 1}, {Name: "generator", Slot: 2}, {Name: "aggregator"}},
			map[string]string{"generator": "8 8 8", "aggregator": "8"}},
		{"voting", data.Code, []workflow.Role{{Name: "generator"}, {Name: "generator", Slot: 1}, {Name: "generator", Slot: 2}, {Name: "aggregator"}},
			map[string]string{"generator": "24", "aggregator": "8"}},
		{"orch", data.Math, []workflow.Role{{Name: "orchestrator"}, {Name: "worker"}, {Name: "worker", Slot: 1}, {Name: "worker", Slot: 2}, {Name: "synthesizer"}},
			map[string]string{"orchestrator": "8", "worker": "24", "synthesizer": "8"}},
		{"evalopt", data.Math, []workflow.Role{{Name: "generator"}, {Name: "evaluator"}, {Name: "generator", Turn: 1}, {Name: "evaluator", Turn: 1}, {Name: "generator", Turn: 2}, {Name: "evaluator", Turn: 2}},
			map[string]string{"generator": "24", "evaluator": "24"}},
	} {
		tr := paperTrainer(t, c.workflow, "isolated", c.kind)
		var episodes []workflow.Episode
		for r := range 8 {
			ep := workflow.Episode{Task: "task1", Rollout: r, Verdict: verdict.Verdict{Code: verdict.WA}}
			if r < 3 {
				ep.Verdict = verdict.Verdict{Code: verdict.AC, Reward: 1}
			}
			for _, role := range c.calls {
				ep.Calls = append(ep.Calls, workflow.Call{Request: workflow.Request{Role: role, MaxTokens: 9},
					Sample: workflow.Sample{PromptIDs: []int32{2}, IDs: []int32{3, 1}, LogProbs: []float32{-1, -1}, Finish: workflow.Stop}})
			}
			episodes = append(episodes, ep)
		}
		rows, err := tr.rows(episodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		size := map[string]int{}
		var order []string
		for _, r := range rows {
			if size[r.group] == 0 {
				order = append(order, r.group)
			}
			size[r.group]++
			// Everybody of an episode has its outcome.
			if (r.advantage > 0) != (r.episode.Rollout < 3) {
				t.Errorf("%s: advantage %v in rollout %d", c.workflow, r.advantage, r.episode.Rollout)
			}
		}
		got := map[string][]string{}
		for _, g := range order {
			for _, r := range rows {
				if r.group == g {
					got[r.call.Role.Name] = append(got[r.call.Role.Name], fmt.Sprint(size[g]))
					break
				}
			}
		}
		for role, want := range c.want {
			if strings.Join(got[role], " ") != want {
				t.Errorf("%s %s: groups of %s have %v rows, want %s", c.workflow, c.kind, role, got[role], want)
			}
		}
	}
}

// A checkpoint holds a standard PEFT folder for every role.
func TestCheckpointsArePEFTFolders(t *testing.T) {
	w := newWorld(t, t.TempDir(), smallConfig("params=lora", "rank=4", "alpha=8", "model=some/where/base-model", "iterations=2"), nil).play(t)
	for _, role := range []string{"generator", "aggregator"} {
		dir := filepath.Join(w.cfg.Out, "step-000002", role)
		b, err := os.ReadFile(filepath.Join(dir, lora.ConfigFile))
		if err != nil {
			t.Fatal(err)
		}
		var cfg map[string]any
		if err := json.Unmarshal(b, &cfg); err != nil {
			t.Fatal(err)
		}
		if cfg["peft_type"] != "LORA" || cfg["r"] != 4.0 || cfg["lora_alpha"] != 8.0 || cfg["base_model_name_or_path"] != "base-model" {
			t.Errorf("%s", b)
		}
		a, err := lora.Load(dir, w.t.parts.Base.Config.AdapterBase())
		if err != nil {
			t.Fatal(err)
		}
		again := policy.NewAdapter(role, w.t.parts.Base, a)
		for i, p := range again.Values() {
			for j, v := range p {
				if v != w.t.sets[role].Values()[i][j] {
					t.Fatalf("%s: a weight came back as another", role)
				}
			}
		}
	}
}
