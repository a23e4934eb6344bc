package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette has colours that are told apart in print and by colour-blind eyes
// (after Okabe and Ito 2008, darkened to be read on white).
var palette = []color.RGBA{{0, 101, 163, 255}, {190, 82, 0, 255}, {0, 128, 92, 255}, {158, 60, 130, 255}, {0, 120, 140, 255}, {125, 95, 0, 255}, {80, 88, 98, 255}}

// ink, faint and paper are the colours of everything that is no curve.
var (
	ink   = color.RGBA{38, 48, 60, 255}
	faint = color.RGBA{222, 226, 232, 255}
	paper = color.RGBA{255, 255, 255, 255}
)

var dashes = [][]vg.Length{nil, {vg.Points(4), vg.Points(2.5)}, {vg.Points(1.5), vg.Points(2)}, {vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}}

// The size of a panel, and the room at its right for half a tick's label.
const (
	panelWidth  = 3.4 * vg.Inch
	panelHeight = 2.4 * vg.Inch
	margin      = 9
)

// frame is the range that the panels of a figure share.
type frame struct {
	x0, x1, y0, y1 float64
	log            bool
}

// frame spans all series. Values over several powers of ten, one spike among
// them, are drawn on a logarithmic scale.
func (f Figure) frame() frame {
	r := frame{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), false}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			for i := range s.Y {
				se := 0.0
				if s.SE != nil {
					se = s.SE[i]
				}
				r.x0, r.x1 = min(r.x0, s.X[i]), max(r.x1, s.X[i])
				r.y0, r.y1 = min(r.y0, s.Y[i]-se), max(r.y1, s.Y[i]+se)
			}
		}
	}
	if r.x1 <= r.x0 {
		r.x1 = r.x0 + 1
	}
	if r.log = !f.shares && r.y0 > 0 && r.y1/r.y0 > 60; r.log {
		r.y0, r.y1 = r.y0/1.1, r.y1*1.1
		return r
	}
	pad := (r.y1 - r.y0) * 0.04
	if pad == 0 {
		pad = max(math.Abs(r.y1)*0.1, 1e-9)
	}
	r.y0, r.y1 = r.y0-pad, r.y1+pad
	return r
}

// Logarithmic tells whether the figure's vertical axis is.
func (f Figure) Logarithmic() bool { return !f.span && f.frame().log }

// newPlot is an empty panel.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.Title.Padding = title, vg.Points(5)
	sans := func(s *text.Style, size vg.Length) {
		s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
		s.Color = ink
	}
	sans(&p.Title.TextStyle, 12)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		sans(&a.Label.TextStyle, 10)
		sans(&a.Tick.Label, 10)
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.LineStyle.Width, a.Tick.LineStyle.Width, a.Tick.Length = vg.Points(.6), vg.Points(.6), vg.Points(4)
	}
	return p
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Width = 0
	g.Horizontal.Color, g.Horizontal.Width = faint, vg.Points(.6)
	return g
}

// draw makes one panel.
func (f Figure) draw(panel Panel, r frame) (*plot.Plot, error) {
	p := newPlot(panel.Title)
	if f.span {
		return p, addSpans(p, panel)
	}
	p.X.Label.Text = "iteration"
	p.Add(grid())
	for _, s := range panel.Series {
		col := palette[s.Color%len(palette)]
		if s.SE != nil {
			if err := addBand(p, s, col); err != nil {
				return nil, err
			}
		}
		if err := addLine(p, s, col); err != nil {
			return nil, fmt.Errorf("figure %s, %s: %w", f.Name, panel.Title, err)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = r.x0, r.x1, r.y0, r.y1
	if r.log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	}
	return p, nil
}

// decades marks powers of ten, with 2 and 5 between where there are few.
type decades struct{}

// Ticks lists the marks between lo and hi.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	steps := []float64{1}
	if math.Log10(hi/lo) < 2.5 {
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, k := range steps {
			if v := k * math.Pow(10, e); v >= lo && v <= hi {
				out = append(out, plot.Tick{Value: v, Label: fmt.Sprintf("%.3g", v)})
			}
		}
	}
	return out
}

