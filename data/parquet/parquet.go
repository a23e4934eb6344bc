// Package parquet reads rows of parquet files as JSON objects. The files are
// parsed in a child process with little memory, because parquet readers panic
// and ask for gigabytes on damaged or hostile files: what goes wrong there
// becomes one error that names the file.
//
// Whoever uses the package must make reexec.Main the first call of main and of
// each TestMain.
package parquet

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"troupe/data"
	"troupe/internal/reexec"
)

// Schema is what a file says about itself.
type Schema struct {
	Columns []string // top-level columns, in the file's order
	Rows    int64
}

// Has reports whether the file has all of the named columns.
func (s Schema) Has(names ...string) bool {
	for _, n := range names {
		found := false
		for _, c := range s.Columns {
			found = found || c == n
		}
		if !found {
			return false
		}
	}
	return true
}

// silence is how long the child may work on one row.
var silence = time.Minute // shorter in a test

// largestFrame bounds what the parent takes from the child at once.
const largestFrame = largestRow + 1<<20

// Inspect reads a file's schema.
func Inspect(ctx context.Context, path string) (Schema, error) {
	var s Schema
	err := read(ctx, path, nil, func(kind byte, payload []byte) error {
		if kind != frameSchema {
			return fmt.Errorf("unexpected answer %q of the reading process", kind)
		}
		return json.Unmarshal(payload, &s)
	})
	return s, err
}

// Rows calls f for every row with its number, from 1, and the named columns as
// a JSON object; lists and structs are nested, what is null in the file is
// null. A name that ends in "?" may be missing in the file. A row that can't be
// shown as JSON comes with an error instead; raw is valid during the call only.
// An error of f ends the reading.
func Rows(ctx context.Context, path string, columns []string, f func(row int, raw []byte, rowErr error) error) error {
	n := 0
	return read(ctx, path, columns, func(kind byte, payload []byte) error {
		switch kind {
		case frameRow:
			n++
			return f(n, payload, nil)
		case frameBadRow:
			n++
			reason, detail, _ := strings.Cut(string(payload), "\x00")
			return f(n, nil, &data.RowError{Reason: reason, Detail: detail})
		}
		return fmt.Errorf("unexpected answer %q of the reading process", kind)
	})
}

// read runs the child on a file and hands on its frames.
func read(ctx context.Context, path string, columns []string, f func(kind byte, payload []byte) error) error {
	fail := func(err error) error { return fmt.Errorf("parquet file %s: %w", path, err) }
	if err := looksLikeParquet(path); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, err := reexec.Command(ctx, childName, append([]string{path}, columns...)...)
	if err != nil {
		return fail(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	stderr := &firstBytes{limit: 4096}
	cmd.Stderr = stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	var stuck atomic.Bool
	watch := time.AfterFunc(silence, func() { stuck.Store(true); cancel() })
	err = frames(bufio.NewReaderSize(out, 1<<18), func(kind byte, payload []byte) error {
		watch.Stop() // what f does with a row is no silence of the child's
		defer watch.Reset(silence)
		return f(kind, payload)
	})
	watch.Stop()
	cancel() // after a complete answer or a fault of ours the child has nothing to do
	waitErr := cmd.Wait()
	var broken brokenPipe
	switch {
	case err == nil:
		return nil
	case stuck.Load():
		return fail(fmt.Errorf("no row in %v: given up", silence))
	case errors.As(err, &broken):
		if e := context.Cause(ctx); e != nil && ctx.Err() != nil && !errors.Is(e, context.Canceled) {
			return fail(e)
		}
		return fail(crash(cmd, waitErr, stderr.String()))
	}
	return fail(err)
}

// looksLikeParquet checks the marks at both ends, and the length of the footer
// against the file's, before any library sees them.
func looksLikeParquet(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return errors.New("it is a folder")
	case !st.Mode().IsRegular():
		return errors.New("it is no regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var head, foot [8]byte
	if st.Size() < 12 {
		return fmt.Errorf("%d bytes are too few for a parquet file", st.Size())
	}
	if _, err := file.ReadAt(head[:4], 0); err != nil {
		return err
	}
	if _, err := file.ReadAt(foot[:], st.Size()-8); err != nil {
		return err
	}
	if string(head[:4]) != "PAR1" {
		return errors.New("not a parquet file: it does not begin with PAR1")
	}
	if string(foot[4:]) != "PAR1" {
		return errors.New("cut off or damaged: it does not end with PAR1")
	}
	footer := int64(binary.LittleEndian.Uint32(foot[:]))
	if footer > st.Size()-12 || footer > largestFooter || footer == 0 {
		return fmt.Errorf("damaged: a footer of %d bytes in a file of %d", footer, st.Size())
	}
	return nil
}

// brokenPipe is the end of the child's answers before they were complete.
type brokenPipe struct{ err error }

func (b brokenPipe) Error() string { return b.err.Error() }

// frames reads the child's answers until it says that they are complete.
func frames(r *bufio.Reader, f func(kind byte, payload []byte) error) error {
	var head [5]byte
	var payload []byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return brokenPipe{err}
		}
		n := binary.LittleEndian.Uint32(head[1:])
		if n > largestFrame {
			return fmt.Errorf("the reading process sent %d bytes at once", n)
		}
		if uint32(cap(payload)) < n {
			payload = make([]byte, n)
		}
		payload = payload[:n]
		if _, err := io.ReadFull(r, payload); err != nil {
			return brokenPipe{err}
		}
		switch head[0] {
		case frameEnd:
			return nil
		case frameError:
			return errors.New(string(payload))
		}
		if err := f(head[0], payload); err != nil {
			return err
		}
	}
}

// crash says in one line why the child ended without an answer.
func crash(cmd *exec.Cmd, waitErr error, stderr string) error {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		switch {
		case strings.Contains(line, "out of memory"), strings.Contains(line, "cannot allocate memory"):
			return fmt.Errorf("damaged, or its pages are too large: reading it took more than %d MiB", memoryLimit>>20)
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			return fmt.Errorf("damaged: the parquet reader gave up (%.160s)", line)
		}
	}
	if waitErr == nil {
		waitErr = errors.New(cmd.ProcessState.String())
	}
	return fmt.Errorf("the reading process ended early: %w", waitErr)
}

// firstBytes keeps the first bytes of what a crashing process says: the reason
// stands before the stacks.
type firstBytes struct {
	limit int
	buf   []byte
}

func (t *firstBytes) Write(p []byte) (int, error) {
	if room := t.limit - len(t.buf); room > 0 {
		t.buf = append(t.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *firstBytes) String() string { return string(t.buf) }
