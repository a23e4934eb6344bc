package report

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"percent": func(v float64) string { return fmt.Sprintf("%.1f", 100*v) },
	"signed":  func(v float64) string { return fmt.Sprintf("%+.1f", 100*v) },
	"p":       pValue,
	"temperature": func(t float64) string {
		if t == 0 {
			return "greedy"
		}
		return strconv.FormatFloat(t, 'g', -1, 64)
	},
	"svg": func(f Figure) (template.HTML, error) {
		s, err := f.SVG()
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

// CSV writes the cells as a table for other programs.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"run", "task", "workflow", "policy", "model", "seed", "temperature", "n", "base", "peak", "peak_at", "floor", "final", "final_at", "se", "gain", "p"})
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, x := range r.Cells {
		c.Write([]string{x.Run, x.Task, x.Workflow, x.Policy, x.Model, strconv.FormatUint(x.Seed, 10), num(x.Temperature), strconv.Itoa(x.N),
			num(x.Base), num(x.Peak), strconv.Itoa(x.PeakAt), num(x.Floor), num(x.Final), strconv.Itoa(x.FinalAt), num(x.SE), num(x.Gain()), num(x.P)})
	}
	c.Flush()
	return c.Error()
}
