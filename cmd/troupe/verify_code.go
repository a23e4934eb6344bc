package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"

	"troupe/data"
	"troupe/sandbox"
	"troupe/verifier"
	"troupe/verifier/code"
	"troupe/verifier/verdict"
)

type verifyCodeCmd struct {
	verifyFlags
	Profile   string  `name:"profile" default:"strict" enum:"strict,lcb" help:"strict: as a contest judge. lcb: as LiveCodeBench (exit code ignored, Python's Decimal for numbers, common imports added)."`
	FloatTol  float64 `name:"float-tol" placeholder:"EPS" help:"Numbers may differ by this much, absolutely or relatively."`
	Unordered bool    `name:"unordered" help:"Lines (or elements of a returned list) may come in any order."`
	AllTests  bool    `name:"all-tests" help:"Run every test instead of stopping at the first that fails, so that score is the share passed."`
	Unclosed  bool    `name:"unclosed" help:"Accept a reply's last code block even if its fence is never closed."`
	SkipThink bool    `name:"skip-think" help:"Look for code only after </think>."`
	limitFlags
	guestFlags
}

// Help is shown by `troupe verify code --help`.
func (verifyCodeCmd) Help() string {
	return `Reads one JSON object a line:
  {"id": "1", "answer": "a reply with a ` + "```python" + ` block", "tests": [{"input": "2 3\n", "output": "5\n"}]}
"program" in place of "answer" is source as it is. With "fn_name" that function is called: "input" is a list of arguments or text with one JSON value a line, "output" the JSON result. A test {"assert": "statements"} runs after the program. Also known: "limits" {"time_s", "memory_mb", "output_kb"}, "profile", "checker", "float_tol", "unordered", and the test shapes of DeepCoder, LiveCodeBench, TACO and APPS.

Writes one JSON object a line, in the same order: verdict (AC WA RE TLE MLE OLE CE NA IE), reward (1, 0 or null), score, and each test's verdict, time, fuel and output. The summary goes to standard error. Exit code 3 if a record was bad; its verdict is IE and names the line.`
}

// codeInput is a record of `verify code`.
type codeInput struct {
	ID       recordID        `json:"id"`
	Answer   *string         `json:"answer"`
	Program  *string         `json:"program"`
	Tests    json.RawMessage `json:"tests"`
	FnName   string          `json:"fn_name"`
	Checker  string          `json:"checker"`
	Profile  string          `json:"profile"`
	FloatTol *float64        `json:"float_tol"`
	// Unordered is a pointer so that false can override the flag.
	Unordered *bool `json:"unordered"`
	Limits    struct {
		TimeS    float64 `json:"time_s"`
		MemoryMB int     `json:"memory_mb"`
		OutputKB int     `json:"output_kb"`
	} `json:"limits"`
}

