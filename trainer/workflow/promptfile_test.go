package workflow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data"
)

func promptsIn(t *testing.T, text, workflow string) (*Prompts, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prompt.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return LoadPrompts(path, data.Math, workflow)
}

func TestLoadPrompts(t *testing.T) {
	p, err := promptsIn(t, `{"voting": {"generator": {"template": "Do {problem}!"}}, "aggregator_prompt": ["{problem}", "{solutions}"], "x": 1}`, "voting")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Render(data.Math, PromptGenerator, "{problem}", "{solutions}"); got != "Do {solutions}!" {
		t.Errorf("generator prompt %q", got)
	}
	if got := p.Template(data.Math, PromptAggregator); got != "{problem}\n{solutions}" {
		t.Errorf("aggregator prompt %q", got)
	}
	if p.Template(data.Code, PromptGenerator) != OwnPrompts().Template(data.Code, PromptGenerator) {
		t.Error("prompts of the other kind changed")
	}
}

func TestBadPromptFiles(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                               "unexpected end",
		`{}`:                              "no prompt of a known role",
		`{"generator": "no placeholder"}`: "the generator prompt lacks {problem}",
		`{"generator": "a {problem}", "generator_initial": "b {problem}"}`: "generator and generator_initial are different texts for the generator prompt",
		`{"voting": {"voter": "a {problem}", "solver": "b {problem}"}}`:    "voting.solver and voting.voter are different texts",
		strings.Repeat(`{"a":`, 20000):                                     "max depth",
	} {
		for range 3 { // whatever the order of a map
			if _, err := promptsIn(t, text, "voting"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.80s: error %v, want %q", text, err, want)
			}
		}
	}
}

// A file in the layout of the study's: sections by workflow, in which roles go
// by longer names, and templates for Python's format.
const sectioned = `{
	"multi_agent_math_prompts": {"generator_initial": {"template": "trio {problem}"}, "evaluator_critique": {"template": "trio"}},
	"evaluator_optimizer_prompts": {
		"generator_initial": {"template": "first {problem} \\boxed{{}}", "required_variables": ["problem"]},
		"generator_with_test_feedback": {"template": "unused {test_feedback}"},
		"evaluator_critique": {"template": "\\boxed{Correct} or \\boxed{{Incorrect}}"},
		"generator_refinement": {"template": "again \\boxed{{}}"}},
	"deepcoder_evaluator_optimizer_v2_prompts": {"generator_initial": {"template": "second {problem}"}, "evaluator_critique": {"template": "v2 {solution}"}},
	"voting_prompts": {"generator": {"template": "vote {problem} \\boxed{}"}, "aggregator": {"template": "{problem}{solutions} \\boxed{{N}}"}},
	"orchestrator_workers_prompts": {
		"orchestrator_propose": {"template": "{max_subtasks} for {problem}"},
		"worker_full_solve": {"template": "{problem} by {strategy} {{}}"},
		"orchestrator_compare": {"template": "{problem}{solutions}{{}}"}},
	"metadata": {"version": "1", "description": "x"}}`

func TestASectionedPromptFileServesEveryWorkflow(t *testing.T) {
	for workflow, want := range map[string]map[string]string{
		"evalopt": {PromptGenerator: `first {problem} \boxed{}`, PromptEvaluator: `\boxed{Correct} or \boxed{{Incorrect}}`, PromptRefinement: `again \boxed{{}}`},
		"voting":  {PromptGenerator: `vote {problem} \boxed{}`, PromptAggregator: `{problem}{solutions} \boxed{N}`},
		"orch":    {PromptOrchestrator: `{max_subtasks} for {problem}`, PromptWorker: `{problem} by {strategy} {}`, PromptSynthesizer: `{problem}{solutions}{}`},
		// Nothing of its own: the first section by name.
		"single": {PromptGenerator: `second {problem}`},
	} {
		for range 3 {
			p, err := promptsIn(t, sectioned, workflow)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range want {
				if got := p.Template(data.Math, name); got != text {
					t.Errorf("%s, %s: %q, want %q", workflow, name, got, text)
				}
			}
		}
	}
}

func FuzzPrompts(f *testing.F) {
	f.Add([]byte(sectioned))
	f.Add([]byte(`{"voting": {"generator": ["{problem}"]}, "synthesizer_prompt": {"text": "{problem}{solutions}{{}}"}}`))
	path := filepath.Join(f.TempDir(), "prompt.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := LoadPrompts(path, data.Math, "voting")
		if err != nil {
			return
		}
		q, err := LoadPrompts(path, data.Math, "voting")
		if err != nil || p.Sum() != q.Sum() {
			t.Fatalf("read twice: %v", err)
		}
		for name, need := range placeholders {
			for _, ph := range need {
				if got := p.Render(data.Math, name, ph, "value"); !strings.Contains(got, "value") {
					t.Fatalf("%s does not show %s: %q", name, ph, got)
				}
			}
		}
	})
}
