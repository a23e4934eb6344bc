package trainer

import (
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestConfigIsStrictAndNamesTheNearestKey(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"rolouts: 4", `unknown key "rolouts", did you mean "rollouts"?`},
		{"lr:\n  scedule: cosine", `unknown key "lr.scedule", did you mean "lr.schedule"?`},
		{"tasks: many", `tasks: "many" is not a whole number`},
		{"tasks: [1]", `tasks: a single value is needed`},
		{"role-tokens:\n  generator: x", `role-tokens.generator: "x" is not a whole number`},
		{"a: b: c", "not YAML"},
	} {
		cfg := clean()
		if err := cfg.Merge([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A number that is not finite would pass every check for a range, and a count
// below 0 would become the length of something.
func TestNumbersThatCantBeAreRefusedByName(t *testing.T) {
	s := reflect.ValueOf(&Config{}).Elem()
	for i := range s.NumField() {
		key := s.Type().Field(i).Tag.Get("key")
		values := map[reflect.Kind][]string{
			reflect.Int: {"-1", "-9223372036854775808"}, reflect.Float64: {"NaN", "+Inf", "-Inf"},
		}[s.Field(i).Kind()]
		if f := s.Field(i); f.Kind() == reflect.Map {
			key += ".generator"
			values = map[reflect.Kind][]string{reflect.Int: {"-1", "0"}, reflect.Float64: {"NaN", "-1"}, reflect.String: {"x"}}[f.Type().Elem().Kind()]
		}
		for _, value := range values {
			cfg := clean()
			if err := cfg.Set(key, value); err != nil {
				t.Fatal(err)
			}
			if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
				t.Errorf("%s=%s: error %v", key, value, err)
			}
		}
	}
	for _, kv := range []string{
		"clip=-1", "alpha=0", "alpha=-1", "grpo.epsilon=-1e-6", "temperature=0", "temperature=1e-60", "temperature=-1",
		"coherence.lambda=-1", "overlong.penalty=-1", "loss.clamp=-1", "log-calls=sometimes", "log-calls=0", "rank=0",
	} {
		key, value, _ := strings.Cut(kv, "=")
		cfg := clean()
		if err := cfg.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: error %v", kv, err)
		}
	}
	cfg := clean()
	cfg.CoherenceLambda, cfg.CoherenceWindow = 1, 0
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "coherence.window") {
		t.Errorf("a window of 0: error %v", err)
	}
}