// codeOutput is the record of its verdict.
type codeOutput struct {
	ID      string       `json:"id"`
	Verdict verdict.Code `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
	Reward  *float64     `json:"reward"`
	Score   float64      `json:"score"`
	Passed  int          `json:"passed"`
	Total   int          `json:"total"`
	Trust   string       `json:"trust"`
	Guest   string       `json:"guest"`
	Tests   []testOutput `json:"tests"`
}

type testOutput struct {
	Verdict verdict.Code `json:"verdict"`
	TimeS   float64      `json:"time_s"`
	Fuel    uint64       `json:"fuel"`
	Stdout  string       `json:"stdout"`
	Stderr  string       `json:"stderr"`
	Detail  string       `json:"detail"`
}

// Run judges the records.
func (c *verifyCodeCmd) Run(env *environment) error {
	if err := c.check(); err != nil {
		return err
	}
	if !(c.FloatTol >= 0) || math.IsInf(c.FloatTol, 0) || c.Workers < 0 {
		return usagef("--float-tol and --workers must be numbers of 0 or more")
	}
	tasks, err := readTasks(env.Ctx, c.Data, data.Code)
	if err != nil {
		return err
	}
	in, err := c.open(env)
	if err != nil {
		return err
	}
	defer in.Close()
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	pool, err := openSandbox(env, c.guestFlags, workers)
	if err != nil {
		return err
	}
	defer pool.Close()
	log, err := openVerdictLog(env, c.DB, data.Code, c.config(pool))
	if err != nil {
		return err
	}
	j := &codeJudge{cmd: c, tasks: tasks, pool: pool, judge: verifier.New(verifier.Options{Pool: pool, Code: c.options()})}
	s := &stream{env: env, what: "programs", workers: workers, judge: j.line, bad: j.bad, store: log}
	return s.run(in)
}

func (c *verifyCodeCmd) options() code.Options {
	return code.Options{
		Comparison: code.Comparison{Profile: code.Profile(c.Profile), FloatTol: c.FloatTol, Unordered: c.Unordered},
		Extraction: code.Extraction{Unclosed: c.Unclosed, SkipThink: c.SkipThink},
		AllTests:   c.AllTests,
		Limits:     data.Limits{TimeS: c.TimeS, MemoryMB: c.MemoryMB, OutputKB: c.OutputKB},
	}
}

// config is what a run of verdicts in the store says of itself.
func (c *verifyCodeCmd) config(pool *sandbox.Pool) map[string]any {
	return map[string]any{"kind": data.Code, "options": c.options(), "guest": pool.Guest()}
}

// codeJudge judges lines of `verify code`.
type codeJudge struct {
	cmd   *verifyCodeCmd
	tasks map[string]data.Task // of --data; nil without it
	pool  *sandbox.Pool
	judge *verifier.Judge
	most  *data.Limits // that a record may ask for; nil: any
}

// line judges one line. The error is of the sandbox or of ctx, not of the line.
func (j *codeJudge) line(ctx context.Context, n int, raw []byte) (judgement, error) {
	var in codeInput
	if err := data.Unmarshal(raw, &in); err != nil {
		return j.bad(n, fmt.Sprintf("line %d: %v", n, err)), nil
	}
	it, err := j.item(in)
	if err != nil {
		bad := j.verdict(string(in.ID), code.Refused(fmt.Sprintf("line %d: %v", n, err)))
		return bad, nil
	}
	if why := code.Check(it.Task); why != "" {
		return j.verdict(string(in.ID), code.Refused(fmt.Sprintf("line %d: %s", n, why))), nil
	}
	v, err := j.judge.One(ctx, it)
	if err != nil {
		return judgement{}, err
	}
	return j.verdict(string(in.ID), v), nil
}

// item is the question that a record asks.
func (j *codeJudge) item(in codeInput) (verifier.Item, error) {
	it := verifier.Item{Task: data.Task{ID: string(in.ID), Kind: data.Code}}
	switch {
	case in.Answer != nil && in.Program != nil:
		return it, errors.New("both answer and program")
	case in.Answer != nil:
		it.Answer = *in.Answer
	case in.Program != nil:
		it.Answer, it.Source = *in.Program, true
	default:
		return it, errors.New("neither answer nor program")
	}
	var err error
	if task, known := j.tasks[string(in.ID)]; known && len(in.Tests) == 0 {
		it.Task = task
	} else if j.tasks != nil && len(in.Tests) == 0 {
		return it, fmt.Errorf("no task %q in %s", in.ID, j.cmd.Data)
	} else if it.Task.Tests, it.Task.Fn, err = data.ParseTests(in.Tests, in.FnName); err != nil {
		return it, err
	}
	if in.Checker != "" {
		it.Task.Checker = in.Checker
	}
	l := in.Limits
	if l.TimeS < 0 || l.MemoryMB < 0 || l.OutputKB < 0 {
		return it, errors.New("a limit is negative")
	}
	if l.TimeS != 0 || l.MemoryMB != 0 || l.OutputKB != 0 {
		it.Task.Limits = data.Limits{TimeS: l.TimeS, MemoryMB: l.MemoryMB, OutputKB: l.OutputKB}
	}
	if m := j.most; m != nil {
		l := &it.Task.Limits
		l.TimeS, l.MemoryMB, l.OutputKB = min(l.TimeS, m.TimeS), min(l.MemoryMB, m.MemoryMB), min(l.OutputKB, m.OutputKB)
	}
	o := j.cmd.options()
	it.Options = &o
	return it, in.override(&o)
}

// override puts a record's own options over those of the flags.
func (in codeInput) override(o *code.Options) error {
	switch code.Profile(in.Profile) {
	case "":
	case code.Strict, code.LCB:
		o.Profile = code.Profile(in.Profile)
	default:
		return fmt.Errorf("profile %q is neither strict nor lcb", in.Profile)
	}
	if in.FloatTol != nil {
		if *in.FloatTol < 0 {
			return errors.New("float_tol is negative")
		}
		o.FloatTol = *in.FloatTol
	}
	if in.Unordered != nil {
		o.Unordered = *in.Unordered
	}
	return nil
}

func (j *codeJudge) bad(n int, why string) judgement { return j.verdict("", code.Refused(why)) }

// verdict is the output record of a verdict.
func (j *codeJudge) verdict(id string, v verdict.Verdict) judgement {
	out := codeOutput{ID: id, Verdict: v.Code, Reason: v.Reason, Score: v.Score(), Passed: v.Passed, Total: v.Total,
		Trust: string(v.Trust), Guest: j.pool.Guest(), Tests: []testOutput{}}
	out.Guest = out.Guest[:min(12, len(out.Guest))]
	if v.Rewarded() {
		out.Reward = &v.Reward
	}
	for _, t := range v.Tests {
		out.Tests = append(out.Tests, testOutput{t.Code, t.TimeS, t.Fuel, t.Stdout, t.Stderr, t.Detail})
	}
	return judgement{out: out, id: id, v: v, word: string(v.Code)}
}
