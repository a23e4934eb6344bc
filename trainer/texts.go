package trainer

import (
	"strings"

	"troupe/data"
	"troupe/data/store"
	"troupe/trainer/metrics"
	"troupe/trainer/workflow"
)

// echoTokens is the length below which a solution holds no work of its own.
const echoTokens = 32

// logTexts notes what the wording of a role's replies on the probe set tells
// without a model: whether it solves where it should judge or plan, repeats what
// it was shown, or has stopped saying different things.
func (t *Trainer) logTexts(log *record, episodes []workflow.Episode) {
	gold := map[string]string{}
	for _, task := range t.probes {
		gold[task.ID] = task.Gold
	}
	for _, role := range t.workflow.Roles() {
		var intrusion, leak, echo share
		var copied float64
		var replies [][]int32
		for i := range episodes {
			ep := &episodes[i]
			for j := range ep.Calls {
				c := &ep.Calls[j]
				if c.Role.Name != role || len(c.IDs) == 0 {
					continue
				}
				replies = append(replies, c.IDs)
				copied += metrics.CopyRate(c.IDs, earlier(ep, c)...)
				switch {
				case workflow.Solves(role):
					echo.add(len(c.IDs) < echoTokens)
				case role != workflow.PromptSynthesizer:
					intrusion.add(intrudes(t.kind, c))
				}
				if role == workflow.PromptOrchestrator {
					leak.add(leaks(t.kind, c.Text, gold[ep.Task]))
				}
			}
		}
		if len(replies) == 0 {
			continue
		}
		log.role(role, store.AllSlots, "text/copy", copied/float64(len(replies)))
		if d, ok := metrics.Distinct(replies, 4); ok {
			log.role(role, store.AllSlots, "text/distinct_4", d)
		}
		intrusion.put(log, role, "text/intrusion")
		leak.put(log, role, "text/leak")
		echo.put(log, role, "text/echo")
	}
}

// earlier lists the replies of an episode that a call came after: those of the
// roles before it, not of the agents beside it.
func earlier(ep *workflow.Episode, c *workflow.Call) [][]int32 {
	var before [][]int32
	for i := range ep.Calls {
		o := &ep.Calls[i]
		if o == c {
			break
		}
		if o.Role.Name != c.Role.Name || o.Role.Turn != c.Role.Turn {
			before = append(before, o.IDs)
		}
	}
	return before
}

// intrudes reports whether a role that should not solve has written a solution:
// a program, or a boxed value that is not what the role boxes.
func intrudes(kind data.Kind, c *workflow.Call) bool {
	if kind == data.Code {
		return workflow.HoldsSolution(kind, c.Text)
	}
	return c.Tier != workflow.Primary && workflow.HoldsSolution(kind, c.Text)
}

// leaks reports whether a plan already holds the answer.
func leaks(kind data.Kind, plan, gold string) bool {
	if kind == data.Code {
		return workflow.HoldsSolution(kind, plan)
	}
	if gold == "" {
		return false
	}
	for rest := plan; ; {
		i := strings.Index(rest, gold)
		if i < 0 {
			return false
		}
		end := i + len(gold)
		if !digit(rest, i-1) && !digit(rest, end) {
			return true
		}
		rest = rest[end:]
	}
}

// digit reports whether there is a digit at a place of a text.
func digit(s string, i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }
