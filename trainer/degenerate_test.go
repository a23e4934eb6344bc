package trainer

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"troupe/data"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// always gives every answer the same verdict.
type always verdict.Verdict

func (a always) Verify(context.Context, data.Task, string) (verdict.Verdict, error) {
	return verdict.Verdict(a), nil
}

// planner writes the same text whatever was sampled.
type planner struct {
	letters
	text string
}

func (p planner) Text([]int32) string { return p.text }

// logged is what a test wants to know of a run's rows.
type logged struct {
	steps  map[string]string // metric@iteration
	roles  map[string]string // role metric@iteration
	events []string          // kind@iteration
	evals  []string          // accuracies
}

func read(t *testing.T, w *world) logged {
	t.Helper()
	l := logged{steps: map[string]string{}, roles: map[string]string{}}
	for _, r := range w.rows(t) {
		f := strings.Split(strings.ReplaceAll(r, "'", ""), "|")
		switch f[0] {
		case "steps":
			l.steps[f[3]+"@"+f[2]] = f[4]
		case "role_steps":
			l.roles[f[3]+" "+f[5]+"@"+f[2]] = f[6]
		case "events":
			l.events = append(l.events, f[4]+"@"+f[2])
		case "evals":
			l.evals = append(l.evals, f[6])
		}
	}
	return l
}

func (l *logged) has(event string) bool {
	for _, e := range l.events {
		if strings.HasPrefix(e, event) {
			return true
		}
	}
	return false
}

// What can't teach, or can't even be judged, is defined and logged, never a
// crash and never a zero that looks like a measurement.
func TestDegenerateRunsAreDefined(t *testing.T) {
	right, wrong := always{Code: verdict.AC, Reward: 1}, always{Code: verdict.WA}
	play := func(v workflow.Verifier, enc Encoder, change ...string) (*world, logged) {
		cfg := smallConfig(append([]string{"iterations=3", "adam.decay=0", "eval.every=1", "metrics.every=1", "metrics.tasks=4"}, change...)...)
		w := newWorld(t, t.TempDir(), cfg, func(p *Parts) {
			p.Verifier = v
			if enc != nil {
				p.Encoder = enc
			}
		})
		w.play(t)
		return w, read(t, w)
	}
	untouched := newWorld(t, t.TempDir(), smallConfig(), nil)
	untouched.db.Close()
	base := values(untouched)

	t.Run("all rewards equal", func(t *testing.T) {
		w, l := play(right, nil)
		if values(w) != base {
			t.Error("rewards that are all equal moved the weights")
		}
		if l.steps["batch/solve_all@2"] != "1.0" || l.roles["generator batch/fractions/too_easy@2"] != "1.0" || l.roles["generator actor/rows_taught@2"] != "0.0" {
			t.Errorf("logged %v", l.steps)
		}
	})
	t.Run("no answer is right", func(t *testing.T) {
		w, l := play(wrong, nil)
		if values(w) != base || !l.has("reward_zero@1") || l.steps["critic/rewards/mean@1"] != "0.0" {
			t.Errorf("events %v", l.events)
		}
	})
	t.Run("no answer at all", func(t *testing.T) {
		if _, l := play(always{Code: verdict.NA}, nil, "parse.defaults=false"); l.steps["verify/NA@1"] != "16.0" || !l.has("unparsed@1") {
			t.Errorf("%v %v", l.steps["verify/NA@1"], l.events)
		}
	})
	t.Run("all truncated", func(t *testing.T) {
		w, l := play(lottery{}, endless{}, "overlong=drop", "max-tokens=3")
		if values(w) != base || l.roles["generator response_length/clip_ratio@1"] != "1.0" || l.roles["generator actor/rows@1"] != "" {
			t.Errorf("rows %q, cut %q", l.roles["generator actor/rows@1"], l.roles["generator response_length/clip_ratio@1"])
		}
	})
	t.Run("a role that is never called", func(t *testing.T) {
		_, l := play(lottery{}, nil, "workflow=orch", "parse.defaults=false")
		if l.roles["worker calls@1"] != "0.0" || l.roles["orchestrator calls@1"] != "16.0" {
			t.Errorf("calls %v, %v", l.roles["worker calls@1"], l.roles["orchestrator calls@1"])
		}
	})
	for n, want := range map[string]string{"none": "0.0", "seven": "48.0", "seven, ended": "0.0"} {
		t.Run("strategies: "+n, func(t *testing.T) {
			text, overflow := "", "truncate"
			if n != "none" {
				for k := range 7 {
					text += fmt.Sprintf("STRATEGY %d: way %d\n", k+1, k)
				}
			}
			if n == "seven, ended" {
				overflow = "end"
			}
			_, l := play(lottery{}, planner{text: text}, "workflow=orch", "parse.defaults=false", "orch.overflow="+overflow)
			if got := l.roles["worker calls@1"]; got != want {
				t.Errorf("%s worker calls, want %s", got, want)
			}
		})
	}
	t.Run("a whole group can't be judged", func(t *testing.T) {
		partly := verifyFunc(func(task data.Task, answer string) verdict.Verdict {
			if task.ID[len(task.ID)-1]%2 == 0 {
				return verdict.Verdict{Code: verdict.IE, Reason: "no guest", Reward: 7}
			}
			if len(answer)%2 == 0 {
				return verdict.Verdict{Code: verdict.AC, Reward: 1}
			}
			return verdict.Verdict{Code: verdict.WA}
		})
		w, l := play(partly, nil, "tasks=8")
		if values(w) == base {
			t.Error("the groups that were judged taught nothing")
		}
		var judged, right, failed float64
		for _, r := range w.rows(t) {
			if f := strings.Split(strings.ReplaceAll(r, "'", ""), "|"); f[0] == "episodes" && f[2] == "1" && f[3] == "train" {
				switch f[8] {
				case "IE":
					failed++
				case "AC":
					right++
					fallthrough
				default:
					judged++
				}
			}
		}
		if failed == 0 || judged == 0 || l.steps["verify/IE@1"] != fmt.Sprintf("%.1f", failed) {
			t.Errorf("%v failed, %v judged, logged %s", failed, judged, l.steps["verify/IE@1"])
		}
		var mean float64
		fmt.Sscan(l.steps["critic/rewards/mean@1"], &mean)
		if math.Abs(mean-right/judged) > 1e-12 {
			t.Errorf("mean reward %v, want %v of %v", mean, right, judged)
		}
	})
	t.Run("nothing can be judged", func(t *testing.T) {
		w, l := play(always{Code: verdict.IE, Reason: "no guest"}, nil)
		if values(w) != base || !l.has("infrastructure@1") || l.has("reward_zero") || l.steps["critic/rewards/mean@1"] != "" {
			t.Errorf("events %v, rewards %q", l.events, l.steps["critic/rewards/mean@1"])
		}
		if len(l.evals) != 4 || l.evals[0] != "NULL" {
			t.Errorf("accuracies %v", l.evals)
		}
	})
}

