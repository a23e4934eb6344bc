//go:build wasip1

// Command guest is the math engine as a WASI program: it reads a batch of
// questions from standard input and writes their results to standard output.
package main

import (
	"io"
	"os"
	"runtime/debug"

	"troupe/verifier/mathans"
)

func main() {
	debug.SetMemoryLimit(12 << 20)
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	out, err := mathans.ServeBatch(in)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		os.Exit(1)
	}
}
