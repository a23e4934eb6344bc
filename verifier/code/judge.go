package code

import (
	"context"
	"fmt"
	"strings"

	"troupe/data"
	"troupe/sandbox"
	"troupe/verifier/verdict"
)

// Options say how programs are judged. The zero value is the strict profile,
// stopping at the first test that fails.
type Options struct {
	Comparison
	Extraction
	AllTests bool         // run every test, for a share that counts
	Limits   data.Limits  // where a task has none
	Detail   DetailLimits // how much of outputs a result keeps
}

// DetailLimits bound the texts kept in a TestResult; zero means the defaults.
type DetailLimits struct{ Stdout, Stderr int }

const (
	defaultStdout = 2000
	defaultStderr = 2000
)

// Answer judges a model's reply.
func Answer(ctx context.Context, r Runner, t data.Task, reply string, opt Options) (verdict.Verdict, error) {
	if why := Check(t); why != "" {
		return Refused(why), nil
	}
	source, found := opt.Extract(reply)
	if !found {
		return NoAnswer(t), nil
	}
	return Program(ctx, r, t, source, opt)
}

// NoAnswer is the verdict on a reply without a program.
func NoAnswer(t data.Task) verdict.Verdict {
	return verdict.Verdict{Code: verdict.NA, Reason: "no closed code block", Total: len(t.Tests), Trust: trust(t)}
}

// Refused is the verdict where the record is bad: nobody's answer is judged.
func Refused(why string) verdict.Verdict {
	return verdict.Verdict{Code: verdict.IE, Reason: why, Trust: verdict.Host}
}

// Check says what is wrong with a code task, "" if nothing is.
func Check(t data.Task) string {
	if len(t.Tests) == 0 {
		return "no tests"
	}
	for i, x := range t.Tests {
		switch {
		case x.Assert != "":
		case t.Fn != "":
			if _, err := parseArguments(x.Input); err != nil {
				return fmt.Sprintf("test %d: input is %v", i+1, err)
			}
			if t.Checker != "" {
				continue
			}
			if _, err := parseJSON(x.Output); err != nil {
				return fmt.Sprintf("test %d: output is %v", i+1, err)
			}
		}
	}
	return ""
}

func trust(t data.Task) verdict.Trust {
	for _, x := range t.Tests {
		if x.Assert != "" {
			return verdict.InGuest
		}
	}
	return verdict.Host
}

// job is one program being judged.
type job struct {
	task   data.Task
	source string
	opt    Options
	limits sandbox.Limits
}

// Program judges source as it is. The error is about ctx or the pool only:
// whatever happens to the program is in the verdict.
func Program(ctx context.Context, r Runner, t data.Task, source string, opt Options) (verdict.Verdict, error) {
	if why := Check(t); why != "" {
		return Refused(why), nil
	}
	j := &job{task: t, source: source, opt: opt, limits: limits(t.Limits, opt.Limits)}
	if opt.Profile == LCB {
		j.source = withPreamble(source)
	}
	v := verdict.Verdict{Code: verdict.AC, Total: len(t.Tests), Trust: trust(t)}
	for i, test := range t.Tests {
		res, err := j.test(ctx, r, test)
		if err != nil {
			return verdict.Verdict{}, err
		}
		v.Tests = append(v.Tests, res.TestResult)
		v.Fuel += res.Fuel
		if res.Code == verdict.AC {
			v.Passed++
			continue
		}
		if v.Code == verdict.AC || res.Code == verdict.IE {
			v.Code, v.Reason = res.Code, reason(i, res)
		}
		// What cannot be compiled or judged needs no further test.
		if !opt.AllTests || res.Code == verdict.CE || res.Code == verdict.IE {
			break
		}
	}
	if v.Code == verdict.AC {
		v.Reward = 1
	}
	return v, nil
}

// missingPrefix begins the reason of a verdict that a lacking module decided.
const missingPrefix = "missing module: "

// MissingModule is the module whose absence from the guest decided a verdict.
// Such verdicts are counted apart: they say nothing about the program.
func MissingModule(v verdict.Verdict) (name string, ok bool) {
	return strings.CutPrefix(v.Reason, missingPrefix)
}

func limits(task, otherwise data.Limits) sandbox.Limits {
	l := sandbox.Limits{TimeS: task.TimeS, MemoryMB: task.MemoryMB, OutputKB: task.OutputKB}
	if l.TimeS == 0 {
		l.TimeS = otherwise.TimeS
	}
	if l.MemoryMB == 0 {
		l.MemoryMB = otherwise.MemoryMB
	}
	if l.OutputKB == 0 {
		l.OutputKB = otherwise.OutputKB
	}
	return l
}

// outcome is a test's result with what the verdict needs beside it.
type outcome struct {
	verdict.TestResult
	missing string // module that the guest lacks
}

// reason says in a few words why the verdict is not AC.
func reason(i int, o outcome) string {
	if o.missing != "" {
		return missingPrefix + o.missing
	}
	if o.Detail == "" {
		return fmt.Sprintf("test %d", i+1)
	}
	return fmt.Sprintf("test %d: %s", i+1, o.Detail)
}

