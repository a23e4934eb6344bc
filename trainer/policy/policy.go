// Package policy says which parameters answer for which role: one set for all
// (shared), one a role (isolated), one an agent (slot), or any map from roles
// to named sets, some of them frozen. Each set has an optimizer and a step
// count of its own.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Map is a routing of roles to named parameter sets.
type Map struct {
	spec   string
	kind   kind
	set    map[string]string // kind mapped: role -> set
	frozen map[string]bool
}

type kind int

const (
	shared kind = iota
	isolated
	perSlot
	mapped
)

// SharedSet is the name of the only set of a shared policy.
const SharedSet = "shared"

// Parse reads a routing: "shared", "isolated", "slot", or a list such as
// "generator=a,aggregator=b!" that names a set for every role; a set written
// with an exclamation mark is frozen.
func Parse(spec string, roles []string) (Map, error) {
	m := Map{spec: spec, frozen: map[string]bool{}}
	switch spec {
	case "shared":
		return m, nil
	case "isolated":
		m.kind = isolated
		return m, nil
	case "slot":
		m.kind = perSlot
		return m, nil
	}
	m.kind, m.set = mapped, map[string]string{}
	for pair := range strings.SplitSeq(spec, ",") {
		role, set, ok := strings.Cut(strings.TrimSpace(pair), "=")
		name := strings.TrimSuffix(set, "!")
		if !ok || !validName(name) {
			return m, fmt.Errorf("policy %q is neither shared, isolated, slot nor a list of role=set", spec)
		}
		if !slices.Contains(roles, role) {
			return m, fmt.Errorf("policy %q: the workflow has no role %q, only %s", spec, role, strings.Join(roles, ", "))
		}
		if m.set[role] != "" {
			return m, fmt.Errorf("policy %q names the role %q twice", spec, role)
		}
		m.set[role] = name
		frozen := name != set
		if had, known := m.frozen[name]; known && had != frozen {
			return m, fmt.Errorf("policy %q: the set %q is frozen in one place and not in another", spec, name)
		}
		m.frozen[name] = frozen
	}
	for _, r := range roles {
		if m.set[r] == "" {
			return m, fmt.Errorf("policy %q names no set for the role %q", spec, r)
		}
	}
	return m, nil
}

// validName keeps set names usable as folder names.
func validName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// String is the routing as it was written.
func (m Map) String() string { return m.spec }

// Set is the name of the set that answers for an agent.
func (m Map) Set(role string, slot int) string {
	switch m.kind {
	case isolated:
		return role
	case perSlot:
		return fmt.Sprintf("%s%d", role, slot)
	case mapped:
		return m.set[role]
	}
	return SharedSet
}

// Frozen reports whether a set is never updated.
func (m Map) Frozen(set string) bool { return m.frozen[set] }

// Sets lists all sets in the order of the roles; slots gives the number of
// agents of a role.
func (m Map) Sets(roles []string, slots func(role string) int) []string {
	var sets []string
	for _, r := range roles {
		for s := range max(1, slots(r)) {
			if name := m.Set(r, s); !slices.Contains(sets, name) {
				sets = append(sets, name)
			}
		}
	}
	return sets
}

// Turn reports whether a set is updated in an iteration (from 1) when sets
// take turns of n iterations; n 0 means that all are updated always.
func Turn(set string, trained []string, iteration, n int) bool {
	if n <= 0 || len(trained) == 0 {
		return true
	}
	return trained[(iteration-1)/n%len(trained)] == set
}
