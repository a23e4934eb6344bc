package workflow

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"troupe/data"
	"troupe/internal/prng"
	"troupe/verifier/verdict"
)

// script answers each request by the role's name, slot and turn, and keeps
// what it was asked.
type script struct {
	replies map[string]string // "role/slot/turn"
	asked   []Request
}

func (s *script) Generate(_ context.Context, reqs []Request) ([]Sample, error) {
	out := make([]Sample, len(reqs))
	for i, r := range reqs {
		s.asked = append(s.asked, r)
		name := fmt.Sprintf("%s/%d/%d", r.Role.Name, r.Role.Slot, r.Role.Turn)
		text, ok := s.replies[name]
		if !ok {
			return nil, fmt.Errorf("nobody expected %s", name)
		}
		out[i] = Sample{Text: text, IDs: []int32{1}, Finish: Stop}
	}
	return out, nil
}

// exact accepts the gold answer's text.
type exact struct{}

func (exact) Verify(_ context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	if answer == "" {
		return verdict.Verdict{Code: verdict.NA}, nil
	}
	if strings.Contains(answer, t.Gold) {
		return verdict.Verdict{Code: verdict.AC, Reward: 1}, nil
	}
	return verdict.Verdict{Code: verdict.WA}, nil
}

var task = data.Task{ID: "t", Kind: data.Math, Text: "1+1=", Gold: `\boxed{2}`}

