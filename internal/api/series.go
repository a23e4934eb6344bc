package api

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"troupe/data/store"
)

type metric struct {
	Iteration int      `json:"iteration"`
	Role      string   `json:"role,omitempty"`
	Slot      *int     `json:"slot,omitempty"`
	Metric    string   `json:"metric"`
	Value     *float64 `json:"value"`
}

func metricOf(m store.Metric) metric {
	out := metric{Iteration: m.Iteration, Role: m.Role, Metric: m.Name, Value: m.Value}
	if m.Role != "" && m.Slot != store.AllSlots {
		out.Slot = &m.Slot
	}
	return out
}

// Rows of metrics in one answer.
const (
	metricRows    = 10_000
	maxMetricRows = 50_000
)

// listMetrics is GET /api/runs/{id}/metrics?from=N&limit=ROWS: whole iterations
// in order; next is where to go on.
func (s *Server) listMetrics(ctx context.Context, r *http.Request) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", metricRows)
	if err != nil {
		return nil, err
	}
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, next, err := s.opt.DB.MetricsPage(ctx, run.ID, from, min(max(limit, 1), maxMetricRows))
	if err != nil {
		return nil, err
	}
	out := make([]metric, len(rows))
	for i, m := range rows {
		out[i] = metricOf(m)
	}
	return metricsPage{run.ID, out, pageStart(next)}, nil
}

type metricsPage struct {
	Run     string   `json:"run"`
	Metrics []metric `json:"metrics"`
	Next    *int     `json:"next"` // null at the end
}

func pageStart(next int) *int {
	if next < 0 {
		return nil
	}
	return &next
}

// series is one curve.
type series struct {
	Metric     string     `json:"metric"`
	Role       string     `json:"role,omitempty"`
	Slot       *int       `json:"slot,omitempty"`
	Iterations []int      `json:"iterations"`
	Values     []*float64 `json:"values"`
}

// Points of a curve in one answer.
const (
	seriesPoints    = 300
	maxSeriesPoints = 5000
	maxSeriesNames  = 64
)

// listSeries is GET /api/runs/{id}/series?metric=NAME&metric=…&from=N&points=N
// &slots=1: one curve for each metric, role and slot, thinned to about points.
func (s *Server) listSeries(ctx context.Context, r *http.Request) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	points, err := number(r, "points", seriesPoints)
	if err != nil {
		return nil, err
	}
	names := r.URL.Query()["metric"]
	if len(names) > maxSeriesNames {
		return nil, badParameter("too many metrics in one question")
	}
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	rows, err := s.opt.DB.Series(ctx, run.ID, names, from, r.URL.Query().Get("slots") == "1")
	if err != nil {
		return nil, err
	}
	out := []series{}
	for i := 0; i < len(rows); {
		j := i
		for j < len(rows) && rows[j].Name == rows[i].Name && rows[j].Role == rows[i].Role && rows[j].Slot == rows[i].Slot {
			j++
		}
		out = append(out, curve(thin(rows[i:j], min(max(points, 2), maxSeriesPoints))))
		i = j
	}
	return map[string]any{"run": run.ID, "series": out}, nil
}

func curve(rows []store.Metric) series {
	first := metricOf(rows[0])
	c := series{Metric: first.Metric, Role: first.Role, Slot: first.Slot, Iterations: make([]int, len(rows)), Values: make([]*float64, len(rows))}
	for i, m := range rows {
		c.Iterations[i], c.Values[i] = m.Iteration, m.Value
	}
	return c
}

// thin keeps about n points of a curve: the lowest and the highest of each
// stretch, so that no spike is lost, and the last.
func thin(rows []store.Metric, n int) []store.Metric {
	if len(rows) <= n {
		return rows
	}
	var out []store.Metric
	stretches := max(n/2, 1)
	for i := range stretches {
		part := rows[i*len(rows)/stretches : (i+1)*len(rows)/stretches]
		low, high := -1, -1
		for k, m := range part {
			if m.Value == nil {
				continue
			}
			if low < 0 || *m.Value < *part[low].Value {
				low = k
			}
			if high < 0 || *m.Value > *part[high].Value {
				high = k
			}
		}
		switch {
		case low < 0:
			out = append(out, part[0]) // nothing finite: the gap is kept
		case low == high:
			out = append(out, part[low])
		default:
			out = append(out, part[min(low, high)], part[max(low, high)])
		}
	}
	if last := rows[len(rows)-1]; out[len(out)-1].Iteration != last.Iteration {
		out = append(out, last)
	}
	return out
}

// listMetricNames is GET /api/runs/{id}/metrics/names.
func (s *Server) listMetricNames(ctx context.Context, r *http.Request) (any, error) {
	run, err := s.opt.DB.RunByID(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	names, err := s.opt.DB.MetricNames(ctx, run.ID)
	if names == nil {
		names = []string{}
	}
	return map[string]any{"run": run.ID, "names": names}, err
}
