package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"troupe/data/store"
)

// Figure is a row of panels over the same axes, with the query that gives its
// numbers.
type Figure struct {
	Name    string // file name without extension
	Topic   string // heading under which it stands
	Title   string
	Caption string
	Query   string
	YLabel  string
	Panels  []Panel
	span    bool // drawn as ranges, not as curves
	shares  bool // its values are shares, for which a logarithmic scale would mislead
}

// Panel is one drawing of a figure.
type Panel struct {
	Title  string
	Series []Series
}

// Series is one line of a panel; SE, when not nil, draws a band of one standard
// error. Key is its name in the legend that a figure's panels share.
type Series struct {
	Name, Key   string
	Color, Dash int
	X, Y        []float64
	SE          []float64
}

// metricFigures lists the figures made from one metric each.
var metricFigures = []struct{ metric, topic, title, caption string }{
	{"critic/rewards/mean", "Reward", "Training reward", "Mean reward of an iteration's answers."},
	{"actor/grad_norm", "Gradients by role", "Gradient norm by role", "Norm of each role's share of the gradient, before clipping."},
	{"actor/mass_share", "Gradients by role", "Gradient mass share", "Share of the update that points where the whole update goes. Shares of one policy add up to 1; isolated policies have none."},
	{"actor/amplification", "Gradients by role", "Gradient amplification", "Norm of the sum of a role's slots over the root of the sum of their squares: 1 for unrelated slots, √3 for three equal ones. Small batches show noise."},
	{"actor/ppl_base", "Perplexity and entropy", "Perplexity under the base model", "How the model before training sees what a role writes; a rise is drift that accuracy may not show."},
	{"actor/ppl_self", "Perplexity and entropy", "Training perplexity", "Of a role's replies under the policy that wrote them."},
	{"actor/entropy", "Perplexity and entropy", "Entropy by role", "Mean surprise of sampled tokens, in nats."},
	{"actor/capture", "Role capture", "Role capture", "How much more a role's replies read like a solver's than like its own, to the base model, in nats a token. Towards 0: captured."},
	{"parse/primary", "Role capture", "Replies in the form asked for", "Share of a role's replies that are just what its prompt asks for; others are read leniently, or not at all."},
	{"workflow/selection", "Selection and recovery", "Selection", "Share of episodes with differing candidates in which the judge picked a right one."},
	{"workflow/selection_lift", "Selection and recovery", "Selection over chance", "How much more often the judge picks a right candidate than chance would, where candidates differ."},
	{"workflow/recovery", "Selection and recovery", "Recovery by refinement", "Share of wrong first answers that ended right."},
	{"workflow/regression", "Selection and recovery", "Regression by refinement", "Share of right first answers that ended wrong."},
}

const metricQuery = `SELECT role, iteration, value FROM role_steps
WHERE run = :run AND metric = '%s' AND slot = -1 AND value IS NOT NULL ORDER BY role, iteration`

const stepQuery = `SELECT iteration, value FROM steps
WHERE run = :run AND metric = '%s' AND value IS NOT NULL ORDER BY iteration`

// loadFigures makes the accuracy figures from the cells and the others from the
// metrics there are.
func (r *Report) loadFigures(ctx context.Context, db *store.DB) error {
	r.Figures = append(accuracyFigures(r.Cells), spanFigures(r.Cells)...)
	names := make([]string, len(metricFigures))
	at := map[string]int{}
	for i, f := range metricFigures {
		names[i], at[f.metric] = f.metric, i
	}
	sheets := make([]map[group]*sheet, len(metricFigures))
	for _, run := range r.Runs {
		rows, err := db.Series(ctx, run.ID, names, 0, false)
		if err != nil {
			return fmt.Errorf("report on run %s: %w", run.ID, err)
		}
		for _, c := range curvesOf(rows) {
			i := at[c.metric]
			if sheets[i] == nil {
				sheets[i] = map[group]*sheet{}
			}
			k := keyOf(run, r.scale(run.ID))
			sheetOf(sheets[i], k.group).add(k, c.series(k))
		}
	}
	for i, f := range metricFigures {
		for _, g := range sortedGroups(sheets[i]) {
			query := metricQuery
			if !strings.HasPrefix(f.metric, "actor/") && !strings.HasPrefix(f.metric, "workflow/") && !strings.HasPrefix(f.metric, "parse/") {
				query = stepQuery
			}
			r.Figures = append(r.Figures, Figure{
				Name: strings.ReplaceAll(f.metric, "/", "-") + "-" + g.name(), Topic: f.topic, Title: f.title + ": " + g.title(),
				Caption: f.caption, Query: fmt.Sprintf(query, f.metric), YLabel: f.metric, Panels: sheets[i][g].panels(),
				shares: strings.HasPrefix(f.metric, "workflow/") || f.metric == "actor/mass_share" || f.metric == "parse/primary" || f.metric == "critic/rewards/mean"})
		}
	}
	slices.SortStableFunc(r.Figures, func(a, b Figure) int { return cmp.Compare(topicOrder(a.Topic), topicOrder(b.Topic)) })
	return nil
}

