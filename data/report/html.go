package report

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"percent":     func(v float64) string { return fmt.Sprintf("%.1f", 100*v) },
	"signed":      func(v float64) string { return fmt.Sprintf("%+.1f", 100*v) },
	"p":           pValue,
	"num":         func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) },
	"size":        parameters,
	"temperature": decoding,
	"svg": func(f Figure, p Panel) (template.HTML, error) {
		s, err := f.SVG(p)
		return template.HTML(s), err // our own drawing; names in it are escaped by the SVG writer
	},
}).Parse(page))

// pValue prints p as tables do.
func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 1e-4:
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.4f", p)
}

// HTML writes the report as one self-contained file.
func (r *Report) HTML(w io.Writer) error {
	if err := pageTemplate.Execute(w, r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Section is a topic with its figures.
type Section struct {
	Topic   string
	Figures []Figure
}

// ID is the section's anchor.
func (s Section) ID() string { return strings.ReplaceAll(strings.ToLower(s.Topic), " ", "-") }

// Sections groups the figures by topic.
func (r *Report) Sections() []Section {
	var out []Section
	for _, f := range r.Figures {
		if n := len(out); n == 0 || out[n-1].Topic != f.Topic {
			out = append(out, Section{Topic: f.Topic})
		}
		out[len(out)-1].Figures = append(out[len(out)-1].Figures, f)
	}
	return out
}

// Extremes sums up one line of a figure.
type Extremes struct {
	Panel, Series          string
	First, Low, High, Last float64
	LowAt, HighAt          float64
}

// Extremes lists the first, lowest, highest and last value of each line.
func (f Figure) Extremes() []Extremes {
	var out []Extremes
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if len(s.Y) == 0 {
				continue
			}
			e := Extremes{Panel: p.Title, Series: s.Name, First: s.Y[0], Last: s.Y[len(s.Y)-1], Low: math.Inf(1), High: math.Inf(-1)}
			for i, y := range s.Y {
				if y < e.Low {
					e.Low, e.LowAt = y, s.X[i]
				}
				if y > e.High {
					e.High, e.HighAt = y, s.X[i]
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// Describe is a panel in words, for those who can't see it.
func (f Figure) Describe(p Panel) string {
	var parts []string
	for _, s := range p.Series {
		switch n := len(s.Y); {
		case f.span:
			parts = append(parts, fmt.Sprintf("%s: base %.1f %%, floor %.1f %%, ceiling %.1f %%, final %.1f %%", s.Name, 100*s.X[0], 100*s.X[1], 100*s.X[2], 100*s.X[3]))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%s from %.3g to %.3g", s.Name, s.Y[0], s.Y[n-1]))
		}
	}
	return f.Title + ", " + p.Title + ". " + strings.Join(parts, "; ")
}

// Findings are the report's first sentences.
func (r *Report) Findings() []string {
	var out []string
	for _, greedy := range []bool{false, true} {
		n, above, sum := 0, 0, 0.0
		for _, c := range r.Cells {
			if c.Control() != "" || (c.Temperature == 0) != greedy || len(c.Points) < 2 {
				continue
			}
			n++
			sum += c.Gain()
			if c.Gain() > 0 && c.P < 0.001 {
				above++
			}
		}
		if n > 0 {
			how := "sampled"
			if greedy {
				how = "greedy"
			}
			out = append(out, fmt.Sprintf("%d of %d cells end above their base model at p < 0.001 (%s); the mean gain is %+.1f points.", above, n, how, 100*sum/float64(n)))
		}
	}
	var differences []float64
	for _, p := range r.Pairs {
		if p.Temperature != 0 {
			differences = append(differences, p.Difference())
		}
	}
	if n := float64(len(differences)); n > 1 {
		mean, square := 0.0, 0.0
		for _, d := range differences {
			mean += d / n
		}
		for _, d := range differences {
			square += (d - mean) * (d - mean)
		}
		out = append(out, fmt.Sprintf("Isolated minus shared policies, mean of %d pairs: %+.2f ± %.2f points (one standard error over pairs).", len(differences), 100*mean, 100*math.Sqrt(square/(n-1)/n)))
	}
	alarms := 0
	for _, e := range r.Events {
		if e.Severity == "alarm" {
			alarms++
		}
	}
	if len(r.Runs) > 0 {
		out = append(out, fmt.Sprintf("%d alarms in %d runs.", alarms, len(r.Runs)))
	}
	return out
}

// CSV writes the cells as a table for other programs.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"run", "task", "workflow", "policy", "model", "seed", "temperature", "n", "base", "peak", "peak_at", "floor", "final", "final_at", "se", "gain", "p", "profile"})
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, x := range append(append([]Cell(nil), r.Cells...), r.Evaluations...) {
		c.Write([]string{x.Run, x.Task, x.Workflow, x.Policy, x.Model, strconv.FormatUint(x.Seed, 10), num(x.Temperature), strconv.Itoa(x.N),
			num(x.Base), num(x.Peak), strconv.Itoa(x.PeakAt), num(x.Floor), num(x.Final), strconv.Itoa(x.FinalAt), num(x.SE), num(x.Gain()), num(x.P), x.Profile})
	}
	c.Flush()
	return c.Error()
}
