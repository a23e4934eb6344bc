package workflow

import (
	"embed"
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
