package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/model"
	"troupe/model/lora"
	"troupe/trainer/policy"
	"troupe/trainer/workflow"
)

// Parts are what a run is made of. The caller opens and closes them.
type Parts struct {
	Base     *model.Model // weights every parameter set starts from; never changed
	Encoder  Encoder
	Verifier workflow.Verifier
	Tasks    []data.Task
	Prompts  *workflow.Prompts // nil: our own wording
	DB       *store.DB
	Version  string                                // of the program, for the run's row
	Kernels  string                                // implementation in use
	Host     string                                // name of the machine
	Until    time.Time                             // when the run has to end, in place of its budget; zero: by its budget
	Spent    time.Duration                         // of the budget before the run began
	Report   func(Progress)                        // told after every iteration; may be nil
	Fail     func(site string)                     // test hook: called at named points, may end the process
	Inject   func(site string, values [][]float32) // test hook: may spoil values at named places
}

// Trainer is a run in progress.
type Trainer struct {
	cfg       Config
	parts     Parts
	id        string
	kind      data.Kind
	workflow  workflow.Workflow
	route     policy.Map
	sets      map[string]*policy.Set
	setNames  []string
	trained   []string // names of sets that are not frozen
	source    source
	held      []data.Task
	probes    []data.Task // for metrics that need extra passes
	engine    *engine
	calls     int             // update calls of all sets so far
	asked     map[uint64]bool // questions put to the verifier so far, by hash
	bad       int             // iterations in a row with a skipped update
	noted     map[string]bool // tasks whose row is written
	accuracy  float64
	watch     *watches
	batches   int       // drawn by dynamic sampling so far
	findings  []finding // of the iteration that runs
	live      live
	measuring time.Duration      // spent on metrics within the update that runs
	halving   time.Duration      // the same, on gradients that are only due with probes
	stored    time.Duration      // spent on the last transaction
	right     map[string]float64 // of roles, for reports
	limit     limit
	last      bool // the iteration that runs is the run's last
}

// New prepares a run: parameter sets, tasks, and the run's row in the log.
func New(cfg Config, parts Parts) (*Trainer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	t := &Trainer{cfg: cfg, parts: parts, id: cfg.ID(), asked: map[uint64]bool{}, noted: map[string]bool{}}
	train, held := SplitOf(parts.Tasks, data.Train), SplitOf(parts.Tasks, data.Split(cfg.EvalSplit))
	if len(held) == 0 && cfg.EvalSplit != string(data.Held) {
		return nil, fmt.Errorf("eval.split: no task is of the split %s", cfg.EvalSplit)
	}
	if err := errors.Join(distinct(parts.Tasks), enough(train, cfg.Tasks)); err != nil {
		return nil, err
	}
	t.kind = train[0].Kind
	t.source = source{cfg.Seed, train}
	t.held = held[:min(len(held), cfg.EvalN)]
	t.probes = t.probeTasks()
	var err error
	if t.workflow, err = cfg.NewWorkflow(t.kind, parts.Prompts); err != nil {
		return nil, err
	}
	if err := t.knownRoles(); err != nil {
		return nil, err
	}
	t.watch = newWatches(t.workflow.Roles())
	if t.route, err = policy.Parse(cfg.Policy, t.workflow.Roles()); err != nil {
		return nil, err
	}
	if err := t.makeSets(); err != nil {
		return nil, err
	}
	t.engine = newEngine(parts.Encoder, t.route, t.sets, cfg.Temperature)
	t.engine.live, t.engine.meter = &t.live, &model.Meter{}
	return t, nil
}

func enough(train []data.Task, batch int) error {
	if len(train) < batch {
		return fmt.Errorf("%d tasks to train on are fewer than a batch of %d", len(train), batch)
	}
	return nil
}

// NewWorkflow makes the configured workflow.
func (c *Config) NewWorkflow(kind data.Kind, prompts *workflow.Prompts) (workflow.Workflow, error) {
	return workflow.New(c.Workflow, workflow.Options{
		Kind: kind, Prompts: prompts, MaxTokens: c.MaxTokens, Budget: c.RoleTokens,
		Voters: c.Voters, Workers: c.Workers, Evaluations: c.Evaluations,
		Defaults: c.Defaults, Strict: !c.Fallback, EndOnOverflow: c.OrchOverflow == "end"})
}

// slots is the number of agents that a role can have.
func (t *Trainer) slots(role string) int {
	switch role {
	case "generator":
		if t.cfg.Workflow == "voting" {
			return t.cfg.Voters
		}
	case "worker":
		return t.cfg.Workers
	}
	return 1
}

