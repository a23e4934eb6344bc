package code

import (
	"os"
)

// sourceFile is an open, already unlinked file with a program in it.
func sourceFile(program string) (*os.File, error) {
	f, err := os.CreateTemp("", "prog")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if _, err := f.WriteString(program); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, 0)
	return f, err
}
