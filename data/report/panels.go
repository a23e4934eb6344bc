package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/data/store"
)

// group is what shares a figure: the runs of a grid on one task at one scale, or
// the controls of a task.
type group struct {
	task     string
	scale    int64 // parameters of the model; 0 where all groups of a task have the same
	controls bool
}

func (g group) compare(o group) int {
	number := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(number(g.controls), number(o.controls)), -cmp.Compare(g.task, o.task), cmp.Compare(g.scale, o.scale))
}

// name is the group's part of a file name.
func (g group) name() string {
	name := g.task
	if g.scale > 0 {
		name += fmt.Sprintf("-%d", g.scale)
	}
	if g.controls {
		name += "-controls"
	}
	return name
}

// title is the group as figures are headed.
func (g group) title() string {
	title := g.task
	if g.scale > 0 {
		title += ", " + parameters(g.scale)
	}
	if g.controls {
		title += ", controls"
	}
	return title
}

// parameters writes the size of a model.
func parameters(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3g B parameters", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3g M parameters", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g k parameters", float64(n)/1e3)
}

// sortedGroups has math before code, small before large, and controls last.
func sortedGroups(m map[group]*sheet) []group {
	return slices.SortedFunc(maps.Keys(m), group.compare)
}

func sheetOf(m map[group]*sheet, g group) *sheet {
	if m[g] == nil {
		m[g] = &sheet{}
	}
	return m[g]
}

// key says where a run's curves belong: in which figure, in which panel, and
// what they are called there.
type key struct {
	group
	workflow, policy string
	control, series  string // of a control: the pair it belongs to, and its arm
	seed             uint64
	panelSeed        uint64 // the seed, where each has a panel of its own
	seedIndex        int
	arm              int // 0 for the first arm of a control, else 1
}

// keyOf sorts a run into its place.
func keyOf(run store.Run, scale scaled) key {
	k := key{workflow: run.Workflow, policy: run.Policy, seed: run.Seed, seedIndex: scale.seedIndex}
	k.group = group{task: run.Task, scale: scale.scale}
	if scale.seeds > 1 {
		k.panelSeed = run.Seed
	}
	if k.workflow == "single" {
		k.policy = ""
	}
	k.control, k.series = pair(run.Profile, k.workflow, k.policy)
	k.controls = k.control != ""
	k.arm = scale.arm
	return k
}

// legend is what the figure's legend calls the run's curves.
func (k key) legend() string {
	switch {
	case k.control != "":
		return [...]string{"first arm", "second arm"}[min(k.arm, 1)]
	case k.policy == "":
		return "single agent"
	}
	return k.policy
}

// color tells policies apart, and the arms of a control.
func (k key) color() int {
	switch {
	case k.control != "":
		return min(k.arm, 1)
	case k.policy == "", k.policy == "shared":
		return 0
	case k.policy == "isolated":
		return 1
	}
	return 2
}

// panelTitle heads the panel of the key.
func (k key) panelTitle() string {
	title := k.workflow
	if k.control != "" {
		title = k.control
	}
	if k.panelSeed > 0 {
		title += fmt.Sprintf(", seed %d", k.panelSeed)
	}
	return title
}

// sheet collects the panels of a figure.
type sheet struct {
	keys []key
	by   []Panel
}

func (s *sheet) add(k key, series Series) {
	title := k.panelTitle()
	i := slices.IndexFunc(s.by, func(p Panel) bool { return p.Title == title })
	if i < 0 {
		i = len(s.by)
		s.by, s.keys = append(s.by, Panel{Title: title}), append(s.keys, k)
	}
	s.by[i].Series = append(s.by[i].Series, series)
}

// panels in the order of workflows and seeds, their series by colour. A
// control's title names its arms, which the legend can't.
func (s *sheet) panels() []Panel {
	at := make([]int, len(s.by))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		x, y := s.keys[a], s.keys[b]
		return cmp.Or(cmp.Compare(x.panelSeed, y.panelSeed), cmp.Compare(x.control, y.control), cmp.Compare(order(x.workflow), order(y.workflow)))
	})
	out := make([]Panel, len(at))
	for i, k := range at {
		out[i] = s.by[k]
		slices.SortStableFunc(out[i].Series, func(a, b Series) int { return cmp.Or(cmp.Compare(a.Color, b.Color), cmp.Compare(a.Dash, b.Dash)) })
		if s.keys[k].control != "" {
			out[i].Title += armsOf(out[i].Series)
		}
	}
	return out
}

// armsOf names the arms among a control's series.
func armsOf(series []Series) string {
	var arms []string
	for _, s := range series {
		if s.Y == nil {
			return ""
		}
		arm := s.Name[strings.LastIndex(s.Name, ", ")+1:]
		arm = strings.TrimSpace(strings.TrimPrefix(arm, ","))
		if !slices.Contains(arms, arm) {
			arms = append(arms, arm)
		}
	}
	return ": " + strings.Join(arms, " / ")
}

// Legend lists what tells the lines of the figure apart, each once.
func (f Figure) Legend() []Series {
	var out []Series
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if s.Key != "" && !slices.ContainsFunc(out, func(o Series) bool { return o.Key == s.Key && o.Color == s.Color && o.Dash == s.Dash }) {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Series) int { return cmp.Or(cmp.Compare(a.Color, b.Color), cmp.Compare(a.Dash, b.Dash)) })
	return out
}