// test runs one test.
func (j *job) test(ctx context.Context, r Runner, t data.Test) (outcome, error) {
	run, err := r.Run(ctx, j.request(t))
	if err != nil {
		return outcome{}, err
	}
	o := outcome{TestResult: verdict.TestResult{
		Fuel: run.Fuel, TimeS: run.TimeS,
		Stdout: head(run.Stdout, limitOr(j.opt.Detail.Stdout, defaultStdout)),
		Stderr: tail(run.Stderr, limitOr(j.opt.Detail.Stderr, defaultStderr)),
	}}
	o.Code, o.Detail = j.fate(run)
	if o.Code == verdict.AC {
		var detail string
		if o.Code, detail, err = j.compare(ctx, r, t, run); err != nil {
			return outcome{}, err
		}
		o.Detail = detail
	}
	// A refused growth of memory is what a program that then went wrong died
	// of, however it put it.
	if run.MemoryRefused && (o.Code == verdict.WA || o.Code == verdict.RE) {
		o.Code = verdict.MLE
	}
	if o.Code == verdict.RE && run.MissingModule != "" {
		o.missing = run.MissingModule
		o.Detail = missingPrefix + run.MissingModule
	}
	return o, nil
}

// fate turns the end of a run into a verdict; AC means that what the program
// gave has yet to be compared.
func (j *job) fate(run sandbox.Result) (verdict.Code, string) {
	switch run.Outcome {
	case sandbox.OK:
		return verdict.AC, ""
	case sandbox.Exit:
		if j.opt.Profile == LCB || run.ExitCode == 0 {
			return verdict.AC, "" // a harness that was left with code 0 among them
		}
		return verdict.RE, fmt.Sprintf("exit code %d", run.ExitCode)
	case sandbox.Exception:
		return verdict.RE, firstLine(run.Exception)
	case sandbox.Syntax:
		return verdict.CE, firstLine(run.Exception)
	case sandbox.Time:
		return verdict.TLE, "time limit"
	case sandbox.Memory:
		return verdict.MLE, firstLine(run.Exception)
	case sandbox.Output:
		return verdict.OLE, "output limit"
	}
	return verdict.IE, "sandbox: " + firstLine(run.Exception)
}

// compare judges what a program gave that ended well.
func (j *job) compare(ctx context.Context, r Runner, t data.Test, run sandbox.Result) (verdict.Code, string, error) {
	switch {
	case t.Assert != "":
		if !strings.HasPrefix(string(run.Report), "held ") || run.Outcome != sandbox.OK {
			return verdict.RE, "exited before the assertions", nil
		}
		return verdict.AC, "", nil
	case j.task.Fn != "":
		return j.compareCall(ctx, r, t, run)
	case j.task.Checker != "":
		return j.check(ctx, r, t, run.Stdout)
	}
	if diff, ok := j.opt.Output(string(run.Stdout), t.Output); !ok {
		return verdict.WA, diff, nil
	}
	return verdict.AC, "", nil
}

// What a result may be made of: as many values as the expected one, with some to
// spare for the sake of the detail; for a checker, that knows no expected one,
// so many.
const (
	spareValues   = 10_000
	checkedValues = 1 << 21
)

// compareCall judges the value that a function returned.
func (j *job) compareCall(ctx context.Context, r Runner, t data.Test, run sandbox.Result) (verdict.Code, string, error) {
	if !run.HarnessReached || len(run.Report) == 0 {
		return verdict.RE, "exited before the function returned", nil
	}
	if j.task.Checker != "" {
		got, err := parseReport(run.Report, checkedValues)
		if err != nil {
			return verdict.WA, err.Error(), nil
		}
		return j.check(ctx, r, t, []byte(got.json()))
	}
	want, err := parseJSON(t.Output)
	if err != nil {
		return verdict.IE, "output is " + err.Error(), nil
	}
	got, err := parseReport(run.Report, 2*want.count()+spareValues)
	if err != nil {
		return verdict.WA, err.Error(), nil
	}
	c := valueComparison{j.opt.Comparison}
	if c.equal(got, want) || t.Wrapped && len(want.items) == 1 && c.equal(got, want.items[0]) {
		return verdict.AC, "", nil
	}
	return verdict.WA, fmt.Sprintf("returned %s, expected %s", got, want), nil
}

// check asks the task's checker, which runs in an instance of its own. Many
// checkers fail on what is not in the form of an answer. One that accepts the
// expected output is sound, so its failure is the output's: a program must not
// escape judgement by printing what breaks the checker.
func (j *job) check(ctx context.Context, r Runner, t data.Test, output []byte) (verdict.Code, string, error) {
	run, err := r.Run(ctx, j.checkerRequest(t, output))
	if err != nil {
		return "", "", err
	}
	switch {
	case run.Outcome == sandbox.OK && string(run.Report) == "right":
		return verdict.AC, "", nil
	case run.Outcome == sandbox.OK && string(run.Report) == "wrong":
		return verdict.WA, "the checker refuses the output", nil
	}
	failure := "checker: " + firstLine(run.Exception)
	if run.Outcome == sandbox.Crash || run.Outcome == sandbox.Syntax {
		return verdict.IE, failure, nil
	}
	sound, err := r.Run(ctx, j.checkerRequest(t, []byte(t.Output)))
	if err != nil {
		return "", "", err
	}
	if sound.Outcome == sandbox.OK && string(sound.Report) == "right" {
		return verdict.WA, failure, nil
	}
	return verdict.IE, failure, nil
}

func limitOr(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// head is the beginning of b as valid text.
func head(b []byte, most int) string {
	return strings.ToValidUTF8(string(b[:min(len(b), most)]), "\uFFFD")
}

// tail is the end of b as valid text.
func tail(b []byte, most int) string {
	return strings.ToValidUTF8(string(b[max(0, len(b)-most):]), "\uFFFD")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return head([]byte(s), 300)
}
