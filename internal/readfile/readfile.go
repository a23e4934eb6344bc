// Package readfile reads whole files that are small by nature, such as
// configurations, from folders that others may have filled.
package readfile

import (
	"fmt"
	"io"
	"os"
)

// AtMost is the content of the file at path. Anything but a regular file, and
// more than limit bytes, are refused before memory is taken: a pipe would never
// end, a device neither, and both say that their size is 0. The error of a file
// that is not there has fs.ErrNotExist in its chain.
func AtMost(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, tooLarge(path, st.Size(), limit)
	}
	b := make([]byte, 0, st.Size()+1) // one more, to see the end without growing
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit: // it grew
			return nil, tooLarge(path, int64(len(b)), limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// Open opens a regular file and refuses, without waiting for it, anything else.
func Open(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}

func tooLarge(path string, size, limit int64) error {
	return fmt.Errorf("%s: %d bytes; at most %d are read", path, size, limit)
}
