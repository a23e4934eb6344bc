// Package jsonl reads tasks from JSON: one object a line, or one array of
// objects. It knows the shapes in which math and code data sets come (GSM8K,
// MATH-500, AIME, and the project's own); rows that can't be used are counted
// by reason with their lines, never dropped silently.
package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"troupe/data"
)

// largestRow bounds one row's text, so that a file can't ask for all memory.
const largestRow = 64 << 20

// Read reads the tasks of a file. The error is for a file that can't be read
// at all, or that holds no usable row; the report has the rest.
func Read(path string) ([]data.Task, data.Report, error) {
	set := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	c := NewCollector(set)
	err := Rows(context.Background(), path, func(line int, raw []byte, rowErr error) error {
		c.Add(line, raw, rowErr)
		return nil
	})
	if err != nil {
		return nil, c.Report, err
	}
	tasks, err := c.Finish(path)
	return tasks, c.Report, err
}

// Rows calls f for every row of a JSON file with its line (in an array: its
// number). A row that is no text, or a line that is too long, comes with an
// error instead of its bytes; raw is valid during the call only. An error of f
// ends it, and so does an element of an array that is too long.
func Rows(ctx context.Context, path string, f func(line int, raw []byte, rowErr error) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read tasks: %w", err)
	}
	defer file.Close()
	if st, err := file.Stat(); err == nil && st.IsDir() {
		return fmt.Errorf("read tasks: %s is a folder", path)
	}
	r := bufio.NewReaderSize(file, 1<<16)
	if bom, err := r.Peek(3); err == nil && string(bom) == "\ufeff" {
		r.Discard(3)
	}
	if first, err := firstByte(r); err == nil && first == '[' {
		err = arrayRows(ctx, r, f)
		if err != nil {
			return fmt.Errorf("read tasks: %s: %w", path, err)
		}
		return nil
	}
	if err := lineRows(ctx, r, f); err != nil {
		return fmt.Errorf("read tasks: %s: %w", path, err)
	}
	return nil
}

// firstByte looks at the first byte that is no white space, without taking it.
func firstByte(r *bufio.Reader) (byte, error) {
	for n := 1; ; n++ {
		b, err := r.Peek(n)
		if err != nil {
			return 0, err
		}
		if c := b[n-1]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, nil
		}
	}
}

func lineRows(ctx context.Context, r *bufio.Reader, f func(int, []byte, error) error) error {
	var row []byte
	for line := 1; ; line++ {
		var err error
		row, err = readLine(r, row[:0])
		tooLong := errors.Is(err, bufio.ErrTooLong)
		if err != nil && !tooLong && err != io.EOF {
			return fmt.Errorf("line %d: %w", line, err)
		}
		text := bytes.TrimSpace(row)
		switch {
		case tooLong:
			if e := f(line, nil, data.BadRow("too long", "more than %d MiB", largestRow>>20)); e != nil {
				return e
			}
		case len(text) == 0:
		case !utf8.Valid(text):
			if e := f(line, nil, data.BadRow("not UTF-8", "")); e != nil {
				return e
			}
		default:
			if e := f(line, text, nil); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// readLine appends a line to buf. A line over the limit is skipped without
// being kept.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(buf)+len(part) > largestRow {
			tooLong = true
			buf = nil
		}
		if !tooLong {
			buf = append(buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case tooLong && (err == nil || err == io.EOF):
			return nil, bufio.ErrTooLong
		default:
			return buf, err
		}
	}
}

func arrayRows(ctx context.Context, r io.Reader, f func(int, []byte, error) error) error {
	source := &bounded{r: r, left: largestRow}
	d := json.NewDecoder(source)
	if _, err := d.Token(); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		source.left = largestRow
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			// Inside an array nothing tells where the next row begins.
			return fmt.Errorf("element %d: %w", n, err)
		}
		var rowErr error
		if !utf8.Valid(raw) {
			raw, rowErr = nil, data.BadRow("not UTF-8", "")
		}
		if err := f(n, raw, rowErr); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("end of the array: %w", err)
	}
	source.left = largestRow
	if _, err := d.Token(); err != io.EOF {
		return errors.New("the file goes on after its array")
	}
	return nil
}

// bounded reads until a number of bytes is used up.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("more than %d MiB", largestRow>>20)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Collector turns rows into tasks and counts what it can't use.
type Collector struct {
	Report data.Report
	decode func(raw []byte) (data.Task, error)
	tasks  []data.Task
	seen   map[string]int // line of the row that has an id
}

// NewCollector collects rows of the named data set, read by Task.
func NewCollector(set string) *Collector {
	return NewCollectorOf(func(raw []byte) (data.Task, error) { return Task(set, raw) })
}

// NewCollectorOf collects rows that decode reads.
func NewCollectorOf(decode func(raw []byte) (data.Task, error)) *Collector {
	return &Collector{decode: decode, seen: map[string]int{}}
}

// Add takes one row, or the error that stands for it.
func (c *Collector) Add(line int, raw []byte, rowErr error) {
	c.Report.Rows++
	if rowErr != nil {
		c.Report.Reject(line, rowErr)
		return
	}
	t, err := c.decode(raw)
	if err != nil {
		c.Report.Reject(line, err)
		return
	}
	if first, dup := c.seen[t.ID]; dup {
		c.Report.Reject(line, data.BadRow("a task of that id or text came before", "%s is in row %d", t.ID, first))
		return
	}
	c.seen[t.ID] = line
	c.Report.Used++
	c.tasks = append(c.tasks, t)
}

// Finish is the tasks; the error is for a file without any.
func (c *Collector) Finish(path string) ([]data.Task, error) {
	c.Report.Sort()
	if len(c.tasks) == 0 {
		return nil, fmt.Errorf("read tasks: %s: no row can be used: %s", path, c.Report.Line())
	}
	return c.tasks, nil
}
