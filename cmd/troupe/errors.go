package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"troupe/data/store"
)

// Exit codes of every subcommand but `run`.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitInput    = 3
	exitResource = 4
	exitSignal   = 5
)

// codedError is an error with an exit code of its own.
type codedError struct {
	code int
	err  error
}

func (e codedError) Error() string { return e.err.Error() }
func (e codedError) Unwrap() error { return e.err }

// usagef is an error of the command line or a config key: exit 2.
func usagef(format string, args ...any) error {
	return codedError{exitUsage, fmt.Errorf(format, args...)}
}

// inputf is an error in what a file or a record says: exit 3.
func inputf(format string, args ...any) error {
	return codedError{exitInput, fmt.Errorf(format, args...)}
}

// resourcef is a lack of disk or memory: exit 4.
func resourcef(format string, args ...any) error {
	return codedError{exitResource, fmt.Errorf(format, args...)}
}

// errStopped ends a command that a signal stopped after it had put everything
// in order: exit 5.
var errStopped = codedError{exitSignal, errors.New("stopped by a signal; the same command goes on from here")}

// exitCode is an error that only carries a program's exit code; nothing is
// printed for it.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// conclude prints err and maps it to an exit code. It is the only place that
// does.
func conclude(stderr io.Writer, err error) int {
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintf(stderr, "troupe: %v\n", err)
	var c codedError
	switch {
	case store.IsFull(err), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EDQUOT):
		return exitResource // also where a command took it for a fault of its input
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, context.Canceled):
		return exitSignal
	}
	return exitFailed
}

// nearest is the known word with the smallest edit distance to word, or "" if
// none is near enough to be what was meant.
func nearest(word string, known []string) string {
	best, at := "", len(word)/2+2
	for _, k := range known {
		if d := editDistance(word, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// editDistance is Levenshtein's distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diag, row[j] = row[j], min(row[j]+1, row[j-1]+1, diag+cost)
		}
	}
	return row[len(b)]
}
