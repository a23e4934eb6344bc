package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"troupe/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main()
	testscript.Main(m, map[string]func(){
		"troupe": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script/*.txt: one file for each promise of the
// command line.
func TestScripts(t *testing.T) {
	cache := os.Getenv("TROUPE_CACHE")
	if cache == "" {
		dir, err := cacheDir("")
		if err != nil {
			t.Fatal(err)
		}
		cache = dir
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TROUPE_CACHE", cache)
			for name, dir := range map[string]string{"MODELS": "../../model/testdata/model", "TOKENIZERS": "../../model/tokenizer/testdata/model"} {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return err
				}
				e.Setenv(name, abs)
			}
			for _, name := range []string{"TROUPE_OFFLINE", "TROUPE_PYTHON_WASM", "TROUPE_PYTHON_LIB", "TROUPE_KERNELS", "npm_config_registry"} {
				if v, ok := os.LookupEnv(name); ok {
					e.Setenv(name, v)
				}
			}
			return nil
		},
		RequireExplicitExec: true,
	})
}
