package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"troupe/trainer"
	"troupe/trainer/study"
)

// studyTable shows where the cells of a study are: on a terminal a table that
// is drawn over, elsewhere a line now and then.
type studyTable struct {
	w      io.Writer
	height func() int // lines of the terminal; nil without one
	total  int        // cells of the grid
	start  time.Time

	mu    sync.Mutex
	rows  []*studyRow // in the order in which they began
	drawn int         // lines of the table that stand on the terminal
	last  time.Time   // of the last drawing
}

// studyRow is one cell.
type studyRow struct {
	name string
	base float64 // accuracy before training
	sees bool    // base is known: the run was not resumed
	trainer.Progress
}

// redrawn is how often the table is drawn at most.
const redrawn = 200 * time.Millisecond

func newStudyTable(w io.Writer, cells int) *studyTable {
	s := &studyTable{w: w, total: cells, start: time.Now()}
	if f, ok := w.(*os.File); ok && isTerminal(w) {
		s.height = func() int {
			_, h, err := term.GetSize(int(f.Fd()))
			if err != nil {
				h = 24
			}
			return h
		}
	}
	return s
}

// say prints a line that stays, above the table.
func (s *studyTable) say(format string, args ...any) {
	s.clear()
	fmt.Fprintf(s.w, format+"\n", args...)
	s.draw()
}

func (s *studyTable) warm(b study.Base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Single >= 0.1 || b.Steps%500 == 0 {
		s.say("warm start %s: step %d, single %.3f, orch %.3f", b.Kind, b.Steps, b.Single, b.Orch)
	}
}

func (s *studyTable) based(b study.Base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how := fmt.Sprintf("in %.0f s", b.Seconds)
	if b.Cached {
		how = "from the cache"
	}
	s.say("base for %s: %d steps %s", b.Kind, b.Steps, how)
}

// cell notes an iteration of a cell.
func (s *studyTable) cell(c study.Cell, p trainer.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r *studyRow
	for _, have := range s.rows {
		if have.name == c.Name() {
			r = have
		}
	}
	if r == nil {
		r = &studyRow{name: c.Name()}
		s.rows = append(s.rows, r)
		s.total = max(s.total, len(s.rows))
	}
	if p.Iteration == 0 {
		r.base, r.sees = p.Accuracy, true
	}
	r.Progress = p
	switch {
	case s.height == nil:
		if p.Iteration%linesAt == 0 || p.Iteration == p.Of {
			fmt.Fprintln(s.w, r)
		}
	case time.Since(s.last) >= redrawn || p.Iteration == p.Of:
		s.clear()
		s.draw()
	}
}

// studyHead are the columns of a studyRow.
const studyHead = "cell                iteration  reward    base  accuracy    gain"

// String is the row: the reward is that of the last iteration, accuracy that of
// the last evaluation on held-out tasks.
func (r *studyRow) String() string {
	reward, base, gain := "-", "-", "-"
	if r.Iteration > 0 {
		reward = fmt.Sprintf("%.3f", r.Reward)
	}
	if r.sees {
		base, gain = fmt.Sprintf("%.3f", r.base), fmt.Sprintf("%+.3f", r.Accuracy-r.base)
	}
	return fmt.Sprintf("%-19s  %3d/%-4d %7s %7s %9.3f %7s", r.name, r.Iteration, r.Of, reward, base, r.Accuracy, gain)
}

func (r *studyRow) done() bool { return r.Iteration == r.Of }

// clear takes the table off the terminal.
func (s *studyTable) clear() {
	if s.drawn > 0 {
		fmt.Fprintf(s.w, "\r\x1b[%dA\x1b[J", s.drawn)
		s.drawn = 0
	}
}

// draw puts the table on the terminal: as many cells as fit, and of those that
// are done the newest.
func (s *studyTable) draw() {
	if s.height == nil || len(s.rows) == 0 {
		return
	}
	s.last = time.Now()
	lines := s.lines(max(1, s.height()-4))
	fmt.Fprint(s.w, strings.Join(lines, "\n")+"\n")
	s.drawn = len(lines)
}

// lines is the table with so many rows at most.
func (s *studyTable) lines(most int) []string {
	ended, gain, known := 0, 0.0, 0
	for _, r := range s.rows {
		if !r.done() {
			continue
		}
		ended++
		if r.sees {
			gain, known = gain+r.Accuracy-r.base, known+1
		}
	}
	drop := max(0, min(ended, len(s.rows)-most))
	lines := []string{studyHead}
	for _, r := range s.rows {
		if r.done() && drop > 0 {
			drop--
			continue
		}
		if len(lines) <= most {
			lines = append(lines, r.String())
		}
	}
	sum := fmt.Sprintf("%d of %d cells done in %s", ended, s.total, round(time.Since(s.start)))
	if known > 0 {
		sum += fmt.Sprintf(", mean gain %+.1f points", 100*gain/float64(known))
	}
	return append(lines, sum)
}

// close leaves the table as it stands.
func (s *studyTable) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.draw()
	s.drawn = 0
}