func (t *Trainer) makeSets() error {
	t.sets = map[string]*policy.Set{}
	t.setNames = t.route.Sets(t.workflow.Roles(), t.slots)
	for _, name := range t.setNames {
		var set *policy.Set
		var err error
		if t.cfg.Params == "full" {
			set, err = policy.NewFull(name, t.parts.Base)
		} else {
			var a *lora.Adapter
			if a, err = t.newAdapter(name); err == nil {
				set = policy.NewAdapter(name, t.parts.Base, a)
			}
		}
		if err != nil {
			return err
		}
		set.Frozen = t.route.Frozen(name)
		if !set.Frozen {
			t.trained = append(t.trained, name)
		}
		t.sets[name] = set
	}
	if len(t.trained) == 0 {
		return fmt.Errorf("policy %s: every parameter set is frozen", t.cfg.Policy)
	}
	return nil
}

// ID is the run's id.
func (t *Trainer) ID() string { return t.id }

// Run trains to the end of the config, from the newest checkpoint if there is
// one.
func (t *Trainer) Run(ctx context.Context) error {
	done, err := t.resume(ctx)
	if err != nil {
		return err
	}
	if err := t.startClock(ctx); err != nil {
		return err
	}
	for it := done + 1; it <= t.cfg.Iterations && !t.last; it++ {
		t.last = t.endsAt(it)
		if err := t.iterate(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// iterate is one iteration with its rows; 0 only measures the base.
func (t *Trainer) iterate(ctx context.Context, it int) error {
	log := t.begin(it)
	var updates []updated
	if it > 0 {
		t.measured()
		played, err := t.gather(ctx, log)
		if err != nil {
			return err
		}
		log.timed(phaseRollout)
		t.apportion(log)

		t.live.phase(it, "update", 0)
		rows, err := t.rows(played.episodes, played.use)
		if err != nil {
			return err
		}
		if t.cfg.Shuffle {
			t.shuffle(it, rows)
		}
		if updates, err = t.update(ctx, it, rows); errors.Is(err, ErrNonFinite) {
			return t.abort(ctx, it, err)
		} else if err != nil {
			return err
		}
		log.timed("update")
		t.aside(log)

		t.logEpisodes(log, played.tasks, played.episodes, rows)
		t.logUpdates(log, updates, rows)
		log.timed("record")
	}
	if err := t.probe(ctx, log); err != nil {
		return err
	}
	if it == 0 { // runs at several scales are told apart by it
		log.step("model/parameters", float64(t.parts.Base.Config.Parameters()))
	}
	due := t.dueAt(it, t.last)
	if due.evaluations > 0 {
		if err := t.evaluate(ctx, log); err != nil {
			return err
		}
	}
	t.alarms(log)
	if t.last && it < t.cfg.Iterations {
		log.event(budgetEvent, "", "info", fmt.Sprintf("the budget of %s ends the run after %d of %d iterations", t.cfg.Budget, it, t.cfg.Iterations), float64(it))
	}
	stop := t.nonFinite(log, updates)
	save := stop == nil && (it%t.cfg.CheckpointEvery == 0 || t.last)
	err := t.commit(ctx, log, save)
	t.limit.saw(log.Timings, due)
	return errors.Join(err, stop)
}

// abort ends a run whose parameters or optimizer can no longer be used: the
// iteration leaves nothing but its events.
func (t *Trainer) abort(ctx context.Context, it int, cause error) error {
	log := t.begin(it)
	t.logFindings(log)
	log.State = store.Failed
	return errors.Join(fmt.Errorf("iteration %d: %w; the last checkpoint is good", it, cause), t.commit(ctx, log, false))
}

// logFindings notes what was not finite, a few of each role.
func (t *Trainer) logFindings(log *record) {
	const most = 8
	for i, f := range t.findings {
		if i < most {
			log.event("nonfinite", f.role, "alarm", f.what+" is not finite", float64(len(t.findings)))
		}
	}
	t.findings = nil
}

// begin starts an iteration's log.
func (t *Trainer) begin(iteration int) *record {
	return &record{Batch: store.Batch{Run: t.id, Iteration: iteration}, since: time.Now()}
}

// patience is how many iterations in a row may have a non-finite gradient.
const patience = 3

// ErrNonFinite stops a run whose gradients stay non-finite.
var ErrNonFinite = errors.New("losses or gradients are not finite")

// nonFinite notes what was not finite, and says when updates were skipped for
// it too often.
func (t *Trainer) nonFinite(log *record, updates []updated) error {
	t.logFindings(log)
	skipped := slices.ContainsFunc(updates, func(u updated) bool { return u.skipped > 0 })
	if !skipped {
		t.bad = 0
		return nil
	}
	if t.bad++; t.bad < patience {
		return nil
	}
	log.State = store.Failed
	return fmt.Errorf("%w in %d iterations in a row, up to %d; the last checkpoint is good", ErrNonFinite, patience, log.Iteration)
}

func (t *Trainer) fail(site string) {
	if t.parts.Fail != nil {
		t.parts.Fail(site)
	}
}
