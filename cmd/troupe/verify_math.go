package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"troupe/data"
	"troupe/sandbox"
	"troupe/verifier"
	"troupe/verifier/mathans"
	"troupe/verifier/verdict"
)

type verifyMathCmd struct {
	verifyFlags
	Mode          string `name:"mode" default:"math" enum:"math,dapo" help:"math: exact engine. dapo: the scorer of the DAPO data set, quirks included."`
	DAPOVersion   string `name:"dapo-version" default:"january" enum:"january,august,strict-box" help:"The scorer of January 2026, which sees only Answer: lines; of August, which falls back to a box; or the one that sees only a box."`
	StrictInteger bool   `name:"strict-integer" help:"Where the gold answer is an integer, accept only a number written out."`
}

// Help is shown by `troupe verify math --help`.
func (verifyMathCmd) Help() string {
	return `Reads one JSON object a line: {"id": "1", "gold": "\\frac12", "answer": "a reply with \\boxed{0.5}"}

Writes one JSON object a line, in the same order: verdict (equal, unequal, undecided, no_answer, bad_gold, bad_record), reward (1, 0, -1 in dapo mode, or null), the answer that was found and the rule that decided. Exit code 3 if a record was bad.`
}

var dapoVersions = map[string]mathans.DAPOVersion{"january": mathans.DAPOJanuary, "august": mathans.DAPOAugust, "strict-box": mathans.DAPOStrictBox}

type mathInput struct {
	ID     recordID `json:"id"`
	Gold   *string  `json:"gold"`
	Answer *string  `json:"answer"`
}

type mathOutput struct {
	ID        string   `json:"id"`
	Verdict   string   `json:"verdict"`
	Reward    *float64 `json:"reward"`
	Extracted string   `json:"extracted,omitempty"`
	Rule      string   `json:"rule"`
}

// Run judges the records.
func (c *verifyMathCmd) Run(env *environment) error {
	if c.Workers < 0 {
		return usagef("--workers must be 0 or more")
	}
	tasks, err := readTasks(env.Ctx, c.Data, data.Math)
	if err != nil {
		return err
	}
	in, err := c.open(env)
	if err != nil {
		return err
	}
	defer in.Close()
	log, err := openVerdictLog(env, c.DB, data.Math, map[string]any{
		"kind": data.Math, "mode": c.Mode, "dapo_version": c.DAPOVersion, "strict_integer": c.StrictInteger})
	if err != nil {
		return err
	}
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	pool, err := sandbox.Open(env.Ctx, sandbox.Options{Workers: workers, Cache: env.Cache, Modules: true,
		Log: func(format string, args ...any) { fmt.Fprintf(env.Stderr, "troupe: "+format+"\n", args...) }})
	if err != nil {
		return err
	}
	defer pool.Close()
	engine, err := verifier.NewMathGuest(pool)
	if err != nil {
		return err
	}
	j := &mathJudge{cmd: c, tasks: tasks, engine: engine}
	// What waits while a worker judges makes up its next batch, so many answers
	// are on their way at once.
	s := &stream{env: env, what: "answers", workers: 256 * workers, judge: j.line, bad: j.bad, store: log}
	return s.run(in)
}

// mathJudge judges lines of `verify math`.
type mathJudge struct {
	cmd    *verifyMathCmd
	tasks  map[string]data.Task
	engine *verifier.MathGuest
}

func (j *mathJudge) line(ctx context.Context, n int, raw []byte) (judgement, error) {
	var in mathInput
	if err := data.Unmarshal(raw, &in); err != nil {
		return j.bad(n, fmt.Sprintf("line %d: %v", n, err)), nil
	}
	gold, err := j.gold(in)
	if err == nil && in.Answer == nil {
		err = errors.New("no answer")
	}
	if err != nil {
		return j.refused(string(in.ID), fmt.Sprintf("line %d: %v", n, err)), nil
	}
	if j.cmd.Mode == "dapo" {
		return dapoJudgement(string(in.ID), mathans.DAPO(gold, *in.Answer, dapoVersions[j.cmd.DAPOVersion])), nil
	}
	r, err := j.engine.Judge(ctx, gold, *in.Answer, mathans.Options{StrictInteger: j.cmd.StrictInteger})
	if err != nil {
		return judgement{}, err
	}
	return mathJudgement(string(in.ID), r), nil
}

// gold is the record's right answer, its own or its task's.
func (j *mathJudge) gold(in mathInput) (string, error) {
	if in.Gold != nil {
		return *in.Gold, nil
	}
	if j.tasks == nil {
		return "", errors.New("no gold")
	}
	t, ok := j.tasks[string(in.ID)]
	if !ok {
		return "", fmt.Errorf("no task %q in %s", in.ID, j.cmd.Data)
	}
	return t.Gold, nil
}

func (j *mathJudge) bad(n int, why string) judgement { return j.refused("", why) }

func (j *mathJudge) refused(id, why string) judgement {
	return judgement{id: id, word: "bad_record",
		out: mathOutput{ID: id, Verdict: "bad_record", Rule: why},
		v:   verdict.Verdict{Code: verdict.IE, Reason: why}}
}

func mathJudgement(id string, r mathans.Result) judgement {
	out := mathOutput{ID: id, Verdict: string(r.Outcome), Extracted: r.Extracted, Rule: r.Rule}
	v := verdict.Verdict{Code: verdict.WA, Reason: r.Rule, Total: 1, Trust: verdict.Host}
	switch r.Outcome {
	case mathans.Equal:
		v.Code, v.Reward, v.Passed = verdict.AC, 1, 1
	case mathans.Undecided:
		v.Reason = "undecided"
	case mathans.NoAnswer:
		v.Code = verdict.NA
	case mathans.BadGold:
		v.Code = verdict.IE
	}
	if v.Rewarded() {
		out.Reward = &v.Reward
	}
	return judgement{out: out, id: id, v: v, word: out.Verdict}
}

func dapoJudgement(id string, s mathans.DAPOScore) judgement {
	out := mathOutput{ID: id, Verdict: "unequal", Reward: &s.Score, Extracted: s.Pred, Rule: "dapo"}
	v := verdict.Verdict{Code: verdict.WA, Reason: "dapo", Reward: s.Score, Total: 1, Trust: verdict.Host}
	switch {
	case s.Correct:
		out.Verdict, v.Code, v.Passed = "equal", verdict.AC, 1
	case !s.Found:
		out.Verdict, out.Extracted, v.Code = "no_answer", "", verdict.NA
	}
	return judgement{out: out, id: id, v: v, word: out.Verdict}
}
