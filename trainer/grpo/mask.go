package grpo

import (
	"errors"
	"fmt"
)

// Overlong says what happens to rows that were cut off at the token limit.
type Overlong string

// The rules for rows that did not end by themselves. They stay in their group's
// statistics under every rule.
const (
	OverlongKeep Overlong = "keep" // train on them as they are; the study
	OverlongDrop Overlong = "drop" // no token of a row without an end token counts (DAPO's overlong filter)
	OverlongFull Overlong = "full" // no token of a row that fills the limit counts, even if it ended (rLLM)
)

// Truncated reports whether the rule takes a row out of the loss.
func (o Overlong) Truncated(tokens, limit int, ended bool) (bool, error) {
	switch o {
	case OverlongKeep, "":
		return false, nil
	case OverlongDrop:
		return !ended, nil
	case OverlongFull:
		return tokens >= limit, nil
	}
	return false, fmt.Errorf("unknown rule for overlong rows %q", string(o))
}

// SoftPunishment is DAPO's soft overlong penalty (Yu et al. 2025, eq. 13): 0 up
// to limit-buffer tokens, then falling linearly to -factor at the limit. It is
// added to the reward.
func SoftPunishment(tokens, limit, buffer int, factor float64) float64 {
	if buffer <= 0 {
		return 0
	}
	over := float64(tokens - (limit - buffer))
	return min(-over/float64(buffer)*factor, 0)
}

// Teaches reports whether a group of rewards can move the policy: whether they
// differ at all, compared exactly. A single row is kept, as in DAPO's filter.
func Teaches(rewards []float64) bool {
	if len(rewards) == 1 {
		return true
	}
	for _, r := range rewards {
		if r != rewards[0] {
			return true
		}
	}
	return false
}

// ErrTooFewGroups says that a limit on generations was reached first.
var ErrTooFewGroups = errors.New("dynamic sampling")

// DynamicSampling collects groups that teach until there are enough, as DAPO
// does.
type DynamicSampling struct {
	Target         int // groups wanted
	MaxGenerations int // 0 means no limit
	kept           int
	generations    int
}

// Add counts one generation's groups that teach. done is set once there are
// enough; use says how many groups of this generation to train on, the surplus
// at the end being cut.
func (d *DynamicSampling) Add(kept int) (use int, done bool, err error) {
	use = min(kept, d.Target-d.kept)
	d.kept += kept
	d.generations++
	if d.kept >= d.Target {
		return use, true, nil
	}
	if d.MaxGenerations > 0 && d.generations >= d.MaxGenerations {
		return use, false, fmt.Errorf("%w: %d generations gave %d of %d groups with different rewards", ErrTooFewGroups, d.generations, d.kept, d.Target)
	}
	return use, false, nil
}
