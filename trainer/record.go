package trainer

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/trainer/metrics"
	"troupe/trainer/workflow"
	"troupe/verifier/verdict"
)

// record is an iteration's log in the making. Metric names are verl's.
type record struct {
	store.Batch
	since time.Time
}

// timed closes a phase.
func (r *record) timed(phase string) {
	now := time.Now()
	r.spent(phase, now.Sub(r.since).Seconds())
	r.since = now
}

// spent notes what a phase took.
func (r *record) spent(phase string, seconds float64) {
	r.Timings = append(r.Timings, store.Timing{Phase: phase, Seconds: seconds})
}

// aside takes what was spent on metrics out of the update that it was spent in.
func (t *Trainer) aside(log *record) {
	log.spent("metrics/update", t.measuring.Seconds())
	if t.halving > 0 {
		log.spent("metrics/halves", t.halving.Seconds())
	}
	for i := range log.Timings {
		if log.Timings[i].Phase == "update" {
			log.Timings[i].Seconds -= (t.measuring + t.halving).Seconds()
		}
	}
	t.measuring, t.halving = 0, 0
}

func (r *record) step(metric string, value float64) {
	r.Steps = append(r.Steps, store.Step{Metric: metric, Value: value})
}

func (r *record) role(role string, slot int, metric string, value float64) {
	r.RoleSteps = append(r.RoleSteps, store.RoleStep{Role: role, Slot: slot, Metric: metric, Value: value})
}

func (r *record) event(kind, role, severity, message string, value float64) {
	r.Events = append(r.Events, store.Event{Kind: kind, Role: role, Severity: severity, Message: message, Value: value})
}

// callsLogged applies log-calls.
func (t *Trainer) callsLogged(iteration int) bool {
	switch t.cfg.LogCalls {
	case "all", "":
		return true
	case "none":
		return false
	}
	n, err := strconv.Atoi(t.cfg.LogCalls)
	return err == nil && n > 0 && iteration%n == 0
}

// logEpisodes notes what was played: tasks, episodes, verdicts, and calls
// where they are to be kept.
func (t *Trainer) logEpisodes(log *record, tasks []data.Task, episodes []workflow.Episode, rows []*row) {
	t.noteTasks(log, tasks)
	of := map[*workflow.Call]*row{}
	keptOf := map[*workflow.Episode]bool{}
	for _, r := range rows {
		of[r.call] = r
		keptOf[r.episode] = keptOf[r.episode] || r.kept
	}
	detailed := t.callsLogged(log.Iteration)
	var rewards, lengths []float64
	solved := map[string]int{}
	played := map[string]int{}
	var c counts
	for i := range episodes {
		ep := &episodes[i]
		at := store.At{Split: string(data.Train), Temperature: t.cfg.Temperature, Task: ep.Task, Rollout: ep.Rollout}
		log.Episodes = append(log.Episodes, store.Episode{At: at, Reward: ep.Verdict.Reward,
			Rewarded: ep.Verdict.Rewarded(), Verdict: string(ep.Verdict.Code), Kept: keptOf[ep]})
		t.logVerdict(log, at, ep, detailed, &c)
		if ep.Verdict.Rewarded() {
			rewards = append(rewards, ep.Verdict.Reward)
			played[ep.Task]++
			if ep.Verdict.Reward > 0 {
				solved[ep.Task]++
			}
		}
		for j := range ep.Calls {
			call := &ep.Calls[j]
			lengths = append(lengths, float64(len(call.IDs)))
			if !detailed {
				continue
			}
			advantage := 0.0
			if r := of[call]; r != nil {
				advantage = r.advantage
			}
			log.Calls = append(log.Calls, storeCall(at, call, advantage))
		}
	}
	if len(rewards) > 0 { // otherwise nothing is known, which is not 0
		log.step("critic/rewards/mean", metrics.Mean(rewards))
		log.step("batch/success", metrics.Mean(rewards))
	}
	logSolved(log, tasks, played, solved)
	log.step("response_length/mean", metrics.Mean(lengths))
	c.write(log)
	t.logRoles(log, episodes, rows)
}

