package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"troupe/trainer"
)

// runDisplay shows how far runs are: bars on a terminal, a line now and then
// elsewhere.
type runDisplay struct {
	w     io.Writer
	of    int // iterations
	mu    sync.Mutex
	bars  *mpb.Progress // nil without a terminal
	cells map[string]*cellBar
	done  int
	total int
	start time.Time
	quiet chan struct{} // closed at the end
}

type cellBar struct {
	bar   *mpb.Bar
	text  atomic.Pointer[string] // the bars are drawn from another goroutine
	first trainer.Progress       // seen
	since time.Time              // of that
	last  time.Time              // a line was printed
}

func newRunDisplay(w io.Writer, cells, iterations int) *runDisplay {
	d := &runDisplay{w: w, of: iterations, total: cells, cells: map[string]*cellBar{}, start: time.Now(), quiet: make(chan struct{})}
	if isTerminal(w) {
		width := 40
		if cells == 1 {
			width = 12 // the text has more to say
		}
		d.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(width))
	}
	return d
}

// line prints a message above the bars.
func (d *runDisplay) line(format string, args ...any) {
	if d.bars != nil {
		fmt.Fprintf(d.bars, format+"\n", args...)
		return
	}
	fmt.Fprintf(d.w, format+"\n", args...)
}

// Without a bar a run says something every so many iterations, and after an
// iteration that ends long after the last word.
const (
	linesAt    = 20
	linesAfter = 15 * time.Second
)

// run notes an iteration of the named run.
func (d *runDisplay) run(name string, p trainer.Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Iteration == p.Of {
		d.done++
	}
	b := d.cells[name]
	if b == nil {
		b = &cellBar{}
		d.cells[name] = b
	}
	if b.since.IsZero() {
		b.first, b.since, b.last = p, time.Now(), d.start
	}
	text := b.describe(&p, d.total == 1)
	b.text.Store(&text)
	if d.bars == nil {
		if p.Iteration%linesAt == 0 || p.Iteration == p.Of || time.Since(b.last) > linesAfter {
			b.last = time.Now()
			d.line("%-16s %3d/%d  %s", name, p.Iteration, p.Of, text)
		}
		return
	}
	if b.bar == nil {
		if d.total == 1 {
			name = ""
		}
		d.addBar(b, name, p.Of)
	}
	b.bar.SetCurrent(int64(p.Iteration))
}

func (d *runDisplay) addBar(b *cellBar, name string, of int) {
	b.bar = d.bars.AddBar(int64(of),
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return "  " + *b.text.Load() })))
}

// describe is what is said of a run beside its iteration; in full where it is
// the only one.
func (b *cellBar) describe(p *trainer.Progress, full bool) string {
	text := fmt.Sprintf("reward %.3f  accuracy %.3f", p.Reward, p.Accuracy)
	if !full {
		return text
	}
	if p.Iteration == 0 {
		text = fmt.Sprintf("accuracy %.3f", p.Accuracy) // nothing was played for a reward yet
	}
	for _, r := range p.Roles {
		if len(p.Roles) < 2 || p.Iteration == 0 {
			break
		}
		text += "  " + r.Role
		if r.Known {
			text += fmt.Sprintf(" %.2f", r.Right)
		}
		if r.Unread >= 0.005 {
			text += fmt.Sprintf(" (%.0f%% unread)", 100*r.Unread)
		}
	}
	if rate := p.Rate(); rate > 0 {
		text += fmt.Sprintf("  %.0f tok/s", rate)
	}
	if n := p.Iteration - b.first.Iteration; n > 0 && p.Iteration < p.Of {
		each := time.Since(b.since) / time.Duration(n)
		text += "  ETA " + round(each*time.Duration(p.Of-p.Iteration)).String()
	}
	return text
}

// round shortens a length of time to what is worth reading.
func round(d time.Duration) time.Duration {
	if d > time.Hour {
		return d.Round(time.Minute)
	}
	return d.Round(time.Second)
}

// followAfter is how long a phase lasts before lines tell of it.
const followAfter = time.Minute

// follow shows what a run does within its iterations, as now tells it.
func (d *runDisplay) follow(name string, of int, now func() trainer.Live) {
	every := followAfter
	if d.bars != nil {
		every = time.Second
	}
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-d.quiet:
				return
			case <-tick.C:
				d.phase(name, of, now())
			}
		}
	}()
}

// phase shows the phase that a run is in.
func (d *runDisplay) phase(name string, of int, l trainer.Live) {
	if l.Since.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	text := describePhase(&l)
	if d.bars == nil {
		if time.Since(l.Since) >= followAfter {
			d.line("%-16s %3d/%d  %s", name, l.Iteration, of, text)
		}
		return
	}
	b := d.cells[name]
	if b == nil {
		b = &cellBar{}
		d.cells[name] = b
	}
	before, _, _ := strings.Cut(b.said(), "  | ")
	text = strings.TrimPrefix(before+"  | "+text, "  | ")
	b.text.Store(&text)
	if b.bar == nil {
		d.addBar(b, "", of)
	}
}

// said is what the bar shows.
func (b *cellBar) said() string {
	if t := b.text.Load(); t != nil {
		return *t
	}
	return ""
}

func describePhase(l *trainer.Live) string {
	text := l.Phase
	if l.Episodes > 0 {
		text += fmt.Sprintf(" %d of %d episodes", l.Ended, l.Episodes)
	}
	if s := time.Since(l.Since).Seconds(); l.Tokens > 0 && s > 1 {
		text += fmt.Sprintf(", %d tokens, %.0f tok/s", l.Tokens, float64(l.Tokens)/s)
	}
	return text
}

// close leaves the terminal in order.
func (d *runDisplay) close() {
	close(d.quiet)
	if d.bars == nil {
		return
	}
	d.mu.Lock()
	for _, b := range d.cells {
		if b.bar != nil {
			b.bar.Abort(false)
		}
	}
	d.mu.Unlock()
	d.bars.Wait()
}
