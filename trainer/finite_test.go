package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/data"
	"troupe/model/safetensors"
	"troupe/verifier/verdict"
)

// spoilAt is the iteration in which the test puts something that is not finite.
const spoilAt = 3

// spoiledSites lists where, with the place among the values that are given out
// there: agents, parameter sets, and single tensors of a gradient.
func spoiledSites() []string {
	var sites []string
	for _, agent := range []string{"generator0", "generator1", "generator2", "aggregator0"} {
		for _, what := range []string{"sample", "log-probability", "reference", "slope", "entropy", "gradient"} {
			sites = append(sites, what+"/"+agent)
		}
	}
	for _, set := range []string{"generator", "aggregator"} {
		for _, what := range []string{"average", "first moments", "second moments", "parameters"} {
			sites = append(sites, what+"/"+set)
		}
		for tensor := range 8 {
			sites = append(sites, fmt.Sprintf("gradient/%s.%d", set, tensor))
		}
	}
	return append(sites, "reward")
}

// Invariant 8: what is not finite is caught in the iteration in which it comes
// up, at any of more than 40 places, and nothing of it is saved.
func TestInvariant8NothingNonFiniteIsSaved(t *testing.T) {
	sites := spoiledSites()
	if len(sites) < 40 {
		t.Fatalf("only %d sites", len(sites))
	}
	bad := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for i, site := range sites {
		t.Run(site, func(t *testing.T) {
			if testing.Short() && i%4 != 0 && site != "reward" {
				t.Skip("one in four in short tests")
			}
			spoil(t, site, bad[i%3])
		})
	}
}

func spoil(t *testing.T, site string, value float32) {
	cfg := smallConfig("iterations=4", "coherence.lambda=0.1", "loss.entropy=0.01", "anchor=generator=0.1,aggregator=0.1",
		"checkpoint.every=1", "checkpoint.keep=9", "eval.every=1", "metrics.every=2", "metrics.tasks=4")
	w := newWorld(t, t.TempDir(), cfg, nil)
	name, tensor := site, 0
	if at := strings.IndexByte(site, '.'); at > 0 {
		name = site[:at]
		fmt.Sscan(site[at+1:], &tensor)
	}
	now, spoiled := 0, 0
	w.t.parts.Report = func(p Progress) { now = p.Iteration }
	hit := func(at string) bool {
		if at != name || now != spoilAt-1 || spoiled > 0 {
			return false
		}
		spoiled++
		return true
	}
	w.t.parts.Inject = func(at string, values [][]float32) {
		if len(values) > tensor && len(values[tensor]) > 0 && hit(at) {
			values[tensor][len(values[tensor])/2] = value
		}
	}
	if site == "reward" {
		w.t.parts.Verifier = spoiledRewards{lottery{}, func() bool { return hit("reward") }}
	}
	err := w.t.Run(t.Context())
	w.db.Close()
	if err != nil && !errors.Is(err, ErrNonFinite) {
		t.Fatal(err)
	}
	if spoiled != 1 {
		t.Fatalf("spoiled %d values", spoiled)
	}
	caught := false
	for _, r := range w.rows(t) {
		if f := strings.Split(r, "|"); f[0] == "events" && f[2] == fmt.Sprint(spoilAt) && strings.Contains(r, "nonfinite") {
			caught = true
		}
		if l := strings.ToLower(r); strings.Contains(l, "|nan") || strings.Contains(l, "|inf|") || strings.Contains(l, "|-inf") || strings.Contains(l, "9.0e+999") {
			t.Errorf("a row has %.120s", r)
		}
	}
	if !caught {
		t.Error("not caught in its iteration")
	}
	checkFiles(t, w.cfg.Out)
}

// checkFiles reads every tensor below dir.
func checkFiles(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".safetensors") {
			return err
		}
		f, err := safetensors.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for _, name := range f.Names() {
			info, _ := f.Tensor(name)
			size := 1
			for _, s := range info.Shape {
				size *= s
			}
			x := make([]float32, size)
			if err := f.ReadF32(name, x); err != nil {
				return err
			}
			n++
			if !finite32(x) {
				t.Errorf("%s: %s is not finite", path, name)
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d tensors, %v", n, err)
	}
}

// spoiledRewards gives one reward that is no number.
type spoiledRewards struct {
	lottery
	hit func() bool
}

func (s spoiledRewards) Verify(ctx context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	v, err := s.lottery.Verify(ctx, t, answer)
	if v.Rewarded() && t.Split == data.Train && s.hit() {
		v.Reward = math.NaN()
	}
	return v, err
}
