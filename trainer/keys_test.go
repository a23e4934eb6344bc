package trainer

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"troupe/data"
	"troupe/verifier/verdict"
)

// What a key changes.
const (
	learns  = "weights" // what is learnt
	logs    = "rows"    // what is measured or logged, and nothing that is learnt
	differs = "id"      // the run is another one; the command reads it
	nothing = "nothing" // a place on this machine, or how much is kept there
)

// keyCase is a setting that a key can be given, and what has to change then.
type keyCase struct {
	key, value string
	with       string // settings of both runs, without which the key has nothing to act on
	changes    string
	world      string // of worlds; empty: the small world
}

// Every key changes what it says: two runs of the small world differ by it, in
// what is learnt or in what is logged. A key without a case here fails.
func TestEveryKeyChangesWhatItSays(t *testing.T) {
	covered := map[string]bool{}
	runs := map[string]*effect{} // runs to compare with, by their settings
	for i, c := range keyCases() {
		covered[strings.SplitN(c.key, ".ROLE", 2)[0]] = true
		key := strings.Replace(c.key, "ROLE", "generator", 1)
		t.Run(fmt.Sprintf("%s=%s", key, c.value), func(t *testing.T) {
			if testing.Short() && i%4 != 0 {
				t.Skip("one in four in short tests")
			}
			name := c.with + " in " + c.world
			before := runs[name]
			if before == nil {
				before = playWith(t, c, nil)
				runs[name] = before
			}
			after := playWith(t, c, []string{key + "=" + c.value})
			for _, x := range []struct {
				what string
				got  bool
				want bool
			}{
				{"the id", before.id != after.id, c.changes != nothing && !keptOut(c.key)},
				{"the weights", before.weights != after.weights, c.changes == learns},
				{"the rows", !slices.Equal(before.rows, after.rows), c.changes == learns || c.changes == logs},
			} {
				if x.got != x.want {
					t.Errorf("%s changed: %v, want %v", x.what, x.got, x.want)
				}
			}
		})
	}
	for _, key := range Keys() {
		if !covered[key] {
			t.Errorf("no case for the key %s", key)
		}
	}
}

// keptOut reports whether a key is no part of a run's identity.
func keptOut(key string) bool {
	c := clean()
	before := c.ID()
	if err := c.Set(key, cmp.Or(map[string]string{"log-calls": "none", "checkpoint.keep": "7", "ends": "3"}[key], "elsewhere")); err != nil {
		return false
	}
	return c.ID() == before
}

// effect is what a run did.
type effect struct {
	id, weights string
	rows        []string
}

func playWith(t *testing.T, c keyCase, change []string) *effect {
	t.Helper()
	settings := []string{"iterations=3", "eval.every=0", "metrics.every=0"}
	if c.with != "" {
		settings = append(settings, strings.Fields(c.with)...)
	}
	cfg := smallConfig(append(settings, change...)...)
	w := newWorld(t, t.TempDir(), cfg, worlds[c.world])
	w.play(t)
	e := &effect{id: cfg.ID(), weights: w.weights()}
	for _, r := range w.rows(t) {
		if !strings.HasPrefix(r, "runs|") && !strings.HasPrefix(r, "checkpoints|") {
			e.rows = append(e.rows, strings.ReplaceAll(r, cfg.ID(), "RUN"))
		}
	}
	if key, _, _ := strings.Cut(strings.Join(change, ""), "="); key == "checkpoint.keep" || key == "checkpoint.every" {
		folders, err := os.ReadDir(w.cfg.Out)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"checkpoint.keep": 1, "checkpoint.every": 2}[key]
		if len(folders) != want {
			t.Errorf("%d checkpoints are left, want %d", len(folders), want)
		}
	}
	return e
}

// worlds are changes of the small world that some keys need.
var worlds = map[string]func(*Parts){
	"loud": func(p *Parts) {
		p.Encoder = planner{text: "STRATEGY 1: a\nSTRATEGY 2: b\nSTRATEGY 3: c\nSTRATEGY 4: d"}
	},
	"digit": func(p *Parts) { p.Encoder = planner{text: "2"} },
	"deaf":  func(p *Parts) { p.Verifier = always{Code: verdict.WA} },
	"halved": func(p *Parts) { // half of the held-out tasks are for development
		p.Tasks = smallTasks()
		for i := range 4 {
			p.Tasks[16+i].Split = data.Dev
		}
	},
}

