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

type versionCmd struct {
	JSON bool `name:"json" help:"One JSON object."`
}

// versionInfo is what a bug report needs.
type versionInfo struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"` // where the build knows it
	Go      string   `json:"go"`
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	Kernels string   `json:"kernels"`    // the family in use
	Of      []string `json:"kernels_of"` // those that this machine could use
	SQLite  string   `json:"sqlite"`
	Guest   string   `json:"guest"`
}

// Run prints what a bug report needs.
func (c versionCmd) Run(env *environment) error {
	v := versionInfo{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernels: kernels.Active(), Of: kernels.Implementations(), SQLite: store.EngineVersion(), Guest: python.Pinned()}
	if bi, ok := debug.ReadBuildInfo(); ok {
		if bi.Main.Version != "" && bi.Main.Version != "(devel)" {
			v.Version = bi.Main.Version
		}
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	if c.JSON {
		return newJSONWriter(env.Stdout).write(v)
	}
	fmt.Fprintf(env.Stdout, "troupe   %s\n", v.Version)
	if v.Commit != "" {
		fmt.Fprintf(env.Stdout, "commit   %s\n", v.Commit)
	}
	fmt.Fprintf(env.Stdout, "go       %s %s/%s\n", v.Go, v.OS, v.Arch)
	fmt.Fprintf(env.Stdout, "kernels  %s (of %s)\n", v.Kernels, strings.Join(v.Of, ", "))
	fmt.Fprintf(env.Stdout, "sqlite   %s\n", v.SQLite)
	fmt.Fprintf(env.Stdout, "guest    %s\n", v.Guest)
	return nil
}
