package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"troupe/data/store"
	"troupe/model/kernels"
	"troupe/sandbox/python"
)

// version is the product's own version; a build from a tagged module overrides
// it with the module's.
const version = "0.1.0"

type versionCmd struct{}

// Run prints what a bug report needs.
func (versionCmd) Run(env *environment) error {
	v, commit := version, ""
	if bi, ok := debug.ReadBuildInfo(); ok {
		if bi.Main.Version != "" && bi.Main.Version != "(devel)" {
			v = bi.Main.Version
		}
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	fmt.Fprintf(env.Stdout, "troupe   %s\n", v)
	if commit != "" {
		fmt.Fprintf(env.Stdout, "commit   %s\n", commit)
	}
	fmt.Fprintf(env.Stdout, "go       %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(env.Stdout, "kernels  %s (of %s)\n", kernels.Active(), strings.Join(kernels.Implementations(), ", "))
	fmt.Fprintf(env.Stdout, "sqlite   %s\n", store.EngineVersion())
	fmt.Fprintf(env.Stdout, "guest    %s\n", python.Pinned())
	return nil
}