// endless never knows an end token.
type endless struct{ letters }

func (endless) Stop() []int32 { return nil }

// values is the weights of all sets as text.
func values(w *world) string {
	var b strings.Builder
	for _, name := range w.t.setNames {
		fmt.Fprint(&b, w.t.sets[name].Values())
	}
	return b.String()
}

func TestDynamicSampling(t *testing.T) {
	// A third of the tasks can't be got wrong: those never teach.
	partly := verifyFunc(func(task data.Task, answer string) verdict.Verdict {
		if task.ID[len(task.ID)-1]%3 == 0 {
			return verdict.Verdict{Code: verdict.AC, Reward: 1}
		}
		v, _ := lottery{}.Verify(context.Background(), task, answer)
		return v
	})
	cfg := smallConfig("sampling.dynamic=true", "iterations=4", "eval.every=0")
	w := newWorld(t, t.TempDir(), cfg, func(p *Parts) { p.Verifier = partly }).play(t)
	l := read(t, w)
	more := false
	for it := 1; it <= 4; it++ {
		if got := l.steps[fmt.Sprintf("batch/groups_used@%d", it)]; got != "4.0" {
			t.Errorf("iteration %d trains on %s groups, want 4", it, got)
		}
		more = more || l.steps[fmt.Sprintf("batch/generations@%d", it)] > "1.0"
		if got := l.roles[fmt.Sprintf("generator batch/fractions/effective@%d", it)]; got != "1.0" {
			t.Errorf("iteration %d: %s of the groups teach", it, got)
		}
	}
	if !more {
		t.Error("one generation was always enough: the test shows nothing")
	}
	none := newWorld(t, t.TempDir(), cfg, func(p *Parts) { p.Verifier = always{Code: verdict.WA} }).play(t)
	if l := read(t, none); !l.has("dynamic_sampling@1") {
		t.Errorf("events %v", l.events)
	}
}

type verifyFunc func(data.Task, string) verdict.Verdict

func (f verifyFunc) Verify(_ context.Context, t data.Task, answer string) (verdict.Verdict, error) {
	return f(t, answer), nil
}

// Which tasks come next under dynamic sampling is part of a checkpoint.
func TestDynamicSamplingResumes(t *testing.T) {
	cfg := smallConfig("sampling.dynamic=true", "eval.every=0")
	whole := newWorld(t, t.TempDir(), cfg, nil).play(t)
	dir := t.TempDir()
	first := newWorld(t, dir, cfg, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first.t.parts.Report = func(p Progress) {
		if p.Iteration == 3 {
			cancel()
		}
	}
	if err := first.t.Run(ctx); err == nil {
		t.Fatal("it was not stopped")
	}
	first.db.Close()
	second := newWorld(t, dir, cfg, nil).play(t)
	if second.weights() != whole.weights() {
		t.Error("weights differ after a stop")
	}
	sameRows(t, whole.rows(t), second.rows(t))
}
