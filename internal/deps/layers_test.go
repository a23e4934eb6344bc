package deps

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the order of the house: a package imports only from lower layers.
// Do not change this table to make a build pass; change the import.
var layers = [][]string{
	0: {"data", "data/nprand", "verifier/verdict", "verifier/mathans", "model/kernels", "model/safetensors",
		"internal/fetch", "internal/atomicfile", "internal/readfile", "internal/golden", "internal/nearest", "internal/prng", "internal/reexec", "internal/jsonschema", "internal/deps",
		"verifier/mathans/guest"},
	1: {"sandbox", "sandbox/python", "sandbox/wasi", "sandbox/wasm",
		"trainer/budget", "trainer/grpo", "trainer/optim", "trainer/metrics", "model/tokenizer", "model/lora", "model/gguf",
		"data/store", "data/synth", "data/hub", "data/dapo", "data/deepcoder", "data/jsonl", "data/parquet"},
	2: {"verifier", "verifier/code", "model"},
	3: {"trainer/rollout", "trainer/workflow", "trainer/checkpoint", "trainer/policy"},
	4: {"trainer", "data/report"},
	5: {"internal/api", "internal/doctor", "trainer/study", "trainer/grid"},
	6: {"cmd/troupe"},
}

// sideways lists the imports allowed inside a layer.
var sideways = map[string][]string{
	"sandbox":           {"sandbox/python", "sandbox/wasi", "sandbox/wasm"},
	"sandbox/python":    {"sandbox/wasi", "sandbox/wasm"},
	"model/safetensors": {"internal/atomicfile", "internal/readfile"},
	"internal/fetch":    {"internal/atomicfile"},
	"verifier":          {"verifier/code"},
	"trainer/rollout":   {"trainer/workflow"},
	"trainer/study":     {"trainer/grid", "internal/doctor"},
	"data/dapo":         {"data/parquet"},
	"data/deepcoder":    {"data/parquet"},
	"data/jsonl":        {"data/parquet"},
	"internal/api":      {"data/report"},

	"verifier/mathans/guest": {"verifier/mathans"},
}

// doors names the only places that may import a third party.
var doors = map[string][]string{
	"github.com/tetratelabs/wazero":    {"sandbox", "sandbox/python", "sandbox/wasi", "sandbox/wasm"},
	"github.com/ncruces/go-sqlite3":    {"data/store"},
	"github.com/go-chi/chi":            {"internal/api"},
	"github.com/prometheus":            {"internal/api"},
	"github.com/sugarme/tokenizer":     {"model/tokenizer"},
	"github.com/parquet-go/parquet-go": {"data/parquet"},
	"gonum.org/v1/plot":                {"data/report"},
}

// together are the only packages that may see model and verifier both.
var together = []string{"trainer", "trainer/study", "internal/doctor", "cmd/troupe"}

type goPackage struct {
	ImportPath                string
	Imports                   []string
	TestImports, XTestImports []string
	Doc                       string
	Dir                       string
	GoFiles, IgnoredGoFiles   []string
}

func TestImportsGoDownTheLayers(t *testing.T) {
	level := map[string]int{}
	for n, pkgs := range layers {
		for _, p := range pkgs {
			level[p] = n
		}
	}
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, "troupe/")
		from, known := level[name]
		if !known {
			t.Errorf("%s: not in the table of layers", name)
			continue
		}
		seen := map[string]bool{}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, "troupe/")
			if !ours {
				checkDoor(t, name, imp)
				continue
			}
			seen[to] = true
			if level[to] > from || level[to] == from && !slices.Contains(sideways[name], to) {
				t.Errorf("%s (layer %d) imports %s (layer %d)", name, from, to, level[to])
			}
		}
		if seen["model"] && seen["verifier"] && !slices.Contains(together, name) {
			t.Errorf("%s sees model and verifier together", name)
		}
	}
}

func checkDoor(t *testing.T, name, imp string) {
	t.Helper()
	for third, where := range doors {
		if (imp == third || strings.HasPrefix(imp, third+"/")) && !slices.Contains(where, name) {
			t.Errorf("%s imports %s, which may only be used in %v", name, imp, where)
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	for _, p := range list(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// list is `go list` over the whole module.
func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Doc,Dir,GoFiles,IgnoredGoFiles", "troupe/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}
