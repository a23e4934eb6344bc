package parquet

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	parquetgo "github.com/parquet-go/parquet-go"

	"troupe/internal/reexec"
)

const childName = "parquet"

// Limits of the child.
const (
	memoryLimit   = 448 << 20 // all its writable memory, the Go runtime's included
	memoryAim     = 224 << 20 // what the collector tries to keep
	largestFooter = 64 << 20
	largestRow    = 64 << 20 // as JSON; larger rows are counted as bad
)

// The kinds of frames from child to parent: kind, length, payload.
const (
	frameSchema = 's'
	frameRow    = 'r'
	frameBadRow = 'b' // reason, NUL, detail
	frameError  = 'e'
	frameEnd    = 'z'
)

func init() { reexec.Register(childName, childMain) }

// childMain reads the file args[0] and writes frames to standard output: the
// schema if no columns are named, else the rows.
func childMain(args []string) int {
	debug.SetMemoryLimit(memoryAim)
	debug.SetGCPercent(50)
	limitMemory(memoryLimit)
	w := bufio.NewWriterSize(os.Stdout, 1<<18)
	err := serve(w, args[0], args[1:])
	if err != nil {
		writeFrame(w, frameError, []byte(err.Error()))
	} else {
		writeFrame(w, frameEnd, nil)
	}
	w.Flush()
	return 0
}

func writeFrame(w *bufio.Writer, kind byte, payload []byte) error {
	var head [5]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	w.Write(head[:])
	_, err := w.Write(payload)
	return err
}

func serve(w *bufio.Writer, path string, names []string) (err error) {
	row := int64(0)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("row %d: damaged: the parquet reader gave up (%.160v)", row+1, r)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	st, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := parquetgo.OpenFile(file, st.Size(), parquetgo.SkipPageIndex(true), parquetgo.SkipBloomFilters(true), parquetgo.ReadBufferSize(1<<18))
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if len(names) == 0 {
		return writeSchema(w, f)
	}
	fields, err := choose(f.Root(), names)
	if err != nil {
		return err
	}
	for g, group := range f.RowGroups() {
		if err := writeGroup(w, group, fields, &row); err != nil {
			return fmt.Errorf("row %d (row group %d): %w", row+1, g+1, err)
		}
	}
	if row != f.NumRows() {
		return fmt.Errorf("damaged: %d rows where %d are announced", row, f.NumRows())
	}
	return nil
}

func writeSchema(w *bufio.Writer, f *parquetgo.File) error {
	s := Schema{Rows: f.NumRows()}
	for _, c := range f.Root().Columns() {
		s.Columns = append(s.Columns, c.Name())
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeFrame(w, frameSchema, b)
}

// choose finds the wanted top-level columns.
func choose(root *parquetgo.Column, names []string) ([]*parquetgo.Column, error) {
	var fields []*parquetgo.Column
	for _, n := range names {
		name, optional := strings.CutSuffix(n, "?")
		c := root.Column(name)
		if c == nil {
			if optional {
				continue
			}
			var have []string
			for _, c := range root.Columns() {
				have = append(have, c.Name())
			}
			return nil, fmt.Errorf("no column %q; it has %s", name, strings.Join(have, ", "))
		}
		fields = append(fields, c)
	}
	return fields, nil
}

func writeGroup(w *bufio.Writer, group parquetgo.RowGroup, fields []*parquetgo.Column, row *int64) error {
	chunks := group.ColumnChunks()
	a := &assembler{leaves: map[int]*leaf{}}
	for _, c := range fields {
		if err := a.open(c, chunks); err != nil {
			return err
		}
	}
	defer a.close()
	for range group.NumRows() {
		if err := a.next(); err != nil {
			return err
		}
		text, err := a.object(fields)
		var bad badCell
		switch {
		case errors.As(err, &bad):
			err = writeFrame(w, frameBadRow, []byte(bad.reason+"\x00"+bad.detail))
		case err == nil:
			err = writeFrame(w, frameRow, text)
		}
		if err != nil {
			return err
		}
		*row++
	}
	return nil
}

// leaf reads the values of one column chunk record by record.
type leaf struct {
	name    string
	pages   parquetgo.Pages
	values  parquetgo.ValueReader
	buf     []parquetgo.Value
	at      int
	record  []parquetgo.Value // the current record's
	drained bool
}

// mostValues bounds the values of one column in one record: a run-length
// coded page can hold two thousand million of them in ten bytes.
const mostValues = 1 << 20

// fill makes l.buf[l.at] the next value; false at the end of the chunk.
func (l *leaf) fill() (bool, error) {
	for l.at == len(l.buf) {
		if l.values != nil {
			n, err := l.values.ReadValues(l.buf[:cap(l.buf)])
			l.buf, l.at = l.buf[:n], 0
			if err == io.EOF {
				l.values = nil
			} else if err != nil {
				return false, err
			}
			continue
		}
		if l.drained {
			return false, nil
		}
		page, err := l.pages.ReadPage()
		if err == io.EOF {
			l.drained = true
			continue
		}
		if err != nil {
			return false, err
		}
		// Pages are left to the collector, not released: values point into them.
		l.values = page.Values()
	}
	return true, nil
}

func (l *leaf) next() error {
	l.record = l.record[:0]
	for {
		ok, err := l.fill()
		if err != nil {
			return fmt.Errorf("column %s: %w", l.name, err)
		}
		if !ok || len(l.record) > 0 && l.buf[l.at].RepetitionLevel() == 0 {
			break
		}
		if len(l.record) == mostValues {
			return fmt.Errorf("column %s: more than %d values", l.name, mostValues)
		}
		l.record = append(l.record, l.buf[l.at])
		l.at++
	}
	if len(l.record) == 0 {
		return fmt.Errorf("column %s: it ends too early", l.name)
	}
	return nil
}
