package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/data"
	"troupe/internal/readfile"
)

// maxPrompts bounds a prompt file.
const maxPrompts = 4 << 20

// otherNames has the names under which prompt files of others know ours.
var otherNames = map[string]string{
	"refine": PromptRefinement, "refiner": PromptRefinement, "generator_refinement": PromptRefinement,
	"refinement_generator": PromptRefinement, "optimizer": PromptRefinement,
	"critic": PromptEvaluator, "evaluator_critique": PromptEvaluator,
	"voter": PromptGenerator, "solver": PromptGenerator, "selector": PromptAggregator,
	"orchestrator_propose": PromptOrchestrator, "worker_full_solve": PromptWorker, "orchestrator_compare": PromptSynthesizer,
}

// sections has the names that workflows have in prompt files, beside ours.
var sections = map[string]string{
	"single_agent": "single", "evaluator_optimizer": "evalopt", "eval_opt": "evalopt",
	"orchestrator_workers": "orch", "orch_workers": "orch",
}

// LoadPrompts reads a user's prompt file for one kind of task and a workflow:
// a JSON object of role -> text, where the text may be a string, a list of
// lines, or an object that holds it under "template", "prompt", "content",
// "user" or "text", and where objects may be nested by workflow. A role's text
// is that of the workflow's own section, else the one outside of all sections,
// else that of the first other section by name. Roles that the file does not
// name keep our wording.
//
// Files for Python's format, such as the study's, write {{ and }} for braces;
// see unformat.
func LoadPrompts(path string, k data.Kind, workflow string) (*Prompts, error) {
	b, err := readfile.AtMost(path, maxPrompts)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	var top map[string]any
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, fmt.Errorf("prompts %s: %w", path, err)
	}
	found := promptFile{workflow: workflow, texts: map[string]foundPrompt{}}
	if err := found.collect(top, "", foreign); err != nil {
		return nil, fmt.Errorf("prompts %s: %w", path, err)
	}
	if len(found.texts) == 0 {
		return nil, fmt.Errorf("prompts %s: no prompt of a known role (%s)", path, strings.Join(PromptNames(), ", "))
	}
	p := OwnPrompts()
	for name, f := range found.texts {
		p.text[k][name] = unformat(name, f.text)
	}
	for _, name := range PromptNames() {
		for _, ph := range placeholders[name] {
			if !strings.Contains(p.text[k][name], ph) {
				return nil, fmt.Errorf("prompts %s: the %s prompt lacks %s", path, name, ph)
			}
		}
	}
	return p, nil
}

// promptFile is what was found in a file.
type promptFile struct {
	workflow string
	texts    map[string]foundPrompt // by role
}

type foundPrompt struct {
	text, at string
	from     section
}

// section says how near the run's workflow a text stands.
type section int

const (
	foreign section = iota // in a section of something else
	outside                // of all sections
	nearest                // in the section of the workflow
)

// collect looks through an object in the order of its names.
func (f *promptFile) collect(node map[string]any, at string, in section) error {
	for _, key := range slices.Sorted(maps.Keys(node)) {
		path := strings.TrimPrefix(at+"."+key, ".")
		if name := promptName(key); name != "" {
			if text, ok := promptText(node[key]); ok {
				from := in
				if at == "" {
					from = outside
				}
				if err := f.add(name, foundPrompt{text, path, from}); err != nil {
					return err
				}
				continue
			}
		}
		inner, ok := node[key].(map[string]any)
		if !ok {
			continue
		}
		from := in
		if f.workflow != "" && sectionOf(key) == f.workflow {
			from = nearest
		}
		if err := f.collect(inner, path, from); err != nil {
			return err
		}
	}
	return nil
}

// add keeps the nearer of two texts for a role; among equally near ones of
// other workflows the first. Two that are meant for this run are a mistake.
func (f *promptFile) add(name string, p foundPrompt) error {
	have, dup := f.texts[name]
	switch {
	case dup && have.from > p.from || dup && have.from == p.from && p.from == foreign:
		return nil
	case dup && have.from == p.from && have.text != p.text:
		return fmt.Errorf("%s and %s are different texts for the %s prompt", have.at, p.at, name)
	}
	f.texts[name] = p
	return nil
}

// sectionOf is the workflow that an object's name means.
func sectionOf(key string) string {
	key = strings.TrimSuffix(strings.ToLower(key), "_prompts")
	for _, prefix := range []string{"deepcoder_", "code_", "math_"} {
		key = strings.TrimPrefix(key, prefix)
	}
	if w := sections[key]; w != "" {
		return w
	}
	return key
}

func promptName(key string) string {
	key = strings.ToLower(key)
	for _, suffix := range []string{"_prompt", "_template", "_initial"} {
		key = strings.TrimSuffix(key, suffix)
	}
	if slices.Contains(PromptNames(), key) {
		return key
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

// unformat turns the doubled braces of a template for Python's format into the
// single ones that format would leave. A template with any other brace than
// those and its placeholders is none for format and stays as it is, and so do
// the evaluator's and the refinement's, which the study does not format.
func unformat(name, text string) string {
	if name == PromptEvaluator || name == PromptRefinement {
		return text
	}
	rest := strings.NewReplacer("{{", "", "}}", "", "{problem}", "", "{solutions}", "", "{strategy}", "", "{max_subtasks}", "").Replace(text)
	if strings.ContainsAny(rest, "{}") {
		return text
	}
	return strings.NewReplacer("{{", "{", "}}", "}").Replace(text)
}
