package doctor

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"troupe/model"
	"troupe/model/kernels"
)

var tiny = model.Config{
	Type: "qwen3", Hidden: 32, Inner: 64, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 16, Vocab: 96,
	MaxPositions: 256, Eps: 1e-6, RopeTheta: 1e4, Tied: true, BOS: -1,
}

func tinyModel(t *testing.T) *model.Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	m, err := model.New(tiny, func(_ string, _ []int, w []float32) {
		for i := range w {
			w[i] = float32(rng.NormFloat64()) / 8
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPredict(t *testing.T) {
	m := tinyModel(t)
	base := Plan{Kind: "math", Policy: "isolated", Rank: 4, Tasks: 3, Rollouts: 2, Iterations: 10, MaxTokens: 20, PromptTokens: 10, ReplyTokens: 5}
	for _, c := range []struct {
		workflow, kind   string
		sampled, trained int
	}{
		{"single", "math", 6 * 5, 6*5 + 3*10},
		{"voting", "math", 24 * 5, 24*5 + (3+6)*10},
		{"evalopt", "math", 36 * 5, 36*5 + (3+30)*10},
		{"evalopt", "code", 24 * 5, 24*5 + (3+18)*10},
		{"orch", "math", 30 * 5, 30*5 + (3+24)*10},
	} {
		p := base
		p.Workflow, p.Kind, p.Full = c.workflow, c.kind, c.workflow == "single"
		f, err := Predict(context.Background(), m, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Sampled != c.sampled || f.Trained != c.trained {
			t.Errorf("%s %s: %d sampled, %d trained; want %d, %d", c.workflow, c.kind, f.Sampled, f.Trained, c.sampled, c.trained)
		}
		if !(f.Decode > 0 && f.Prefill > 0 && f.Train > 0) || f.Memory.Total() <= 0 {
			t.Errorf("%s: %+v", c.workflow, f)
		}
		if !f.Fits {
			t.Errorf("%s: does not fit a machine of unknown memory", c.workflow)
		}
		if !slices.ContainsFunc(f.Lines(), func(l string) bool { return strings.HasPrefix(l, "peak memory") }) {
			t.Errorf("%s: %q", c.workflow, f.Lines())
		}
	}
}

// What a run could take counts, not what the model that is looked at has left of it.
func TestAForecastFitsWhatWasAvailable(t *testing.T) {
	m := tinyModel(t)
	p := Plan{Workflow: "single", Policy: "shared", Kind: "math", Rank: 1, Tasks: 1, Rollouts: 1, Iterations: 1, MaxTokens: 1, PromptTokens: 1, ReplyTokens: 1}
	need, _ := memoryOf(m, p)
	for available, fits := range map[int64]bool{need.Total(): true, need.Total() - 1: false} {
		f, err := Predict(t.Context(), m, p, available)
		if err != nil {
			t.Fatal(err)
		}
		if f.Available != available || f.Fits != fits {
			t.Errorf("%d of %d available: fits %v", f.Available, available, f.Fits)
		}
	}
}

func TestIsolatedSetsTakeMoreMemory(t *testing.T) {
	m := tinyModel(t)
	p := Plan{Workflow: "orch", Policy: "shared", Kind: "math", Rank: 8, Tasks: 1, Rollouts: 1, Iterations: 1, MaxTokens: 1, PromptTokens: 1, ReplyTokens: 1}
	one, _ := memoryOf(m, p)
	p.Policy = "isolated"
	three, _ := memoryOf(m, p)
	if one.Adapters == 0 || three.Adapters != 3*one.Adapters {
		t.Errorf("adapters take %d shared, %d isolated", one.Adapters, three.Adapters)
	}
}

func TestBadPlans(t *testing.T) {
	good := Plan{Workflow: "single", Rank: 1, Tasks: 1, Rollouts: 1, Iterations: 1, MaxTokens: 1, PromptTokens: 1, ReplyTokens: 1}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*Plan){
		func(p *Plan) { p.Workflow = "debate" }, func(p *Plan) { p.Tasks = 0 }, func(p *Plan) { p.Rank = -1 },
	} {
		p := good
		change(&p)
		if p.Check() == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}

func TestCancelledForecast(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := Plan{Workflow: "single", Policy: "shared", Rank: 1, Tasks: 1, Rollouts: 1, Iterations: 1, MaxTokens: 1, PromptTokens: 1, ReplyTokens: 1}
	if _, err := Predict(ctx, tinyModel(t), p, 0); err == nil {
		t.Error("no error")
	}
}

func TestExamine(t *testing.T) {
	r := Examine(context.Background(), Options{Cache: t.TempDir()})
	if r.Machine.Cores < 1 || r.Machine.Threads < 1 || r.Kernels.Active != kernels.Active() || r.Speed != nil {
		t.Errorf("%+v", r)
	}
	if !slices.Contains(r.Kernels.Usable, "generic") {
		t.Errorf("usable kernels: %v", r.Kernels.Usable)
	}
	if k := r.Kernels; (k.AMX == "usable") != (kernels.AMX() == nil) || k.AMX == "" || k.Auto != kernels.AutoNumerics().String() || k.Unit == "" {
		t.Errorf("%+v", k)
	}
	for want, why := range map[string]string{"": "the best", "quantum": "TROUPE_KERNELS=quantum is not usable", kernels.Active(): "asks for it"} {
		if k := chosen(want); !strings.Contains(k.Why, why) {
			t.Errorf("%q: %s", want, k.Why)
		}
	}
}

func TestProcFiles(t *testing.T) {
	const meminfo = "MemTotal:       24 kB\nMemAvailable:    5 kB\n"
	if got := kilobytes(meminfo, "MemAvailable"); got != 5<<10 {
		t.Errorf("available %d", got)
	}
	if got := kilobytes(meminfo, "SwapTotal"); got != 0 {
		t.Errorf("absent field %d", got)
	}
	if got := field("processor\t: 0\nmodel name\t: A CPU: fast\n", "model name"); got != "A CPU: fast" {
		t.Errorf("%q", got)
	}
	for n, want := range map[int64]string{5: "5 bytes", 3 << 20: "3 MiB", 3 << 29: "1.5 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
