// Package report turns a run database into something to read: tables, and
// figures as the paper has them, in one self-contained HTML file, or as CSV and
// PNG. Every number in it comes from a query that stands beside it.
package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Report is everything a report shows.
type Report struct {
	Database      string
	Runs          []store.Run // that trained
	Cells         []Cell
	Pairs         []Pair // isolated against shared policies
	Evaluations   []Cell // of checkpoints, by `troupe eval`
	Figures       []Figure
	Conversations []Conversation
	Events        []Event

	scales map[string]scaled
}

// Event is an alarm of a run.
type Event struct {
	Run string
	store.EventRow
	// Lead is how many iterations before the run's first evaluation at least
	// 10 points under an earlier one an alarm came; Leads is false where there
	// is no such evaluation after it.
	Lead  int
	Leads bool
}

// fall is how far under an earlier evaluation one must lie for alarms before it
// to have warned.
const fall = 0.1

// Profiles of rows in runs that trained nothing.
const (
	profileEval   = "eval"
	profileVerify = "verify"
)

// Load reads a report's content from db. runs limits it to the given ids; none
// means all.
func Load(ctx context.Context, db *store.DB, runs ...string) (*Report, error) {
	all, err := db.Runs(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Database: db.Path()}
	var evaluations []store.Run
	for _, run := range all {
		switch {
		case len(runs) > 0 && !slices.Contains(runs, run.ID), run.Workflow == profileVerify:
		case run.Profile == profileEval:
			evaluations = append(evaluations, run)
		default:
			r.Runs = append(r.Runs, run)
		}
	}
	if r.scales, err = loadScales(ctx, db, r.Runs); err != nil {
		return nil, err
	}
	for _, run := range r.Runs {
		if err := r.loadRun(ctx, db, run); err != nil {
			return nil, fmt.Errorf("report on run %s: %w", run.ID, err)
		}
	}
	for _, run := range evaluations {
		cells, err := loadCells(ctx, db, run, scaled{})
		if err != nil {
			return nil, fmt.Errorf("report on run %s: %w", run.ID, err)
		}
		r.Evaluations = append(r.Evaluations, cells...)
	}
	sortCells(r.Cells)
	r.Pairs = pairPolicies(r.Cells)
	if err := r.loadFigures(ctx, db); err != nil {
		return nil, err
	}
	r.Conversations, err = loadConversations(ctx, db, r.Runs, evaluations)
	return r, err
}

// loadRun adds a run's cells and alarms.
func (r *Report) loadRun(ctx context.Context, db *store.DB, run store.Run) error {
	cells, err := loadCells(ctx, db, run, r.scales[run.ID])
	if err != nil {
		return err
	}
	r.Cells = append(r.Cells, cells...)
	events, err := db.Events(ctx, run.ID, 0)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Severity == "info" {
			continue
		}
		event := Event{Run: run.ID, EventRow: e}
		if e.Severity == "alarm" && len(cells) > 0 {
			event.Lead, event.Leads = metrics.LeadTime(cells[0].Points, fall, e.Iteration)
		}
		r.Events = append(r.Events, event)
	}
	return nil
}

// order is the order of workflows in the paper's tables.
func order(workflow string) int {
	for i, w := range []string{"single", "evalopt", "voting", "orch"} {
		if w == workflow {
			return i
		}
	}
	return 9
}

// pair splits the profile of a control's run, study/NAME/ARM: the pair that it
// belongs to, which has figures of its own, and what it is called in them. Other
// runs belong to none and are called by workflow and policy.
func pair(profile, workflow, policy string) (control, series string) {
	if name, ok := strings.CutPrefix(profile, "study/"); ok {
		if control, arm, ok := strings.Cut(name, "/"); ok {
			return control, arm
		}
	}
	return "", strings.TrimSpace(workflow + " " + policy)
}

// scaled places a run among those that it shares figures with.
type scaled struct {
	scale     int64 // parameters of its model, where runs of its task differ in that
	seeds     int   // different seeds of its task
	seedIndex int
	arm       int // of a control
}

// loadScales compares the runs of each task. Their size is logged with the base
// model's evaluation.
func loadScales(ctx context.Context, db *store.DB, runs []store.Run) (map[string]scaled, error) {
	out := map[string]scaled{}
	sizes, seeds, arms := map[string][]int64{}, map[string][]uint64{}, map[string][]string{}
	for _, run := range runs {
		rows, err := db.Query(ctx, "SELECT value FROM steps WHERE run = :run AND iteration = 0 AND metric = 'model/parameters'", run.ID)
		if err != nil {
			return nil, err
		}
		var size float64
		if v := rows.Next(); v != nil {
			size, _ = v[0].(float64)
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		control, arm := pair(run.Profile, run.Workflow, run.Policy)
		out[run.ID] = scaled{scale: int64(size)}
		sizes[run.Task] = include(sizes[run.Task], int64(size))
		seeds[run.Task+control] = include(seeds[run.Task+control], run.Seed)
		arms[control] = include(arms[control], arm)
	}
	for _, run := range runs {
		control, arm := pair(run.Profile, run.Workflow, run.Policy)
		s := out[run.ID]
		s.seeds, s.seedIndex = len(seeds[run.Task+control]), slices.Index(seeds[run.Task+control], run.Seed)
		if control != "" {
			s.arm = slices.Index(arms[control], arm)
		}
		if len(sizes[run.Task]) == 1 {
			s.scale = 0
		}
		out[run.ID] = s
	}
	return out, nil
}

// include adds a value that is not there yet, in order.
func include[T cmp.Ordered](s []T, v T) []T {
	if i, ok := slices.BinarySearch(s, v); !ok {
		return slices.Insert(s, i, v)
	}
	return s
}

func (r *Report) scale(run string) scaled { return r.scales[run] }
