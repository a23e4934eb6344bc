package report

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"troupe/data/store"
)

// Figure is one plot with the query that gives its numbers.
type Figure struct {
	Name    string // file name without extension
	Title   string
	Caption string
	Query   string
	Series  []Series
	YLabel  string
}

// Series is one line of a figure; SE, when not nil, draws a band of one
// standard error.
type Series struct {
	Name string
	X, Y []float64
	SE   []float64
}

// roleFigures lists the figures made from one metric of role_steps each.
var roleFigures = []struct{ metric, title, caption string }{
	{"actor/grad_norm", "Gradient norm by role", "Norm of each role's share of the gradient, before clipping."},
	{"actor/ppl_base", "Perplexity under the base policy", "How the base model sees what a role writes; a rise is drift that accuracy may not show."},
	{"actor/mass_share", "Gradient mass by role", "Share of the update that points where the whole update goes; shares of one policy add up to 1."},
	{"actor/amplification", "Gradient amplification", "Norm of the sum of a role's slots over the root of the sum of squares: 1 for unrelated slots. Small batches show noise."},
	{"actor/capture", "Role capture", "How much more a role's output reads like a generator's than like its own, to the base model, in nats a token."},
	{"parse/primary", "Answers parsed as asked", "Share of a role's calls whose answer was found in the form that its prompt asks for."},
	{"actor/entropy", "Entropy by role", "Mean surprise of sampled tokens, in nats."},
	{"workflow/selection_lift", "Selection as lift over chance", "How much more often the judge picks a right candidate than chance would, where candidates differ."},
	{"workflow/recovery", "Recovery by refinement", "Share of wrong first answers that were right after refinement."},
}

const roleQuery = `SELECT role, iteration, value FROM role_steps
WHERE run = :run AND metric = '%s' AND slot = -1 AND value IS NOT NULL ORDER BY role, iteration`

// loadFigures makes the accuracy figures from the cells and the role figures
// from the metrics there are.
func loadFigures(ctx context.Context, db *store.DB, r *Report) ([]Figure, error) {
	out := accuracyFigures(r.Cells)
	for _, f := range roleFigures {
		groups := map[group][]Series{}
		for _, run := range r.Runs {
			series, err := roleSeries(ctx, db, run, f.metric)
			if err != nil {
				return nil, err
			}
			control, _ := pair(run.Profile, run.Workflow, run.Policy)
			g := group{run.Task, control}
			groups[g] = append(groups[g], series...)
		}
		for _, g := range sortedGroups(groups) {
			if len(groups[g]) == 0 {
				continue
			}
			out = append(out, Figure{
				Name: strings.ReplaceAll(f.metric, "/", "-") + "-" + g.name(), Title: f.title + ", " + g.title(), Caption: f.caption,
				Query: fmt.Sprintf(roleQuery, f.metric), Series: groups[g], YLabel: f.metric,
			})
		}
	}
	return out, nil
}

// group is what shares a figure: the runs of the grid on a task, or the two of
// a control.
type group struct{ task, control string }

// name is the group's part of a file name.
func (g group) name() string {
	if g.control == "" {
		return g.task
	}
	return g.task + "-" + g.control
}

// title is the group as figures are headed.
func (g group) title() string {
	if g.control == "" {
		return g.task
	}
	return g.task + ", control " + g.control
}

// sortedGroups has math before code, and the grid before controls.
func sortedGroups(m map[group][]Series) []group {
	return slices.SortedFunc(maps.Keys(m), func(a, b group) int {
		return cmp.Or(cmp.Compare(b.task, a.task), cmp.Compare(a.control, b.control))
	})
}