func keyCases() []keyCase {
	const cosine, lora, far = "lr.schedule=cosine iterations=4", "params=lora rank=2", "lr=0.05 epochs=3"
	return slices.Concat([]keyCase{
		// What is trained, on what, and with how much of it.
		{key: "workflow", value: "single", changes: learns},
		{key: "policy", value: "shared", changes: learns},
		{key: "seed", value: "2", changes: learns},
		{key: "iterations", value: "4", changes: learns},
		{key: "tasks", value: "5", changes: learns},
		{key: "rollouts", value: "5", changes: learns},
		{key: "temperature", value: "0.5", changes: learns},
		{key: "max-tokens", value: "5", changes: learns},
		{key: "role-tokens.ROLE", value: "3", changes: learns},
		{key: "budget", value: "1ns", changes: learns},
		{key: "ends", value: "1", with: "budget=9h", changes: learns},
		{key: "voting.voters", value: "2", changes: learns},
		{key: "evalopt.evaluations", value: "1", with: "workflow=evalopt", changes: learns},
		{key: "orch.workers", value: "2", with: "workflow=orch", changes: learns, world: "loud"},
		{key: "orch.overflow", value: "end", with: "workflow=orch", changes: learns, world: "loud"},
		{key: "parse.defaults", value: "false", changes: learns},
		{key: "parse.fallback", value: "false", with: "parse.defaults=false", changes: logs, world: "digit"},
		{key: "params", value: "lora", with: "rank=2", changes: learns},
		{key: "rank", value: "3", with: lora, changes: learns},
		{key: "alpha", value: "8", with: lora, changes: learns},
		{key: "policy.alternate", value: "1", changes: learns},
		{key: "sampling.dynamic", value: "true", with: "rollouts=2", changes: learns},
		{key: "sampling.generations", value: "1", with: "sampling.dynamic=true", changes: logs, world: "deaf"},
	}, []keyCase{
		// How it is updated.
		{key: "lr", value: "0.02", changes: learns},
		{key: "lr.schedule", value: "linear", changes: learns},
		{key: "lr.warmup", value: "2", changes: learns},
		{key: "lr.total", value: "9", with: cosine, changes: learns},
		{key: "lr.step", value: "call", with: cosine, changes: learns},
		{key: "lr.clamp", value: "false", with: cosine + " lr.total=2", changes: learns},
		{key: "lr.from-zero", value: "true", with: "lr.warmup=2", changes: learns},
		{key: "adam.beta1", value: "0.5", changes: learns},
		{key: "adam.beta2", value: "0.9", changes: learns},
		{key: "adam.eps", value: "0.1", changes: learns},
		{key: "adam.decay", value: "0.5", changes: learns},
		{key: "clip", value: "0.01", changes: learns},
		{key: "grpo.estimator", value: "rloo", changes: learns},
		{key: "grpo.estimators.ROLE", value: "no-std", changes: learns},
		{key: "grpo.group", value: "task", changes: learns},
		{key: "grpo.epsilon", value: "0.5", changes: learns},
		{key: "grpo.singleton", value: "raw", with: "rollouts=1", changes: learns},
		{key: "grpo.shuffle", value: "true", changes: learns},
		{key: "loss", value: "gspo", with: far, changes: learns},
		{key: "loss.clip-low", value: "0.05", with: far, changes: learns},
		{key: "loss.clip-high", value: "0.05", with: far, changes: learns},
		{key: "loss.dual-clip", value: "1.1", with: far, changes: learns},
		{key: "loss.cap", value: "1.1", with: far + " loss=cispo", changes: learns},
		{key: "loss.clamp", value: "0.1", with: far, changes: learns},
		{key: "loss.aggregation", value: "token-mean", changes: learns},
		{key: "loss.entropy", value: "0.1", changes: learns},
		{key: "minibatch", value: "0", changes: learns},
		{key: "minibatch.partial", value: "downweight", changes: learns},
		{key: "minibatch.order", value: "length", changes: learns},
		{key: "epochs", value: "2", changes: learns},
		{key: "overlong", value: "drop", with: "max-tokens=3", changes: learns},
		{key: "overlong.penalty", value: "0.5", with: "overlong.buffer=8 max-tokens=16", changes: learns},
		{key: "overlong.buffer", value: "4", with: "overlong.buffer=8 overlong.penalty=0.5 max-tokens=16", changes: learns},
		{key: "anchor.ROLE", value: "0.5", changes: learns},
		{key: "coherence.lambda", value: "0.5", changes: learns},
		{key: "coherence.window", value: "2", with: "coherence.lambda=0.5", changes: learns},
	}, []keyCase{
		// What is measured and kept.
		{key: "eval.every", value: "1", changes: logs},
		{key: "eval.n", value: "4", changes: logs},
		{key: "eval.greedy", value: "true", changes: logs},
		{key: "eval.split", value: "dev", changes: logs, world: "halved"},
		{key: "metrics.every", value: "1", with: "metrics.tasks=2", changes: logs},
		{key: "metrics.tasks", value: "3", with: "metrics.every=1", changes: logs},
		{key: "metrics.parts", value: "2", changes: learns}, // in its last bits, by another order of sums
		{key: "log-calls", value: "none", changes: logs},
		{key: "checkpoint.every", value: "1", changes: differs},
		{key: "checkpoint.keep", value: "1", with: "checkpoint.every=1", changes: nothing},
		// What the command reads before there is a trainer.
		{key: "profile", value: "other", changes: differs},
		{key: "task", value: "other", changes: differs},
		{key: "chat", value: "chatml", changes: differs},
		{key: "chat.thinking", value: "true", changes: differs},
		{key: "numerics", value: "f32", changes: differs},
		{key: "model.sha256", value: "1", changes: differs},
		{key: "data.sha256", value: "1", changes: differs},
		{key: "prompts.sha256", value: "1", changes: differs},
		{key: "fresh", value: "1", changes: differs},
		{key: "model", value: "elsewhere", changes: nothing},
		{key: "data", value: "elsewhere", changes: nothing},
		{key: "prompts", value: "elsewhere", changes: nothing},
		{key: "db", value: "elsewhere", changes: nothing},
		{key: "out", value: "elsewhere", changes: nothing},
	})
}
