package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"troupe/verifier/verdict"
)

type verifyCmd struct {
	Code verifyCodeCmd `cmd:"" help:"Judge programs by their tests."`
	Math verifyMathCmd `cmd:"" help:"Judge math answers by a gold answer."`
}

// verifyFlags are those of both kinds.
type verifyFlags struct {
	In      string `name:"in" default:"-" placeholder:"FILE" help:"JSONL to judge, one record a line; - is standard input (the default)."`
	Data    string `name:"data" placeholder:"FILE" help:"Data set whose tasks the records answer: --in then needs only id and answer."`
	DB      string `name:"db" placeholder:"FILE" help:"Also write the verdicts to this run database."`
	Workers int    `name:"workers" placeholder:"N" help:"Answers judged at once (default: one per CPU)."`
}

// record is one line of the input on its way to a line of the output.
type record struct {
	line int
	raw  []byte
	err  error // the line could not be read as text
	done chan judgement
}

// judgement is what becomes of a record.
type judgement struct {
	out  any // the line to write
	id   string
	v    verdict.Verdict
	word string // the verdict as the output has it
}

// stream judges the lines of an input, several at once, and writes one line
// for each in their order. A signal ends the reading, as does an output that
// takes no more; what was read is judged and written.
type stream struct {
	env     *environment
	what    string // of what is counted: "programs", "answers"
	workers int
	judge   func(ctx context.Context, line int, raw []byte) (judgement, error)
	bad     func(line int, why string) judgement
	store   *verdictLog // nil without --db

	counts  map[string]int
	missing map[string]int
	tests   int
	badLine int
	total   int
	started time.Time
	shown   time.Time
}

// run does the whole of it.
func (s *stream) run(in io.Reader) error {
	s.counts, s.missing, s.started = map[string]int{}, map[string]int{}, time.Now()
	queue := make(chan *record, 4*s.workers) // in order, waiting to be written
	work := make(chan *record)
	failed := make(chan error, 1)
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	ctx, stop := context.WithCancel(s.env.Ctx)
	defer stop()
	if s.store != nil {
		defer outliveReader()()
	}
	go s.read(ctx, in, queue, work, fail)
	var wg sync.WaitGroup
	for range s.workers {
		wg.Go(func() {
			for r := range work {
				j, err := s.answer(r)
				if err != nil {
					fail(err)
				}
				r.done <- j
			}
		})
	}
	err := s.write(queue, stop)
	wg.Wait()
	if e := s.store.close(err != nil || s.env.Ctx.Err() != nil); err == nil {
		err = e
	}
	select {
	case e := <-failed:
		err = e
	default:
	}
	s.summary()
	switch {
	case err != nil:
		return err
	case s.env.Ctx.Err() != nil:
		return codedError{exitSignal, fmt.Errorf("stopped by a signal after %d %s", s.total, s.what)}
	case s.badLine > 0:
		return inputf("%d of %d records are bad: their verdicts say why", s.badLine, s.total)
	}
	return nil
}

// outliveReader keeps the process alive when whoever reads its output has gone
// (`| head`), so that the database gets what was judged; writing then fails. It
// returns what sets things back.
func outliveReader() (undo func()) {
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	return func() { signal.Stop(gone) }
}

// read hands out the lines until the input or the patience of the user ends.
// It waits for the reader in a goroutine of its own: a read of a terminal or a
// pipe cannot be interrupted.
func (s *stream) read(ctx context.Context, in io.Reader, queue, work chan<- *record, fail func(error)) {
	defer close(queue)
	defer close(work)
	lines := make(chan *record)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 1<<20)
		for n := 1; ; n++ {
			raw, err := readLine(r)
			if err == io.EOF {
				return
			}
			if err == nil && n == 1 {
				raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
			}
			if raw = bytes.TrimSpace(raw); len(raw) == 0 && err == nil {
				continue
			}
			select {
			case lines <- &record{line: n, raw: raw, err: err, done: make(chan judgement, 1)}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLongRecord) {
				fail(inputf("line %d: %w", n, err))
				return
			}
		}
	}()
	for {
		select {
		case r, ok := <-lines:
			if !ok {
				return
			}
			queue <- r
			work <- r
		case <-ctx.Done():
			return
		}
	}
}

func (s *stream) answer(r *record) (judgement, error) {
	if r.err != nil {
		return s.bad(r.line, fmt.Sprintf("line %d: %v", r.line, r.err)), nil
	}
	// What was begun is finished even if a signal came meanwhile.
	j, err := s.judge(context.WithoutCancel(s.env.Ctx), r.line, r.raw)
	if err != nil {
		return s.bad(r.line, fmt.Sprintf("line %d: %v", r.line, err)), err
	}
	return j, nil
}

// write writes the judgements as they become ready, in order, to the output and
// to the database. The first error calls stop; the other of the two still gets
// the rest.
func (s *stream) write(queue <-chan *record, stop func()) error {
	out := newJSONWriter(s.env.Stdout)
	var unwritten, unlogged error
	for r := range queue {
		j := <-r.done
		s.total++
		s.count(j)
		if unwritten == nil {
			unwritten = out.write(j.out)
		}
		if unlogged == nil {
			unlogged = s.store.add(j)
		}
		if unwritten != nil || unlogged != nil {
			stop()
		}
		s.show()
	}
	return errors.Join(unwritten, unlogged)
}

func (s *stream) count(j judgement) {
	s.counts[j.word]++
	s.tests += len(j.v.Tests)
	if j.v.Code == verdict.IE && strings.HasPrefix(j.v.Reason, "line ") {
		s.badLine++
	}
	if m, ok := strings.CutPrefix(j.v.Reason, "missing module: "); ok {
		s.missing[m]++
	}
}

// show keeps a line of progress on a terminal.
func (s *stream) show() {
	if time.Since(s.shown) < 200*time.Millisecond || !isTerminal(s.env.Stderr) {
		return
	}
	s.shown = time.Now()
	fmt.Fprintf(s.env.Stderr, "\r\x1b[K%d %s, %.0f/s  %s", s.total, s.what, s.rate(s.total), tally(s.counts))
}

func (s *stream) rate(n int) float64 { return float64(n) / max(1e-9, time.Since(s.started).Seconds()) }

// summary is the last word on standard error.
func (s *stream) summary() {
	if isTerminal(s.env.Stderr) {
		fmt.Fprint(s.env.Stderr, "\r\x1b[K")
	}
	fmt.Fprintf(s.env.Stderr, "%d %s in %.1f s (%.1f/s): %s\n",
		s.total, s.what, time.Since(s.started).Seconds(), s.rate(s.total), tally(s.counts))
	if len(s.missing) > 0 {
		fmt.Fprintf(s.env.Stderr, "missing modules: %s\n", tally(s.missing))
	}
}

// tally is "AC 3, WA 1", the most frequent first.
func tally(counts map[string]int) string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, counts[n])
	}
	return strings.Join(names, ", ")
}

// open opens the input of the records.
func (f *verifyFlags) open(env *environment) (io.ReadCloser, error) {
	if f.In == "-" {
		return io.NopCloser(env.Stdin), nil
	}
	file, err := os.Open(f.In)
	if err != nil {
		return nil, inputf("%w", err)
	}
	return file, nil
}