// accuracyFigures draws one figure for each task and temperature, and one for
// each control.
func accuracyFigures(cells []Cell) []Figure {
	var out []Figure
	at := map[string]int{}
	for _, c := range cells {
		if len(c.Points) == 0 {
			continue
		}
		how := fmt.Sprintf("T %g", c.Temperature)
		if c.Temperature == 0 {
			how = "greedy"
		}
		control, series := pair(c.Profile, c.Workflow, c.Policy)
		g := group{c.Task, control}
		name := "accuracy-" + g.name() + "-" + strings.ReplaceAll(how, " ", "")
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Figure{Name: name, Title: "Accuracy on " + g.title() + ", " + how, YLabel: "accuracy", Query: itemsQuery,
				Caption: "Share of held-out tasks solved, with a band of one standard error. The first point is the base model."})
		}
		s := Series{Name: series}
		for _, p := range c.Points {
			a := p.Accuracy()
			s.X = append(s.X, float64(p.Iteration))
			s.Y = append(s.Y, a)
			s.SE = append(s.SE, math.Sqrt(a*(1-a)/float64(max(1, len(p.Right)))))
		}
		out[i].Series = append(out[i].Series, s)
	}
	return out
}

func roleSeries(ctx context.Context, db *store.DB, run store.Run, metric string) ([]Series, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(roleQuery, metric), run.ID)
	if err != nil {
		return nil, err
	}
	var out []Series
	_, called := pair(run.Profile, run.Workflow, run.Policy)
	for v := rows.Next(); v != nil; v = rows.Next() {
		role, _ := v[0].(string)
		iteration, _ := v[1].(int64)
		value, _ := v[2].(float64)
		name := called + ": " + role
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, Series{Name: name})
		}
		s := &out[len(out)-1]
		s.X, s.Y = append(s.X, float64(iteration)), append(s.Y, value)
	}
	return out, rows.Close()
}

// palette has colours that are told apart in print and by colour-blind eyes
// (Okabe and Ito 2008), with dashes for more lines than colours.
var palette = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255}, {150, 110, 0, 255}, {60, 60, 60, 255}}

// plot draws the figure.
func (f Figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = f.Title
	p.X.Label.Text = "iteration"
	p.Y.Label.Text = f.YLabel
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, s := range f.Series {
		col := palette[i%len(palette)]
		if s.SE != nil {
			if err := addBand(p, s, col); err != nil {
				return nil, err
			}
		}
		pts := make(plotter.XYs, len(s.X))
		for k := range s.X {
			pts[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
		}
		l, err := plotter.NewLine(pts)
		if err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		l.Color, l.Width = col, vg.Points(1.6)
		if d := i / len(palette); d > 0 {
			l.Dashes = []vg.Length{vg.Points(float64(2 + 3*d)), vg.Points(3)}
		}
		p.Add(l)
		p.Legend.Add(s.Name, l)
	}
	// Room for the legend above the curves.
	p.Y.Max += (p.Y.Max - p.Y.Min) * 0.06 * float64(min(len(f.Series), 8))
	return p, nil
}

func addBand(p *plot.Plot, s Series, col color.RGBA) error {
	ring := make(plotter.XYs, 0, 2*len(s.X))
	for k := range s.X {
		ring = append(ring, plotter.XY{X: s.X[k], Y: s.Y[k] + s.SE[k]})
	}
	for k := len(s.X) - 1; k >= 0; k-- {
		ring = append(ring, plotter.XY{X: s.X[k], Y: s.Y[k] - s.SE[k]})
	}
	band, err := plotter.NewPolygon(ring)
	if err != nil {
		return err
	}
	band.Color = color.NRGBA{col.R, col.G, col.B, 40}
	band.LineStyle.Width = 0
	p.Add(band)
	return nil
}

// The size of figures.
const (
	width  = 7 * vg.Inch
	height = 4.2 * vg.Inch
)

// SVG is the figure as an inline image.
func (f Figure) SVG() (string, error) {
	p, err := f.plot()
	if err != nil {
		return "", err
	}
	c := vgsvg.New(width, height)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	if i := strings.Index(s, "<svg"); i > 0 {
		s = s[i:] // the XML prologue has no place inside HTML
	}
	return s, nil
}

// PNG is the figure as a picture.
func (f Figure) PNG() ([]byte, error) {
	p, err := f.plot()
	if err != nil {
		return nil, err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	p.Draw(draw.New(c))
	var b bytes.Buffer
	_, err = c.WriteTo(&b)
	return b.Bytes(), err
}