func topicOrder(topic string) int {
	switch topic {
	case topicAccuracy:
		return -2
	case topicSpan:
		return -1
	}
	return slices.IndexFunc(metricFigures, func(f struct{ metric, topic, title, caption string }) bool { return f.topic == topic })
}

// rolesCurve is a metric of a role as read from the log.
type rolesCurve struct {
	metric, role string
	x, y         []float64
}

// curvesOf cuts rows in the order of metric and role into curves.
func curvesOf(rows []store.Metric) []rolesCurve {
	var out []rolesCurve
	for _, m := range rows {
		if m.Value == nil {
			continue
		}
		if n := len(out); n == 0 || out[n-1].metric != m.Name || out[n-1].role != m.Role {
			out = append(out, rolesCurve{metric: m.Name, role: m.Role})
		}
		c := &out[len(out)-1]
		c.x, c.y = append(c.x, float64(m.Iteration)), append(c.y, *m.Value)
	}
	return out
}

// roles in the order of their colours, which the dashboard shares.
var roles = []string{"generator", "aggregator", "evaluator", "orchestrator", "worker", "synthesizer"}

// series styles a curve: the colour is the role's, the dash the policy's. Curves
// without a role have their policy's colour.
func (c rolesCurve) series(k key) Series {
	s := Series{X: c.x, Y: c.y, Color: k.color(), Name: k.series, Key: k.legend()}
	if c.role == "" {
		return s
	}
	s.Color, s.Dash = slices.Index(roles, c.role), k.color()
	if s.Color < 0 {
		s.Color = len(roles)
	}
	s.Name = c.role + ", " + k.series
	s.Key = c.role
	if k.policy != "" {
		s.Key += ", " + k.policy
	}
	return s
}

// accuracyFigures draws one figure for each group and temperature.
func accuracyFigures(cells []Cell) []Figure {
	type of struct {
		temperature float64
		group
	}
	sheets := map[of]*sheet{}
	for _, c := range cells {
		if len(c.Points) < 2 {
			continue
		}
		k := c.key()
		s := Series{Name: k.series, Key: k.legend(), Color: k.color(), Dash: k.seedIndex}
		if k.seed > 1 && k.control == "" {
			s.Key += fmt.Sprintf(", seed %d", k.seed)
			s.Name = s.Key
		}
		for _, p := range c.Points {
			a := p.Accuracy()
			s.X, s.Y = append(s.X, float64(p.Iteration)), append(s.Y, a)
			s.SE = append(s.SE, math.Sqrt(a*(1-a)/float64(max(1, len(p.Right)))))
		}
		g := of{c.Temperature, k.group}
		if sheets[g] == nil {
			sheets[g] = &sheet{}
		}
		k.panelSeed = 0 // the seeds of a workflow share a panel
		sheets[g].add(k, s)
	}
	var out []Figure
	for _, g := range slices.SortedFunc(maps.Keys(sheets), func(a, b of) int {
		return cmp.Or(a.group.compare(b.group), cmp.Compare(b.temperature, a.temperature))
	}) {
		out = append(out, Figure{Name: "accuracy-" + g.name() + "-" + strings.ReplaceAll(decoding(g.temperature), " ", ""), Topic: topicAccuracy,
			Title: "Accuracy: " + g.title() + ", " + decoding(g.temperature), YLabel: "accuracy", Query: itemsQuery, Panels: sheets[g].panels(),
			Caption: "Share of held-out tasks solved, with a band of one standard error over tasks. The first point is the base model."})
	}
	return out
}

const (
	topicAccuracy = "Accuracy"
	topicSpan     = "Ceiling and floor"
)

func decoding(temperature float64) string {
	if temperature == 0 {
		return "greedy"
	}
	return fmt.Sprintf("T %g", temperature)
}

// spanFigures draws the ceiling and the floor of every cell.
func spanFigures(cells []Cell) []Figure {
	sheets := map[group]*sheet{}
	for _, c := range cells {
		if c.FinalAt == 0 {
			continue
		}
		k := c.key()
		name := k.panelTitle()
		if k.series != "" && k.control == "" && k.policy != "" {
			name += " " + k.policy
		} else if k.control != "" {
			name = k.series
		}
		s := Series{Name: name, X: []float64{c.Base, c.Floor, c.Peak, c.Final}}
		k.panelSeed, k.workflow = 0, decoding(c.Temperature)
		if k.control != "" {
			k.control += ", " + decoding(c.Temperature)
		}
		sheetOf(sheets, k.group).add(k, s)
	}
	var out []Figure
	for _, g := range sortedGroups(sheets) {
		out = append(out, Figure{Name: "ceiling-" + g.name(), Topic: topicSpan, Title: "Ceiling and floor: " + g.title(), YLabel: "accuracy",
			Query: cellsQuery, Panels: sheets[g].panels(), span: true,
			Caption: "Ring: the base model. Disc: the last evaluation. Bar: from the floor, the lowest evaluation after the best one, to the ceiling, the best."})
	}
	return out
}
