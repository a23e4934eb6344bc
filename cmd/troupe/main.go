// Command troupe trains multi-agent LLM workflows with GRPO on CPU, judges the
// Python programs and math answers that models write, and keeps the record of
// every run in SQLite. `troupe --help` lists the subcommands; each lives in a
// file of its own name.
package main

import (
	"os"

	"troupe/internal/reexec"
)

func main() {
	reexec.Main()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
