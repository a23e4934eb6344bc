// Package doctor looks at the machine, the kernels, the Python guest and a
// checkpoint, and forecasts the time and memory of a training run before it
// starts.
package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"troupe/model/kernels"
	"troupe/sandbox/python"
)

// Report is what `troupe doctor` shows.
type Report struct {
	Machine  Machine  `json:"machine"`
	Kernels  Kernels  `json:"kernels"`
	Speed    *Speed   `json:"speed,omitempty"`
	Guest    Guest    `json:"guest"`
	Problems []string `json:"problems"`
}

// Speed is what the machine does now, under whatever else runs on it.
type Speed struct {
	Peak float64 `json:"peak_gflops"` // float32 multiply-adds; 0 where it can't be measured
	Read float64 `json:"read_gb_per_s"`
	// Product is the rate of a float32 product of 128 rows with a weight in cache.
	Product float64 `json:"product_gflops"`
}

// Kernels says which implementation runs and why.
type Kernels struct {
	Active string   `json:"active"`
	Usable []string `json:"usable"`
	Why    string   `json:"why"`
	// AMX is "usable", or why the AMX kernels are not.
	AMX string `json:"amx"`
	// Auto is the kind of numerics that "auto" means here, and Unit what products
	// of the kinds f32x3 and bf16 run on.
	Auto string `json:"auto_numerics"`
	Unit string `json:"bf16_unit"`
}

// Guest says whether the Python guest is at hand.
type Guest struct {
	Found  bool   `json:"found"`
	Wasm   string `json:"wasm,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Note   string `json:"note"`
}

// measuring is the time for the machine's speed.
const measuring = 1500 * time.Millisecond

// Options says what to look at.
type Options struct {
	Cache   string
	Guest   python.Source
	Measure bool // take about two seconds for the machine's speed
}

// Examine looks at the machine.
func Examine(ctx context.Context, opt Options) Report {
	r := Report{Machine: machine(), Kernels: chosen(os.Getenv("TROUPE_KERNELS")), Problems: []string{}}
	r.Guest = guest(opt)
	if opt.Measure && ctx.Err() == nil {
		m := kernels.Measure(kernels.Default(), measuring)
		r.Speed = &Speed{Peak: m.GFLOPS, Read: m.ReadGBs, Product: m.MatMul}
	}
	if r.Kernels.Active == "generic" {
		r.Problems = append(r.Problems, "only the portable kernels are usable: training will be hundreds of times slower")
	}
	if err := kernels.Wanted(); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if err := kernels.AMX(); err != nil && slices.Contains(r.Machine.Features, "amx_bf16") {
		r.Problems = append(r.Problems, fmt.Sprintf("the processor has AMX, but its kernels are not used: %v", err))
	}
	if r.Guest.Wasm != "" && !r.Guest.Found {
		r.Problems = append(r.Problems, r.Guest.Note)
	}
	return r
}

// chosen explains the choice of kernels.
func chosen(want string) Kernels {
	k := Kernels{Active: kernels.Active(), Usable: kernels.Implementations(), AMX: "usable",
		Auto: kernels.AutoNumerics().String(), Unit: kernels.BF16Unit()}
	if err := kernels.AMX(); err != nil {
		k.AMX = err.Error()
	}
	switch {
	case want != "" && want == k.Active:
		k.Why = "TROUPE_KERNELS asks for it"
	case want != "" && !slices.Contains(k.Usable, want):
		k.Why = fmt.Sprintf("the best that this processor and the operating system allow; TROUPE_KERNELS=%s is not usable", want)
	default:
		k.Why = "the best that this processor and the operating system allow"
	}
	return k
}

// guest looks for the Python guest without fetching it.
func guest(opt Options) Guest {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a download would start here
	files, err := python.Find(ctx, opt.Guest, opt.Cache, nil)
	named := opt.Guest.Wasm
	if named == "" {
		named = os.Getenv("TROUPE_PYTHON_WASM")
	}
	switch {
	case err == nil:
		g := Guest{Found: true, Wasm: files.Wasm, SHA256: files.WasmSum, Note: "ready"}
		if _, known := python.Rate(files.WasmSum); !known {
			g.Note = "not one that was measured: time limits use the pinned guest's constant"
		}
		return g
	case named != "":
		return Guest{Wasm: named, Note: err.Error()}
	}
	return Guest{Note: fmt.Sprintf("not in %s yet: the first run of a program fetches it (25 MB)", opt.Cache)}
}

// Lines is the report for people.
func (r Report) Lines() []string {
	m := r.Machine
	out := []string{
		row("processor", "%s, %d of %d logical cores in use", m.CPU, m.Threads, m.Cores),
		row("features", "%s", strings.Join(m.Features, " ")),
		row("memory", "%s, %s available", size(m.Memory), size(m.Available)),
		row("kernels", "%s (%s; usable: %s)", r.Kernels.Active, r.Kernels.Why, strings.Join(r.Kernels.Usable, ", ")),
		row("amx", "%s", r.Kernels.AMX),
		row("numerics", "auto means %s; f32x3 and bf16 run on %s", r.Kernels.Auto, r.Kernels.Unit),
	}
	if s := r.Speed; s != nil {
		if s.Peak > 0 {
			out = append(out, row("peak", "%.0f GFLOP/s of float32 multiply-adds, products reach %.0f %%", s.Peak, 100*s.Product/s.Peak))
		} else {
			out = append(out, row("peak", "not known for these kernels, products reach %.1f GFLOP/s", s.Product))
		}
		out = append(out, row("bandwidth", "%.1f GB/s read from memory", s.Read))
	}
	if r.Guest.Found {
		out = append(out, row("guest", "%s, sha256 %.12s, %s", r.Guest.Wasm, r.Guest.SHA256, r.Guest.Note))
	} else {
		out = append(out, row("guest", "%s", r.Guest.Note))
	}
	for _, p := range r.Problems {
		out = append(out, row("problem", "%s", p))
	}
	return out
}

func row(name, format string, args ...any) string {
	return fmt.Sprintf("%-11s ", name) + fmt.Sprintf(format, args...)
}

// size is bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
