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
	case store.IsDamaged(err):
		return exitInput
	case errors.Is(err, context.Canceled):
		return exitSignal
	}
	return exitFailed
}