func TestEpisodes(t *testing.T) {
	three := map[string]string{"generator/0/0": `\boxed{3}`, "generator/1/0": `\boxed{2}`, "generator/2/0": `\boxed{4}`}
	for _, c := range []struct {
		name, workflow string
		opt            Options
		replies        map[string]string
		calls          string
		answer         string
		code           verdict.Code
	}{
		{"single right", "single", Options{}, map[string]string{"generator/0/0": `\boxed{2}`},
			"generator/0/0 primary", `\boxed{2}`, verdict.AC},
		{"single without a box", "single", Options{}, map[string]string{"generator/0/0": `2`},
			"generator/0/0 default", `2`, verdict.WA},
		{"voting picks the second", "voting", Options{}, join(three, "aggregator/0/0", `\boxed{2}`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 primary", `\boxed{2}`, verdict.AC},
		{"voting by a lone digit", "voting", Options{}, join(three, "aggregator/0/0", `number 3 it is`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 fallback", `\boxed{4}`, verdict.WA},
		{"voting by a lone digit, strict", "voting", Options{Strict: true}, join(three, "aggregator/0/0", `number 3 it is`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 fallback", "", verdict.NA},
		{"voting by a lone digit, strict with defaults", "voting", Options{Strict: true, Defaults: true}, join(three, "aggregator/0/0", `number 3 it is`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 fallback", `\boxed{3}`, verdict.WA},
		{"orch by a numbered list, strict with defaults", "orch", Options{Strict: true, Defaults: true}, map[string]string{
			"orchestrator/0/0": "1. count\n2. add", "worker/0/0": "x", "synthesizer/0/0": `\boxed{2}`},
			"orchestrator/0/0 fallback, worker/0/0 default, synthesizer/0/0 primary", `\boxed{2}`, verdict.AC},
		{"evalopt satisfied in another form", "evalopt", Options{Prompts: ShortPrompts()}, map[string]string{
			"generator/0/0": `\boxed{2}`, "evaluator/0/0": "Yes, it is"},
			"generator/0/0 fallback, evaluator/0/0 fallback", `\boxed{2}`, verdict.AC},
		{"evalopt satisfied in another form, strict", "evalopt", Options{Prompts: ShortPrompts(), Strict: true, Evaluations: 2}, map[string]string{
			"generator/0/0": `\boxed{2}`, "evaluator/0/0": "Yes, it is", "generator/0/1": `3`, "evaluator/0/1": "No"},
			"generator/0/0 fallback, evaluator/0/0 fallback, generator/0/1 primary, evaluator/0/1 primary", `3`, verdict.WA},
		{"orch by a numbered list, strict", "orch", Options{Strict: true}, map[string]string{"orchestrator/0/0": "1. count"}, "orchestrator/0/0 fallback", "", verdict.NA},
		{"voting unreadable, no defaults", "voting", Options{}, join(three, "aggregator/0/0", `\boxed{39}`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 default", "", verdict.NA},
		{"voting unreadable, defaults", "voting", Options{Defaults: true}, join(three, "aggregator/0/0", `dunno`),
			"generator/0/0 primary, generator/1/0 primary, generator/2/0 primary, aggregator/0/0 default", `\boxed{3}`, verdict.WA},
		{"evalopt satisfied at once", "evalopt", Options{}, map[string]string{"generator/0/0": `\boxed{2}`, "evaluator/0/0": `fine \boxed{correct}`},
			"generator/0/0 primary, evaluator/0/0 primary", `\boxed{2}`, verdict.AC},
		{"evalopt never satisfied", "evalopt", Options{}, map[string]string{
			"generator/0/0": `\boxed{1}`, "evaluator/0/0": `\boxed{Incorrect}`,
			"generator/0/1": `\boxed{3}`, "evaluator/0/1": `hm`,
			"generator/0/2": `\boxed{2}`, "evaluator/0/2": `\boxed{Incorrect}`},
			"generator/0/0 primary, evaluator/0/0 primary, generator/0/1 primary, evaluator/0/1 default, generator/0/2 primary, evaluator/0/2 primary", `\boxed{2}`, verdict.AC},
		{"orch with two strategies", "orch", Options{}, map[string]string{
			"orchestrator/0/0": "STRATEGY 1: count\nSTRATEGY 2: add", "worker/0/0": `\boxed{1}`, "worker/1/0": `\boxed{2}`, "synthesizer/0/0": `\boxed{2}`},
			"orchestrator/0/0 primary, worker/0/0 primary, worker/1/0 primary, synthesizer/0/0 primary", `\boxed{2}`, verdict.AC},
		{"orch with none", "orch", Options{}, map[string]string{"orchestrator/0/0": ""}, "orchestrator/0/0 default", "", verdict.NA},
		{"orch with none, defaults", "orch", Options{Defaults: true}, map[string]string{"orchestrator/0/0": "", "worker/0/0": "x", "synthesizer/0/0": `\boxed{2}`},
			"orchestrator/0/0 default, worker/0/0 default, synthesizer/0/0 primary", `\boxed{2}`, verdict.AC},
		{"orch with seven, cut", "orch", Options{}, map[string]string{
			"orchestrator/0/0": "STRATEGY 1: a STRATEGY 2: b STRATEGY 3: c STRATEGY 4: d STRATEGY 5: e STRATEGY 6: f STRATEGY 7: g",
			"worker/0/0":       "x", "worker/1/0": "x", "worker/2/0": "x", "synthesizer/0/0": `\boxed{2}`},
			"orchestrator/0/0 primary, worker/0/0 default, worker/1/0 default, worker/2/0 default, synthesizer/0/0 primary", `\boxed{2}`, verdict.AC},
		{"orch with seven, ended", "orch", Options{EndOnOverflow: true}, map[string]string{
			"orchestrator/0/0": "STRATEGY 1: a STRATEGY 2: b STRATEGY 3: c STRATEGY 4: d STRATEGY 5: e STRATEGY 6: f STRATEGY 7: g"},
			"orchestrator/0/0 primary", "", verdict.NA},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.Kind = data.Math
			w, err := New(c.workflow, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			ep, err := w.Run(context.Background(), task, prng.Key{Seed: 1, Iteration: 2, Task: "t", Rollout: 3}, &script{replies: c.replies}, exact{})
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, call := range ep.Calls {
				calls = append(calls, fmt.Sprintf("%s/%d/%d %s", call.Role.Name, call.Role.Slot, call.Role.Turn, call.Tier))
				want := prng.Key{Seed: 1, Iteration: 2, Task: "t", Rollout: 3, Role: call.Role.Name, Slot: call.Role.Slot, Turn: call.Role.Turn}
				if call.Key != want {
					t.Errorf("key %+v, want %+v", call.Key, want)
				}
			}
			if got := strings.Join(calls, ", "); got != c.calls {
				t.Errorf("calls %s\nwant  %s", got, c.calls)
			}
			if ep.Answer != c.answer || ep.Verdict.Code != c.code {
				t.Errorf("answer %q %s, want %q %s", ep.Answer, ep.Verdict.Code, c.answer, c.code)
			}
		})
	}
}

func join(m map[string]string, k, v string) map[string]string {
	out := map[string]string{k: v}
	for a, b := range m {
		out[a] = b
	}
	return out
}

// The chat of an evaluator and of a refinement holds earlier solutions and
// judgements as assistant turns, but not the prompts that asked for them.
func TestEvaloptHistoryIsTheReferences(t *testing.T) {
	s := &script{replies: map[string]string{
		"generator/0/0": "G0", "evaluator/0/0": `E0 \boxed{Incorrect}`, "generator/0/1": "G1", "evaluator/0/1": `\boxed{Correct}`}}
	w, _ := New("evalopt", Options{Kind: data.Math})
	if _, err := w.Run(context.Background(), task, prng.Key{}, s, exact{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.asked[3].Messages {
		got = append(got, m.Role+":"+strings.Fields(m.Content)[0])
	}
	if want := "user:Solve assistant:G0 assistant:E0 assistant:G1 user:Check"; strings.Join(got, " ") != want {
		t.Errorf("second evaluation sees %v, want %s", got, want)
	}
}

// pair is a workflow of a user's own: two generators, the second one counts.
type pair struct{ opt Options }

func (w *pair) Roles() []string { return []string{"generator"} }

func (w *pair) Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error) {
	p := w.opt.begin(ctx, t, key, g)
	first, err := p.solve(p.turn(Role{Name: "generator"}, nil, PromptGenerator),
		p.turn(Role{Name: "generator", Slot: 1}, nil, PromptGenerator))
	if err != nil {
		return Episode{}, err
	}
	return p.end(v, p.ep.Calls[first+1].Text)
}

func TestAFifthWorkflowIsOneFileAndOneRegistration(t *testing.T) {
	Register("pair", func(o Options) (Workflow, error) { return &pair{o}, nil })
	defer delete(registry, "pair")
	w, err := New("pair", Options{Kind: data.Math})
	if err != nil {
		t.Fatal(err)
	}
	ep, err := w.Run(context.Background(), task, prng.Key{}, &script{replies: map[string]string{"generator/0/0": "no", "generator/1/0": `\boxed{2}`}}, exact{})
	if err != nil || ep.Verdict.Code != verdict.AC {
		t.Fatal(ep, err)
	}
	if _, err := New("pears", Options{Kind: data.Math}); err == nil || !strings.Contains(err.Error(), "pair") {
		t.Errorf("unknown workflow: %v", err)
	}
}

func TestParseStrategies(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		tier Tier
	}{
		{"STRATEGY 1: a\nstrategy 2 : b", []string{"a", "b"}, Primary},
		{"Strategy1:a", []string{"a"}, Primary},
		{"1. first\n2) second", []string{"first", "second"}, Fallback},
		{"a line of some length\nshort", []string{"a line of some length"}, Fallback},
		{"short", []string{"short"}, Default},
		{"", []string{""}, Default},
		{"STRATEGY 1:", []string{"STRATEGY 1:"}, Fallback},
	} {
		got, tier := parseStrategies(c.text)
		if strings.Join(got, "|") != strings.Join(c.want, "|") || tier != c.tier {
			t.Errorf("%q: %q %s, want %q %s", c.text, got, tier, c.want, c.tier)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", `\boxed{2}`, "STRATEGY 1: x", "1. a", "```python\nx\n```", `\boxed{Correct}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, _ := parseChoice(s, 3); k < 1 || k > 3 {
			t.Errorf("choice %d", k)
		}
		if st, _ := parseStrategies(s); len(st) == 0 {
			t.Error("no strategy at all")
		}
		parseJudgement(s)
		solutionTier(data.Math, s)
		solutionTier(data.Code, s)
	})
}

// In the short form an aggregator says a number, alone or among words.
func TestShortChoices(t *testing.T) {
	candidates := []Call{{Sample: Sample{Text: "It is 31 + 72 = 103"}}, {Sample: Sample{Text: "no idea"}}, {Sample: Sample{Text: "093"}}}
	p := ShortPrompts()
	for text, want := range map[string]struct {
		chosen int
		tier   Tier
	}{
		"103": {1, Primary}, " 93.": {3, Primary}, "093": {3, Primary}, "31 + 72 = 103": {1, Fallback},
		"93 is right, since 31 + 72": {3, Fallback}, "103, not 93": {3, Fallback},
		"104": {1, Default}, "none": {1, Default}, "": {1, Default}, "-93": {1, Default},
	} {
		if chosen, tier := p.choice(data.Math, text, candidates); chosen != want.chosen || tier != want.tier {
			t.Errorf("%q: candidate %d, %s; want %d, %s", text, chosen, tier, want.chosen, want.tier)
		}
	}
	list := ""
	for i, c := range candidates {
		list += p.listed(data.Math, i+1, c.Text)
	}
	if list != " 103 or none or 93" {
		t.Errorf("candidates are listed as %q", list)
	}
}

// In the short form an evaluator says yes or no; the first word that tells
// counts.
func TestShortJudgements(t *testing.T) {
	p := ShortPrompts()
	for text, want := range map[string]struct {
		satisfied bool
		tier      Tier
	}{
		"Yes": {true, Primary}, "no.": {false, Primary}, "Correct!": {true, Primary}, "Incorrect": {false, Primary},
		"Yes. The last number is": {true, Fallback}, "A) No. Yes.": {false, Fallback}, "It is not correct": {false, Fallback},
		"The answer is correct": {true, Fallback}, "The last answer": {false, Default}, "Now nothing": {false, Default},
	} {
		if satisfied, tier := p.judgement(data.Math, text); satisfied != want.satisfied || tier != want.tier {
			t.Errorf("%q: %v, %s; want %v, %s", text, satisfied, tier, want.satisfied, want.tier)
		}
	}
}
