package data

import (
	"fmt"
	"sort"
	"strings"
)

// Report tells what became of a file's rows: none is dropped without a count.
type Report struct {
	Rows int   // rows seen, empty lines aside
	Used int   // rows that gave a task
	Bad  []Bad // the others, by reason, the most frequent first
}

// Bad is one reason for which rows were left out.
type Bad struct {
	Reason string // the same words for the same fault
	Detail string // what was wrong in the first of them
	Count  int
	Lines  []int // where the first few are: lines of text, rows of parquet, from 1
}

// shownLines is how many places of one reason a report keeps.
const shownLines = 8

// RowError is a fault of one row. Rows with equal reasons are counted together.
type RowError struct{ Reason, Detail string }

// Error has the reason and the detail.
func (e *RowError) Error() string {
	if e.Detail == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Detail
}

// BadRow makes a RowError.
func BadRow(reason, format string, args ...any) error {
	return &RowError{reason, fmt.Sprintf(format, args...)}
}

// Reject counts a row that could not be used.
func (r *Report) Reject(line int, err error) {
	e, ok := err.(*RowError)
	if !ok {
		e = &RowError{Reason: err.Error()}
	}
	for i := range r.Bad {
		if b := &r.Bad[i]; b.Reason == e.Reason {
			b.Count++
			if len(b.Lines) < shownLines {
				b.Lines = append(b.Lines, line)
			}
			return
		}
	}
	r.Bad = append(r.Bad, Bad{e.Reason, e.Detail, 1, []int{line}})
}

// Sort puts the most frequent reason first.
func (r *Report) Sort() {
	sort.SliceStable(r.Bad, func(i, j int) bool { return r.Bad[i].Count > r.Bad[j].Count })
}

// Rejected is the number of rows left out.
func (r *Report) Rejected() int { return r.Rows - r.Used }

// String is the report in words, one line a reason.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, %d used", r.Rows, r.Used)
	for _, bad := range r.Bad {
		fmt.Fprintf(&b, "\n  %d left out: %s (row %s", bad.Count, bad.Reason, strings.Trim(fmt.Sprint(bad.Lines), "[]"))
		if bad.Count > len(bad.Lines) {
			b.WriteString(" …")
		}
		b.WriteString(")")
		if bad.Detail != "" {
			fmt.Fprintf(&b, ", first: %.200s", bad.Detail)
		}
	}
	return b.String()
}

// Line is the report in one line, for errors: the most frequent reasons.
func (r *Report) Line() string {
	s := strings.Split(r.String(), "\n  ")
	if len(s) > 4 {
		s = append(s[:4], "and others")
	}
	return strings.ReplaceAll(strings.Join(s, "; "), "\n", " ")
}
