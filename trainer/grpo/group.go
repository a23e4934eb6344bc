package grpo

import "fmt"

// Grouping names the rule that says which rows are compared with one another.
type Grouping string

// The rules. ByPaper is the study's: task and trajectory name, where the name
// is what the authors' code calls the row (math Voting numbers its generators,
// code Voting does not).
const (
	ByPaper        Grouping = "paper"
	ByTaskRole     Grouping = "task×role"
	ByTaskRoleTurn Grouping = "task×role×turn"
	BySamePrompt   Grouping = "same-prompt"
	ByTask         Grouping = "task"
)

// Groupings lists the names a config may use.
func Groupings() []string {
	return []string{string(ByPaper), string(ByTaskRole), string(ByTaskRoleTurn), string(BySamePrompt), string(ByTask)}
}

// Member is what grouping needs to know of a row.
type Member struct {
	Task       string
	Role       string
	Slot, Turn int
	Prompt     string // the exact prompt, as ids or text
	Trajectory string // the paper's trajectory name
}

// Key is the group of a row; rows with equal keys form a group. An unknown
// rule is an error.
func (g Grouping) Key(m Member) (string, error) {
	switch g {
	case ByPaper:
		return m.Task + "_" + m.Trajectory + "_step0", nil
	case ByTaskRole:
		return fmt.Sprintf("%q %q", m.Task, m.Role), nil
	case ByTaskRoleTurn:
		return fmt.Sprintf("%q %q %d", m.Task, m.Role, m.Turn), nil
	case BySamePrompt:
		return fmt.Sprintf("%q", m.Prompt), nil
	case ByTask:
		return m.Task, nil
	}
	return "", fmt.Errorf("unknown grouping %q", string(g))
}
