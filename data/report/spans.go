package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spans draws base, floor, ceiling and final of each series, one under another.
type spans []Series

// addSpans fills a panel with the ranges of its series, the first on top.
func addSpans(p *plot.Plot, panel Panel) error {
	s := spans(slices.Clone(panel.Series))
	slices.Reverse(s)
	names := make([]string, len(s))
	lo, hi := 1.0, 0.0
	for i, x := range s {
		if len(x.X) != 4 {
			return fmt.Errorf("panel %s: a range has %d values, not base, floor, ceiling and final", panel.Title, len(x.X))
		}
		names[i] = x.Name
		lo, hi = min(lo, slices.Min(x.X)), max(hi, slices.Max(x.X))
	}
	pad := max((hi-lo)*0.06, 0.01)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo-pad, hi+pad, -0.6, float64(len(s))-0.4
	p.X.Label.Text = "accuracy"
	p.Add(s)
	p.NominalY(names...)
	return nil
}

// Plot draws the ranges.
func (s spans) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rail := draw.LineStyle{Color: faint, Width: vg.Points(.6)}
	for i, r := range s {
		at := y(float64(i))
		base, floor, peak, final := x(r.X[0]), x(r.X[1]), x(r.X[2]), x(r.X[3])
		col := palette[2]
		if r.X[3] < r.X[0] {
			col = palette[1]
		}
		c.StrokeLine2(rail, c.Min.X, at, c.Max.X, at)
		c.StrokeLine2(draw.LineStyle{Color: col, Width: vg.Points(1.2)}, base, at, final, at)
		c.StrokeLine2(draw.LineStyle{Color: palette[0], Width: vg.Points(5)}, floor, at, peak, at)
		c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, vg.Point{X: base, Y: at})
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: vg.Points(3), Shape: draw.RingGlyph{}}, vg.Point{X: base, Y: at})
		c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: vg.Points(3.2), Shape: draw.CircleGlyph{}}, vg.Point{X: final, Y: at})
	}
}