// Deep nesting takes the YAML reader minutes, and no config of ours is deep.
func TestHostileConfigsAreRefusedAtOnce(t *testing.T) {
	for name, text := range map[string]string{
		"objects": strings.Repeat("{a: ", 100_000),
		"lists":   "lr: " + strings.Repeat("[", 100_000),
		"large":   "lr: 1 #" + strings.Repeat("x", 1<<20),
		"staircase": func() string {
			var b strings.Builder
			for i := range 1400 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"twice": "lr.warmup: 3\nlr:\n  warmup: 4\n",
	} {
		cfg := clean()
		start := time.Now()
		err := cfg.Merge([]byte(text))
		if err == nil || len(err.Error()) > 400 {
			t.Errorf("%s: error %.500v", name, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

func TestConfigReadsItsOwnText(t *testing.T) {
	a := paper()
	if err := a.Merge([]byte("seed: 18446744073709551615\nlr:\n  schedule: constant\n  warmup: 3\nrole-tokens.generator: 11\nanchor: {evaluator: 0.1}\nprompts: \"a: b\"")); err != nil {
		t.Fatal(err)
	}
	b := Config{}
	if err := b.Merge([]byte(a.String())); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || a.ID() != b.ID() {
		t.Errorf("changed on the way:\n%s\n%s", a.String(), b.String())
	}
}

func TestIDIgnoresPathsAndLogs(t *testing.T) {
	a, b := clean(), clean()
	b.DB, b.Out, b.Data, b.Model, b.LogCalls, b.CheckpointKeep = "x", "y", "z", "w", "none", 9
	if a.ID() != b.ID() {
		t.Error("paths or log options change the id")
	}
	for _, key := range []string{"seed", "data.sha256", "model.sha256", "fresh", "lr"} {
		c := clean()
		if err := c.Set(key, "7"); err != nil {
			t.Fatal(err)
		}
		if c.ID() == a.ID() {
			t.Errorf("%s does not change the id", key)
		}
	}
}

func TestVerlOverrides(t *testing.T) {
	c := clean()
	for _, kv := range []string{
		"actor_rollout_ref.rollout.n=4", "actor_rollout_ref.actor.ppo_mini_batch_size=8",
		"algorithm.norm_adv_by_std_in_grpo=False", "trainer.share_policy=false",
	} {
		k, v, _ := strings.Cut(kv, "=")
		if err := c.Set(k, v); err != nil {
			t.Fatal(kv, err)
		}
	}
	if c.Rollouts != 4 || c.MiniBatch != 32 || c.Estimator != "no-std" || c.Policy != "isolated" {
		t.Errorf("overrides gave %d %d %s %s", c.Rollouts, c.MiniBatch, c.Estimator, c.Policy)
	}
	var unknown *UnknownKeyError
	if err := c.Set("actor_rollout_ref.rollout.m", "4"); !errors.As(err, &unknown) || unknown.Nearest != "actor_rollout_ref.rollout.n" {
		t.Errorf("unknown override: %v", err)
	}
	if err := c.Set("actor_rollout_ref.actor.use_kl_loss", "true"); err == nil || !strings.Contains(err.Error(), "anchor.ROLE") {
		t.Errorf("refused override: %v", err)
	}
}

// reference/paper's accounting: 64 tasks x 8 rollouts, mini-batches of 512
// rows, learning rates per update call and unclamped.
func TestPaperProfile(t *testing.T) {
	c := paper()
	if c.Tasks*c.Rollouts != 512 || c.MiniBatch != 512 || c.ClipLow != .2 || c.ClipHigh != .28 || c.DualClip != 3 ||
		c.LR != 2e-5 || c.LRWarmup != 15 || c.Temperature != .7 || c.Rank != 64 || c.Alpha != 32 || c.Decay != .01 {
		t.Errorf("constants of the paper profile: %s", c.String())
	}
	s := c.schedule()
	for _, x := range []struct {
		iteration, roles int
		want             float64
	}{
		{5, 1, .33}, {15, 1, 1}, {50, 1, .99}, {100, 1, .93}, {250, 1, .52}, {400, 1, .10},
		{5, 2, .67}, {50, 2, .93}, {100, 2, .68}, {250, 2, 0}, {333, 2, .26}, {450, 2, .93}, {499, 2, 1},
		{50, 3, .82}, {100, 3, .36}, {167, 3, 0}, {250, 3, .52}, {333, 3, 1}, {400, 3, .59}, {499, 3, .01},
	} {
		if got := s.At(x.iteration*x.roles) / c.LR; math.Abs(got-x.want) > .0051 {
			t.Errorf("iteration %d with %d roles: rate %.3f, want %.2f", x.iteration, x.roles, got, x.want)
		}
	}
}

// The paper's profile differs from the clean one by these keys and by no other;
// docs/paper.md lists them.
func TestPaperDiffersByNamedKeys(t *testing.T) {
	want := map[string][2]string{ // paper, clean
		"profile":           {`"paper"`, `"clean"`},
		"chat":              {`"paper"`, `"auto"`},
		"max-tokens":        {"5120", "1024"},
		"parse.defaults":    {"true", "false"},
		"lr.step":           {`"call"`, `"iteration"`},
		"lr.clamp":          {"false", "true"},
		"lr.from-zero":      {"true", "false"},
		"grpo.group":        {`"paper"`, `"task×role"`},
		"grpo.singleton":    {`"raw"`, `"zero"`},
		"minibatch.partial": {`"downweight"`, `"renormalise"`},
		"minibatch.order":   {`"length"`, `"shuffle"`},
	}
	text, err := os.ReadFile("../docs/paper.md")
	if err != nil {
		t.Fatal(err)
	}
	a, b := paper(), clean()
	ours, theirs := strings.Split(a.String(), "\n"), strings.Split(b.String(), "\n")
	if len(ours) != len(theirs) {
		t.Fatalf("%d keys against %d", len(ours), len(theirs))
	}
	for i, line := range ours {
		key, value, _ := strings.Cut(line, ": ")
		_, other, _ := strings.Cut(theirs[i], ": ")
		if w, listed := want[key]; listed != (line != theirs[i]) || listed && w != [2]string{value, other} {
			t.Errorf("%s is %s in paper and %s in clean, want %v", key, value, other, w)
		}
		if _, listed := want[key]; listed && !strings.Contains(string(text), "`"+key) {
			t.Errorf("docs/paper.md says nothing of %s", key)
		}
	}
}

func FuzzMerge(f *testing.F) {
	small := clean()
	f.Add([]byte(small.String()))
	f.Add([]byte("lr:\n  warmup: 3\nrole-tokens: {generator: 5}\nanchor.evaluator: 1e-3\n"))
	f.Add([]byte("actor_rollout_ref:\n  rollout:\n    n: 4\n"))
	f.Add([]byte("a: &a {lr: 1}\nb: *a\n<<: *a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := clean()
		if c.Merge(text) != nil || c.Validate() != nil {
			return
		}
		var again Config
		if err := again.Merge([]byte(c.String())); err != nil || again.String() != c.String() {
			t.Fatalf("a config that was accepted is read otherwise: %v\n%s\n%s", err, c.String(), again.String())
		}
	})
}
