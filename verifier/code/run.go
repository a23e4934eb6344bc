package code

import (
	"context"
	_ "embed"
	"encoding/binary"

	"troupe/data"
	"troupe/sandbox"
)

// The harnesses run in the guest; each file's comment says what it does.
var (
	//go:embed harness/call.py
	callHarness string
	//go:embed harness/result.py
	resultHarness string
	//go:embed harness/assert.py
	assertHarness string
	//go:embed harness/checker.py
	checkerHarness string
)

// Runner runs one program in a fresh guest. *sandbox.Worker is one; what it
// returns as an error is about ctx or a closed pool only.
type Runner interface {
	Run(ctx context.Context, p sandbox.Python) (sandbox.Result, error)
}

// programName is the file name that programs see. The guest puts it in /tmp,
// by which harness/assert.py knows the program's functions from Python's.
const programName = "prog.py"

// request is the run of one test.
func (j *job) request(t data.Test) sandbox.Python {
	p := sandbox.Python{Program: j.source, Name: programName, Limits: j.limits}
	switch {
	case t.Assert != "":
		p.Harness, p.Data = assertHarness, []byte(t.Assert)
	case j.task.Fn != "":
		p.Harness, p.Data = callHarness, j.callData(t)
	default:
		p.Stdin = []byte(t.Input)
	}
	return p
}

// callData is what harness/call.py gets: the slow path, the function's name, its
// arguments. That the arguments are JSON was checked before.
func (j *job) callData(t data.Test) []byte {
	args, _ := parseArguments(t.Input)
	return appendMarshal(nil, value{kind: list, items: []value{
		{kind: text, text: resultHarness}, {kind: text, text: j.task.Fn}, {kind: list, items: args}}})
}

// checkerLimits bound a checker; it is part of the task, so its own failures
// are the task's.
var checkerLimits = sandbox.Limits{TimeS: 30, MemoryMB: 1024}

// checkerRequest is the run of a checker over one output.
func (j *job) checkerRequest(t data.Test, output []byte) sandbox.Python {
	var b []byte
	for _, text := range [][]byte{[]byte(j.task.Checker), []byte(t.Input), output, []byte(t.Output)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(text)))
		b = append(b, text...)
	}
	return sandbox.Python{Name: "checker.py", Harness: checkerHarness, Data: b, Limits: checkerLimits}
}
