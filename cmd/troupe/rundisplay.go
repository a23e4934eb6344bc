package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"troupe/trainer"
	"troupe/trainer/study"
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
}

type cellBar struct {
	bar  *mpb.Bar
	text atomic.Pointer[string] // the bars are drawn from another goroutine
}

func newRunDisplay(w io.Writer, cells, iterations int) *runDisplay {
	d := &runDisplay{w: w, of: iterations, total: cells, cells: map[string]*cellBar{}}
	if isTerminal(w) {
		d.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
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

func (d *runDisplay) warm(b study.Base) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.Single >= 0.1 || b.Steps%500 == 0 {
		d.line("warm start %s: step %d, single %.3f, orch %.3f", b.Kind, b.Steps, b.Single, b.Orch)
	}
}

func (d *runDisplay) based(b study.Base) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how := fmt.Sprintf("in %.0f s", b.Seconds)
	if b.Cached {
		how = "from the cache"
	}
	d.line("base for %s: %d steps %s", b.Kind, b.Steps, how)
}

// linesAt is how often a run without a bar says something, in iterations.
const linesAt = 20

func (d *runDisplay) cell(c study.Cell, p trainer.Progress) { d.run(c.Name(), p) }

// run notes an iteration of the named run.
func (d *runDisplay) run(name string, p trainer.Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Iteration == p.Of {
		d.done++
	}
	text := fmt.Sprintf("reward %.3f  accuracy %.3f", p.Reward, p.Accuracy)
	if d.bars == nil {
		if p.Iteration%linesAt == 0 || p.Iteration == p.Of {
			d.line("%-16s %3d/%d  %s", name, p.Iteration, p.Of, text)
		}
		return
	}
	b := d.cells[name]
	if b == nil {
		b = &cellBar{}
		b.text.Store(&text)
		b.bar = d.bars.AddBar(int64(p.Of),
			mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return "  " + *b.text.Load() })))
		d.cells[name] = b
	}
	b.text.Store(&text)
	b.bar.SetCurrent(int64(p.Iteration))
}

// close leaves the terminal in order.
func (d *runDisplay) close() {
	if d.bars == nil {
		return
	}
	d.mu.Lock()
	for _, b := range d.cells {
		b.bar.Abort(false)
	}
	d.mu.Unlock()
	d.bars.Wait()
}
