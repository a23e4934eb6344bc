// Package workflow has the multi-agent workflows as plain code: who is asked
// what, how a reply is read, and which text is judged in the end. A workflow
// sees models only through a Generator and never knows whether its roles share
// parameters.
//
// A workflow of one's own takes one file: a type with Roles and Run, and a
// call of Register.
package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"troupe/data"
	"troupe/internal/prng"
	"troupe/verifier/verdict"
)

// Role says who is asked: the role's name, which of several equal agents
// (slot), and for the how-many-eth time in the episode (turn).
type Role struct {
	Name string
	Slot int
	Turn int
}

// Message is one turn of a chat.
type Message struct {
	Role    string // system, user or assistant
	Content string
}

// Request is one model call.
type Request struct {
	Role      Role
	Messages  []Message // rendered and encoded by the generator
	MaxTokens int
	Key       prng.Key // seed, iteration, task, rollout, role, slot, turn
	// Values filled the last message's prompt: placeholder and value in turn.
	// They let a metric ask what another role's prompt would have made of the
	// same situation.
	Values []string
}

// Finish says why a reply ended.
type Finish string

// A reply ends by its end token (Stop), by the limit of tokens (Length), or it
// could not begin because the prompt did not fit (Overflow).
const (
	Stop     Finish = "stop"
	Length   Finish = "length"
	Overflow Finish = "overflow"
)

// Sample is the answer to a Request. IDs are the sampled ids with the end
// token; Text is derived from them, never the reverse.
type Sample struct {
	PromptIDs, IDs []int32
	LogProbs       []float32 // behaviour, at the sampling temperature
	Text           string    // without control tokens and outer space
	Finish         Finish
}

// Generator answers requests. It batches them with whatever else is waiting;
// a request's answer does not depend on that.
type Generator interface {
	Generate(ctx context.Context, reqs []Request) ([]Sample, error)
}

// Verifier judges the text a workflow ends with.
type Verifier interface {
	Verify(ctx context.Context, t data.Task, answer string) (verdict.Verdict, error)
}

// Tier says how a reply was read.
type Tier string

// Primary: in the form asked for. Fallback: by a more lenient rule. Default:
// not at all; what the workflow assumed instead is its own business. Without
// the tiers, fallbacks hide a role that has stopped doing its job.
const (
	Primary  Tier = "primary"
	Fallback Tier = "fallback"
	Default  Tier = "default"
)

// Call is one model call of an episode, as it was trained on or could be.
type Call struct {
	Request
	Sample
	Tier Tier
}

// Episode is one playing of a workflow on a task. Every call of it carries the
// episode's reward.
type Episode struct {
	Task    string
	Rollout int
	Calls   []Call
	Answer  string // what was judged
	Verdict verdict.Verdict
}

// Workflow is the shape of a collaboration.
type Workflow interface {
	// Roles lists the names of the roles, in the order they first speak.
	Roles() []string
	// Run plays one episode; key holds seed, iteration, task and rollout.
	Run(ctx context.Context, t data.Task, key prng.Key, g Generator, v Verifier) (Episode, error)
}

// Options are what the workflows can be set to. Zero numbers mean the
// reference's: 3 voters, 3 workers, 3 evaluations for math and 2 for code.
type Options struct {
	Kind        data.Kind
	Prompts     *Prompts       // nil: our own wording
	MaxTokens   int            // limit of a reply
	Budget      map[string]int // limit by role, where it differs
	Voters      int
	Workers     int
	Evaluations int
	// Defaults lets an unreadable reply stand for a default: candidate 1, the
	// whole reply as one strategy. Without it the episode ends with no answer.
	Defaults bool
	// Strict takes a reply that is not in the form asked for as unreadable,
	// where it could be read leniently.
	Strict bool
	// EndOnOverflow ends the episode without an answer where an orchestrator
	// names more strategies than there are workers; otherwise the surplus is
	// dropped.
	EndOnOverflow bool
}

// Constructor makes a workflow from options.
type Constructor func(Options) (Workflow, error)

var registry = map[string]Constructor{}

// Register makes a workflow known by name. Call it from init.
func Register(name string, c Constructor) {
	if _, dup := registry[name]; dup {
		panic("workflow: " + name + " registered twice")
	}
	registry[name] = c
}

// Names lists the registered workflows in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// New makes the workflow of the given name.
func New(name string, o Options) (Workflow, error) {
	c, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("workflow %q is not known; there are %s", name, strings.Join(Names(), ", "))
	}
	if o.Kind != data.Math && o.Kind != data.Code {
		return nil, fmt.Errorf("workflow %s: kind of task %q is neither math nor code", name, o.Kind)
	}
	if o.Prompts == nil {
		o.Prompts = OwnPrompts()
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = 512
	}
	setDefault(&o.Voters, 3)
	setDefault(&o.Workers, 3)
	if o.Kind == data.Math {
		setDefault(&o.Evaluations, 3)
	} else {
		setDefault(&o.Evaluations, 2)
	}
	w, err := c(o)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", name, err)
	}
	return w, nil
}

func setDefault(n *int, d int) {
	if *n <= 0 {
		*n = d
	}
}

// taken is how a reply that was read at a tier is taken: leniently read ones
// may have to count as unreadable.
func (o *Options) taken(t Tier) Tier {
	if t == Fallback && o.Strict {
		return Default
	}
	return t
}

// limit is the most tokens a role may reply with.
func (o *Options) limit(role string) int {
	if n := o.Budget[role]; n > 0 {
		return n
	}
	return o.MaxTokens
}
