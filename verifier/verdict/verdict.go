// Package verdict has the types in which answers are judged. It imports
// nothing, so every layer can speak of verdicts.
package verdict

// Code is the outcome of judging one answer, in the terms of online judges.
type Code string

// The verdicts. For math, AC is equal, WA is unequal or undecided, NA is no
// answer, and IE is a bad gold answer or record.
const (
	AC  Code = "AC"  // accepted: every test passed
	WA  Code = "WA"  // wrong answer
	RE  Code = "RE"  // runtime error: exception or non-zero exit
	TLE Code = "TLE" // out of fuel, the deterministic time limit
	MLE Code = "MLE" // a refused memory growth, then anything but AC
	OLE Code = "OLE" // more output than allowed
	CE  Code = "CE"  // the program does not compile
	NA  Code = "NA"  // no answer found in the reply
	IE  Code = "IE"  // infrastructure failure or bad record: never a reward
)

// Trust says how far a verdict resists a program that wants to cheat.
type Trust string

const (
	Host    Trust = "host"     // expected outputs never were inside the guest
	InGuest Trust = "in-guest" // assert tests: expected values were inside
)

// Verdict is the judgement of one answer.
type Verdict struct {
	Code   Code
	Reason string  // why, where the code alone does not say it; may be empty
	Reward float64 // meaningless for IE; see Rewarded
	Passed int     // tests passed
	Total  int     // tests there are, run or not
	Trust  Trust
	Guest  string // sha256 prefix of the guest that ran it; empty for native math
	Fuel   uint64 // ticks over all tests
	Cached bool   // answered from a cache of equal questions
	Tests  []TestResult
}

// Rewarded reports whether the reward counts. An infrastructure failure is no
// reward of 0: its row is left out of the advantages.
func (v Verdict) Rewarded() bool { return v.Code != IE && v.Code != "" }

// Score is the share of tests passed, 0 where there are none.
func (v Verdict) Score() float64 {
	if v.Total == 0 {
		return 0
	}
	return float64(v.Passed) / float64(v.Total)
}

// TestResult is the outcome of one test.
type TestResult struct {
	Code   Code
	Fuel   uint64  // ticks
	TimeS  float64 // reference seconds: fuel over the guest's constant
	Stdout string  // cut for the record, valid UTF-8
	Stderr string  // its tail
	Detail string  // first difference, exception line, missing module
}
