package workflow

import "troupe/data"

// solvers are the roles that write solutions, of which a workflow has one.
var solvers = map[string]bool{PromptGenerator: true, PromptWorker: true}

// Solves reports whether a role of ours writes solutions that could be judged
// by themselves.
func Solves(role string) bool { return solvers[role] }

// Instead is the request's chat as another role would have been given it: the
// last message is the other role's prompt, filled with the same values; those
// that the request had no use for are empty. It is nil where the other role
// has no prompt by that name.
func (r *Request) Instead(p *Prompts, k data.Kind, role string) []Message {
	prompt := role
	if role == PromptGenerator && len(r.Messages) > 1 {
		prompt = PromptRefinement
	}
	if len(r.Messages) == 0 || len(r.Values) == 0 || p.Template(k, prompt) == "" {
		return nil
	}
	values := append(append([]string{}, r.Values...), "{solutions}", "", "{strategy}", "", "{max_subtasks}", "")
	last := len(r.Messages) - 1
	return append(append([]Message{}, r.Messages[:last]...), Message{Role: "user", Content: p.Render(k, prompt, values...)})
}
