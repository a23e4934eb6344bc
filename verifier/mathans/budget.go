package mathans

import "errors"

// budget is the work one judgement may spend. Every loop of the engine draws on
// it, so that the time is bounded and a verdict never depends on the machine's
// load. One unit is about a multiplication of machine words, some nanoseconds.
type budget struct{ left int }

// fullBudget bounds one judgement to a few milliseconds.
const fullBudget = 250_000

var (
	errBudget  = errors.New("work budget spent")
	errDomain  = errors.New("not defined there")
	errUnsure  = errors.New("not decided at this precision")
	errHuge    = errors.New("number too large")
	errUnknown = errors.New("not an expression the engine knows")
)

// spend takes n units and reports whether they were there.
func (b *budget) spend(n int) bool {
	b.left -= n
	return b.left >= 0
}
