package store

// Run is a row of runs: one training, evaluation or verification with its
// resolved config.
type Run struct {
	ID        string
	Config    string // resolved, without paths
	Profile   string
	Workflow  string
	Policy    string
	Task      string
	Model     string
	Numerics  string
	Kernels   string
	Seed      uint64 // stored as the same 64 bits, signed
	Version   string
	State     string // Running, Done, Stopped or Failed
	Host      string
	CreatedAt string // ISO 8601 UTC; CreateRun fills it in when empty
}

// The states of a run.
const (
	Running = "running"
	Done    = "done"
	Stopped = "stopped" // by a signal, after a checkpoint
	Failed  = "failed"
)

// AllSlots is the slot of a role's metrics that are not of one slot.
const AllSlots = -1

// Step is a metric of an iteration without a role, under verl's name. A value
// that is not finite is stored as NULL.
type Step struct {
	Metric string
	Value  float64
}

// RoleStep is a metric of one role, or of one slot of it, under verl's name
// without the role ("actor/grad_norm").
type RoleStep struct {
	Role   string
	Slot   int // AllSlots for the whole role
	Metric string
	Value  float64
}

// Eval is one evaluation. Iteration 0 is before the first update.
type Eval struct {
	Split       string
	Temperature float64 // 0 is greedy
	N           int     // tasks judged; infrastructure failures are left out
	Accuracy    float64
	Stderr      float64
}

// EvalItem is the outcome of one task in an evaluation.
type EvalItem struct {
	Split       string
	Temperature float64
	Task        string
	Correct     float64 // share of the task's answers judged right
	Verdict     string
}

// Task is a task as it was used, so that a log can be read without the data.
type Task struct {
	ID, Kind, Text, Gold string
	Tests                string // JSON; Write replaces large ones by their digest
}

// At is the place of an episode within an iteration.
type At struct {
	Split       string
	Temperature float64
	Task        string
	Rollout     int
}

// CallAt is the place of a model call within an iteration. In Verdicts an
// empty role means the episode's answer.
type CallAt struct {
	At
	Role       string
	Slot, Turn int
}

// Episode is one play of a workflow.
type Episode struct {
	At
	Reward   float64
	Rewarded bool // false for an infrastructure failure: the reward is stored as NULL
	Verdict  string
	Kept     bool // took part in the update
}

// Call is one model call: the token ids that were given and sampled.
type Call struct {
	CallAt
	PromptIDs, IDs []int32
	LogProbs       []float32 // stored as NULL if one is not finite
	Text           string
	Tier           string
	Finish         string
	Advantage      float64
}

// Verdict is the judgement of an episode's answer or of one call's.
type Verdict struct {
	CallAt
	Code, Reason  string
	Passed, Total int
	Fuel          uint64
	// Cached says that an equal question was already answered. It must not
	// depend on what a restart forgets: a run killed and resumed has equal rows.
	Cached bool
}

// TestResult is the outcome of one test of a verdict.
type TestResult struct {
	CallAt
	Test                   int
	Code                   string
	Fuel                   uint64
	Stdout, Stderr, Detail string
}

// Event is something worth a person's attention.
type Event struct {
	Kind, Role, Severity, Message string
	Value                         float64
}

// Checkpoint is a saved state of the trainer.
type Checkpoint struct {
	Iteration int // filled in by reads; Write takes the batch's
	Path      string
	SHA256    string
	CreatedAt string // filled in when empty
}

// Timing is what a phase of an iteration took.
type Timing struct {
	Phase   string
	Seconds float64
}

// Batch is everything of one iteration. Write stores it in one transaction.
type Batch struct {
	Run       string
	Iteration int
	// Add keeps what the iteration already has and replaces rows of equal
	// keys. Otherwise the batch replaces the whole iteration, so that an
	// iteration played again after a restart leaves nothing of the first time.
	Add         bool
	Steps       []Step
	RoleSteps   []RoleStep
	Evals       []Eval
	EvalItems   []EvalItem
	Tasks       []Task // written once a run
	Episodes    []Episode
	Calls       []Call
	Verdicts    []Verdict
	TestResults []TestResult
	Events      []Event
	Timings     []Timing
	Checkpoint  *Checkpoint // makes the transaction a synced one
	State       string      // the run's new state; empty leaves it
}
