package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"troupe/data"
)

// maxRecord is the longest line of a JSONL input; a test makes it shorter.
var maxRecord = 256 << 20

// errLongRecord is a line that was passed over because of its length.
var errLongRecord = errors.New("the line is too long")

// eachRecord decodes a file of one JSON object a line, "-" for standard input,
// and hands the records out with their place ("FILE line N"). Blank lines are
// passed over. An error of f gets the place put before it; all errors are
// input errors.
func eachRecord[T any](env *environment, path string, f func(place string, r T) error) error {
	in, name := env.Stdin, "standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return inputf("%w", err)
		}
		defer file.Close()
		in, name = file, path
	}
	r := bufio.NewReaderSize(in, 1<<20)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if err == io.EOF {
			return nil
		}
		place := fmt.Sprintf("%s line %d", name, n)
		if err != nil {
			return inputf("%s: %w", place, err)
		}
		line = bytes.TrimSpace(line)
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		var rec T
		if err := data.Unmarshal(line, &rec); err != nil {
			return inputf("%s: %w", place, err)
		}
		if err := f(place, rec); err != nil {
			if env.Ctx.Err() != nil || ofSystem(err) {
				return err
			}
			return inputf("%s: %w", place, err)
		}
	}
}

// ofSystem tells errors of reading and writing files from errors of a record.
func ofSystem(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) || errors.Is(err, io.ErrClosedPipe)
}

// readLine is one line without its end, io.EOF after the last. A line over the
// limit is read to its end without being kept: errLongRecord.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	begun, long := false, false
	for {
		part, more, err := r.ReadLine()
		switch {
		case err == io.EOF && begun: // the last line has no end
			more = false
		case err != nil:
			return nil, err
		case long || len(line)+len(part) > maxRecord:
			line, long = nil, true
		default:
			line = append(line, part...)
		}
		begun = true
		if more {
			continue
		}
		if long {
			return nil, fmt.Errorf("%w: more than %d bytes", errLongRecord, maxRecord)
		}
		return line, nil
	}
}

// recordID is the id of a record: a text, or a number that is written back as
// the text it was.
type recordID string

// UnmarshalJSON takes a text or a number.
func (id *recordID) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*id = recordID(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return errors.New("id is neither a text nor a number")
	}
	*id = recordID(n)
	return nil
}

// jsonWriter writes one object a line, without escaping <, > and &.
type jsonWriter struct {
	w *bufio.Writer
	e *json.Encoder
}

func newJSONWriter(w io.Writer) *jsonWriter {
	j := &jsonWriter{w: bufio.NewWriter(w)}
	j.e = json.NewEncoder(j.w)
	j.e.SetEscapeHTML(false)
	return j
}

// write writes v and hands it on at once.
func (j *jsonWriter) write(v any) error {
	if err := j.e.Encode(v); err != nil {
		return err
	}
	return j.w.Flush()
}
