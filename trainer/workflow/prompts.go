package workflow

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"troupe/data"
)

// The names of the prompts: one for each role, and one for a generator that
// answers an evaluator.
const (
	PromptGenerator    = "generator"
	PromptRefinement   = "refinement"
	PromptEvaluator    = "evaluator"
	PromptAggregator   = "aggregator"
	PromptOrchestrator = "orchestrator"
	PromptWorker       = "worker"
	PromptSynthesizer  = "synthesizer"
)

// PromptNames lists the prompts in a fixed order.
func PromptNames() []string {
	return []string{PromptGenerator, PromptRefinement, PromptEvaluator, PromptAggregator,
		PromptOrchestrator, PromptWorker, PromptSynthesizer}
}

// placeholders are replaced by values; each must stand where a value is
// needed, or the role would not see it.
var placeholders = map[string][]string{
	PromptGenerator:    {"{problem}"},
	PromptAggregator:   {"{problem}", "{solutions}"},
	PromptOrchestrator: {"{problem}"},
	PromptWorker:       {"{problem}", "{strategy}"},
	PromptSynthesizer:  {"{problem}", "{solutions}"},
}

//go:embed prompts/math/*.txt prompts/code/*.txt prompts/short/*.txt
var own embed.FS

// Prompts are the templates of all roles for both kinds of task.
type Prompts struct {
	text  map[data.Kind]map[string]string
	short bool // replies of math are asked for, and read, in the short form
}

// OwnPrompts are the prompts in our own wording.
func OwnPrompts() *Prompts {
	p := &Prompts{text: map[data.Kind]map[string]string{}}
	for _, k := range []data.Kind{data.Math, data.Code} {
		p.text[k] = map[string]string{}
		for _, name := range PromptNames() {
			p.text[k][name] = ownText(string(k), name)
		}
	}
	return p
}

// ownText is the text of one of our prompt files.
func ownText(folder, name string) string {
	b, err := own.ReadFile("prompts/" + folder + "/" + name + ".txt")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return strings.TrimSuffix(string(b), "\n")
}

// Template is the text of a prompt with its placeholders.
func (p *Prompts) Template(k data.Kind, name string) string { return p.text[k][name] }

// Render fills a template. values alternate placeholder and value; values are
// not searched for placeholders.
func (p *Prompts) Render(k data.Kind, name string, values ...string) string {
	return strings.NewReplacer(values...).Replace(p.text[k][name])
}

// names under which prompt files of others know ours.
var otherNames = map[string]string{
	"refine": PromptRefinement, "refiner": PromptRefinement, "generator_refinement": PromptRefinement,
	"refinement_generator": PromptRefinement, "optimizer": PromptRefinement, "critic": PromptEvaluator,
	"voter": PromptGenerator, "solver": PromptGenerator, "selector": PromptAggregator,
}

// LoadPrompts reads a user's prompt file for one kind of task: a JSON object
// of role -> text, where the text may be a string, a list of lines, or an
// object that holds it under "template", "prompt", "content", "user" or
// "text", and where objects may be nested by workflow. Roles that the file
// does not name keep our wording.
func LoadPrompts(path string, k data.Kind) (*Prompts, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	var top map[string]any
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, fmt.Errorf("prompts %s: %w", path, err)
	}
	p := OwnPrompts()
	found := 0
	collectPrompts(top, func(name, text string) {
		p.text[k][name] = text
		found++
	})
	if found == 0 {
		return nil, fmt.Errorf("prompts %s: no prompt of a known role (%s)", path, strings.Join(PromptNames(), ", "))
	}
	for name, need := range placeholders {
		for _, ph := range need {
			if !strings.Contains(p.text[k][name], ph) {
				return nil, fmt.Errorf("prompts %s: the %s prompt lacks %s", path, name, ph)
			}
		}
	}
	return p, nil
}

func collectPrompts(node map[string]any, add func(name, text string)) {
	for key, v := range node {
		name := promptName(key)
		if text, ok := promptText(v); ok && name != "" {
			add(name, text)
			continue
		}
		if inner, ok := v.(map[string]any); ok {
			collectPrompts(inner, add)
		}
	}
}

func promptName(key string) string {
	key = strings.ToLower(key)
	for _, suffix := range []string{"_prompt", "_template", "_initial"} {
		key = strings.TrimSuffix(key, suffix)
	}
	for _, n := range PromptNames() {
		if n == key {
			return n
		}
	}
	return otherNames[key]
}

func promptText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		lines := make([]string, len(v))
		for i, l := range v {
			s, ok := l.(string)
			if !ok {
				return "", false
			}
			lines[i] = s
		}
		return strings.Join(lines, "\n"), true
	case map[string]any:
		for _, key := range []string{"template", "prompt", "content", "user", "text"} {
			if s, ok := promptText(v[key]); ok {
				return s, true
			}
		}
	}
	return "", false
}