func addLine(p *plot.Plot, s Series, col color.RGBA) error {
	pts := make(plotter.XYs, len(s.X))
	for k := range s.X {
		pts[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		return err
	}
	l.Color, l.Width, l.Dashes = col, vg.Points(1.3), dashes[s.Dash%len(dashes)]
	p.Add(l)
	if len(pts) > 12 {
		return nil
	}
	dots, err := plotter.NewScatter(pts)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: col, Radius: vg.Points(1.9), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}

// banded is the colour of a band of errors behind a line.
func banded(c color.RGBA) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 38} }

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
	band.Color = banded(col)
	band.LineStyle.Width = 0
	p.Add(band)
	return nil
}

// size is how large a panel of the figure is drawn.
func (f Figure) size(panel Panel) (w, h vg.Length) {
	if f.span {
		return panelWidth, vg.Points(52 + 15*float64(len(panel.Series)))
	}
	return panelWidth, panelHeight
}

// SVG is a panel as an inline image, whose colours are the page's.
func (f Figure) SVG(panel Panel) (string, error) {
	p, err := f.draw(panel, f.frame())
	if err != nil {
		return "", err
	}
	c := vgsvg.New(f.size(panel))
	p.Draw(draw.Crop(draw.New(c), 0, -margin, 0, 0))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	if i := strings.Index(s, "<svg"); i > 0 {
		s = s[i:] // the XML prologue has no place inside HTML
	}
	return pageColors.Replace(s), nil
}

// pageColors hands the colours over to the page, so that they follow it into
// the dark.
var pageColors = func() *strings.Replacer {
	var pairs []string
	hex := func(c color.Color) string { // as the SVG writer has it, its rounding of translucent ones included
		r, g, b, a := c.RGBA()
		whole := 255 / float64(a)
		return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*whole), int(float64(g)*whole), int(float64(b)*whole))
	}
	for i, c := range palette {
		name := fmt.Sprintf("var(--c%d)", i)
		pairs = append(pairs, hex(c), name, hex(banded(c)), name)
	}
	return strings.NewReplacer(append(pairs, hex(ink), "var(--fg)", hex(faint), "var(--rule)", hex(paper), "var(--bg)")...)
}()

// PNG is the whole figure as a picture: its panels two in a row, and the legend
// under them.
func (f Figure) PNG() ([]byte, error) {
	r, columns := f.frame(), min(2, len(f.Panels))
	rows := (len(f.Panels) + columns - 1) / columns
	var w, h vg.Length
	for _, p := range f.Panels {
		pw, ph := f.size(p)
		w, h = max(w, pw), max(h, ph)
	}
	legend := f.Legend()
	head, foot := vg.Points(24), vg.Points(8+14*float64((len(legend)+2)/3))
	c := vgimg.NewWith(vgimg.UseWH(w*vg.Length(columns), h*vg.Length(rows)+head+foot), vgimg.UseDPI(144))
	all := draw.New(c)
	for i, panel := range f.Panels {
		p, err := f.draw(panel, r)
		if err != nil {
			return nil, err
		}
		x, y := w*vg.Length(i%columns), all.Max.Y-head-h*vg.Length(i/columns+1)
		p.Draw(draw.Crop(all, x+vg.Points(4), x+w-margin-all.Max.X, y, y+h-all.Max.Y)) // a label may stand a little out
	}
	drawTitle(all, f.Title)
	drawLegend(all, legend)
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(&b)
	return b.Bytes(), err
}

func drawTitle(c draw.Canvas, title string) {
	style := newPlot("").Title.TextStyle
	style.Font.Size, style.XAlign, style.YAlign = 13, text.XCenter, text.YTop
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(5)}, title)
}

func drawLegend(c draw.Canvas, legend []Series) {
	style := newPlot("").X.Tick.Label
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	third := (c.Max.X - c.Min.X) / 3
	for i, s := range legend {
		x, y := c.Min.X+third*vg.Length(i%3)+vg.Points(12), c.Min.Y+vg.Points(10+14*float64((len(legend)-1)/3-i/3))
		line := draw.LineStyle{Color: palette[s.Color%len(palette)], Width: vg.Points(1.6), Dashes: dashes[s.Dash%len(dashes)]}
		c.StrokeLine2(line, x, y, x+vg.Points(22), y)
		c.FillText(style, vg.Point{X: x + vg.Points(27), Y: y}, s.Key)
	}
}
