package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
)

// A full disk is no fault of the input, whatever a command took it for.
func TestExitCodes(t *testing.T) {
	full := fmt.Errorf("write a: %w", syscall.ENOSPC)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"other":            {errors.New("x"), exitFailed},
		"usage":            {usagef("x"), exitUsage},
		"input":            {fmt.Errorf("y: %w", inputf("x")), exitInput},
		"full":             {full, exitResource},
		"full, as input":   {inputf("open database: %w", full), exitResource},
		"cancelled":        {fmt.Errorf("wait: %w", context.Canceled), exitSignal},
		"stopped":          {errStopped, exitSignal},
		"a program's code": {exitCode(124), 124},
	} {
		if got := conclude(io.Discard, c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}