// logSolved notes how many tasks no judged rollout solved, how many every one
// did, and how many some did.
func logSolved(log *record, tasks []data.Task, played, solved map[string]int) {
	none, all, partial := 0, 0, 0
	for _, task := range tasks {
		switch n := solved[task.ID]; {
		case played[task.ID] == 0:
		case n == 0:
			none++
		case n == played[task.ID]:
			all++
		default:
			partial++
		}
	}
	log.step("batch/solve_none", float64(none)/float64(len(tasks)))
	log.step("batch/solve_all", float64(all)/float64(len(tasks)))
	log.step("batch/solve_partial", float64(partial)/float64(len(tasks)))
}

// counts are the verdicts of an iteration.
type counts struct {
	judged, cached int
	byCode         map[verdict.Code]int
}

func (c *counts) write(log *record) {
	log.step("verify/judged", float64(c.judged))
	log.step("verify/cached", float64(c.cached))
	for _, code := range []verdict.Code{verdict.AC, verdict.WA, verdict.RE, verdict.TLE, verdict.MLE, verdict.OLE, verdict.CE, verdict.NA, verdict.IE} {
		if n := c.byCode[code]; n > 0 {
			log.step("verify/"+string(code), float64(n))
		}
	}
	if n := c.byCode[verdict.IE]; n > 0 {
		log.event("infrastructure", "", "warning", strconv.Itoa(n)+" answers could not be judged and were left out", float64(n))
	}
}

// logVerdict notes an episode's verdict. Cached means that this run asked the
// same question before: a property of the run, not of what a cache still held.
func (t *Trainer) logVerdict(log *record, at store.At, ep *workflow.Episode, detailed bool, c *counts) {
	v := &ep.Verdict
	cached := t.askedBefore(ep.Task, ep.Answer)
	if c.byCode == nil {
		c.byCode = map[verdict.Code]int{}
	}
	c.judged++
	c.byCode[v.Code]++
	if cached {
		c.cached++
	}
	place := store.CallAt{At: at}
	log.Verdicts = append(log.Verdicts, store.Verdict{CallAt: place, Code: string(v.Code), Reason: v.Reason,
		Passed: v.Passed, Total: v.Total, Fuel: v.Fuel, Cached: cached})
	if !detailed {
		return
	}
	for i, r := range v.Tests {
		if r.Code != verdict.AC && r.Code != "" {
			log.TestResults = append(log.TestResults, store.TestResult{CallAt: place, Test: i, Code: string(r.Code),
				Fuel: r.Fuel, Stdout: r.Stdout, Stderr: r.Stderr, Detail: r.Detail})
		}
	}
}

// askedBefore reports whether the run has had an answer to a task judged, and
// notes that it has now.
func (t *Trainer) askedBefore(task, answer string) bool {
	h := fnv.New64a()
	h.Write([]byte(task + "\x00" + answer))
	question := h.Sum64()
	before := t.asked[question]
	t.asked[question] = true
	return before
}

func storeCall(at store.At, c *workflow.Call, advantage float64) store.Call {
	return store.Call{
		CallAt:    store.CallAt{At: at, Role: c.Role.Name, Slot: c.Role.Slot, Turn: c.Role.Turn},
		PromptIDs: c.PromptIDs, IDs: c.IDs, LogProbs: c.LogProbs, Text: c.Text,
		Tier: string(c.Tier), Finish: string(c.Finish), Advantage: advantage}
}

// noteTasks writes each task's row the first time it is used.
func (t *Trainer) noteTasks(log *record, tasks []data.Task) {
	for _, task := range tasks {
		if t.noted[task.ID] {
			continue
		}
		t.noted[task.ID] = true
		tests := ""
		if len(task.Tests) > 0 {
			if b, err := json.Marshal(task.Tests); err == nil {
				tests = string(b)
			}
		}
		log.Tasks = append(log.Tasks, store.Task{ID: task.ID, Kind: string(task.Kind), Text: task.Text, Gold: task.Gold, Tests: tests})
	}
}

// logRoles notes, for each role, how its replies could be read and how long
// and how surprising they were to the policy that gave them.
func (t *Trainer) logRoles(log *record, episodes []workflow.Episode, rows []*row) {
	for _, role := range t.workflow.Roles() {
		var n, primary, fallback, unread, cut, tokens, surprise, ppl float64
		for i := range episodes {
			for j := range episodes[i].Calls {
				c := &episodes[i].Calls[j]
				if c.Role.Name != role {
					continue
				}
				n++
				switch c.Tier {
				case workflow.Primary:
					primary++
				case workflow.Fallback:
					fallback++
				default:
					unread++
				}
				if c.Finish == workflow.Length {
					cut++
				}
				tokens += float64(len(c.IDs))
				own := 0.0
				for _, l := range c.LogProbs {
					own -= float64(l)
				}
				surprise += own
				ppl += math.Exp(own / math.Max(float64(len(c.IDs)), 1))
			}
		}
		log.role(role, store.AllSlots, "calls", n)
		if n == 0 {
			continue
		}
		log.role(role, store.AllSlots, "parse/primary", primary/n)
		log.role(role, store.AllSlots, "parse/fallback", fallback/n)
		log.role(role, store.AllSlots, "parse/default", unread/n)
		log.role(role, store.AllSlots, "response_length/clip_ratio", cut/n)
		log.role(role, store.AllSlots, "response_length/mean", tokens/n)
		// The mean of -log p over samples estimates the entropy without bias.
		log.role(role, store.AllSlots, "actor/entropy", surprise/math.Max(tokens, 1))
		log.role(role, store.AllSlots, "actor/ppl_self", ppl/n)
		logGroups(log, role, rows)
	}
}

// logUpdates notes what the updates did, per role; per agent where each has a
// set of its own.
func (t *Trainer) logUpdates(log *record, updates []updated, rows []*row) {
	for _, u := range updates {
		for _, role := range u.roles {
			slot := store.AllSlots
			if u.apart != nil {
				slot = u.gradients.Parts[0].Slot
			}
			put := func(metric string, value float64) { log.role(role, slot, metric, value) }
			put("actor/lr", u.lr)
			put("actor/opt_steps", float64(u.steps))
			put("actor/rows", float64(u.rows))
			put("actor/rows_taught", float64(u.taught))
			put("actor/pg_loss", u.loss)
			put("actor/upd_norm", u.stepNorm)
			put("actor/pg_clipfrac", u.stats.ClipFrac())
			put("actor/pg_clipfrac_lower", u.stats.ClipFracLower())
			put("actor/ppo_kl", u.stats.PPOKL())
			put("actor/chi2_token", u.stats.ChiSquare())
			put("actor/pg_clipfrac_high", u.stats.ClipFracHigh())
			put("actor/max_log_ratio", u.stats.MaxLogRatio)
			if t.cfg.CoherenceLambda > 0 {
				put("actor/coherence_cos", u.coherence.Cos)
				put("actor/coherence_scale", u.coherence.Scale)
				put("actor/coherence_ema_norm", u.coherence.EMANorm)
			}
			if u.gradients == nil {
				continue
			}
			put("actor/grad_norm", u.gradients.Norm(role))
			if u.apart == nil && max(t.slots(role), u.gradients.Slots(role)) > 1 {
				put("actor/amplification", u.gradients.Amplification(role))
				put("actor/slot_cosine", u.gradients.SlotCosine(role))
				if c, ok := u.corrected[role]; ok {
					put("actor/slot_cosine_corrected", c.cos)
					put("actor/amplification_corrected", c.amplification)
				}
			}
			if len(u.roles) > 1 {
				put("actor/mass_share", u.gradients.MassShare(role))
				put("actor/norm_share", u.gradients.NormShare(role, u.roles))
			}
		}
		log.step("actor/"+u.set+"/grad_norm", u.gradNorm)
	}
	t.logApart(log, updates)
}
