// Package data has the tasks that models are trained and measured on: the
// types, and the decoders of the shapes in which data sets write their tests.
// Loaders of particular data sets are in the packages below it.
package data

// Kind is the kind of a task's answer.
type Kind string

// The kinds of tasks.
const (
	Math Kind = "math"
	Code Kind = "code"
)

// Split says what a task may be used for.
type Split string

// The splits. Train tasks are trained on; Dev tasks (taken from the training
// side) choose stops and constants; Held tasks are used by printed tables only.
const (
	Train Split = "train"
	Dev   Split = "dev"
	Held  Split = "held"
)

// Task is one problem with the means to judge an answer to it.
type Task struct {
	ID      string // stable: data set name, "/", hash of the problem text
	Kind    Kind
	Text    string // what the first role sees
	Gold    string // math: the right answer
	Answer  Answer // math: how the answer is found in a reply
	Tests   []Test // code
	Fn      string // code: call-based when not empty, the function's name
	Starter string // code: the data set's starter code, may be empty
	Checker string // code: Python source of a checker, may be empty
	Limits  Limits
	Split   Split
}

// Test is one test of a code task. Exactly one of Output and Assert is used.
type Test struct {
	Input  string // stdin, or for call-based tests one JSON value a line
	Output string // expected stdout, or the JSON result of a call
	Assert string // Python statements run after the program, in the same guest

	// Wrapped marks an Output that is a list of one where the data set may mean
	// the value inside it (APPS, TACO): the bare value is right, too.
	Wrapped bool
}

// Answer says where a reply to a math task has its answer.
type Answer string

// Boxed answers are marked, as in \boxed{12}, or are the whole reply.
// LastInteger takes the last integer that is written out, whatever stands
// around it: for models too small to keep to a form.
const (
	Boxed       Answer = ""
	LastInteger Answer = "last-integer"
)

// Limits bounds one test of a program. Zero fields mean the defaults.
type Limits struct {
	TimeS    float64 // reference seconds (native CPython seconds); default 3
	MemoryMB int     // MiB of linear memory above the frozen image; default 1024
	OutputKB int     // KiB of stdout; default 8192
}
