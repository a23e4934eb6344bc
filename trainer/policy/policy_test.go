package policy

import (
	"strings"
	"testing"
)

func TestRouting(t *testing.T) {
	roles := []string{"generator", "aggregator"}
	slots := func(r string) int {
		if r == "generator" {
			return 3
		}
		return 1
	}
	for _, c := range []struct{ spec, sets, third string }{
		{"shared", "shared", "shared"},
		{"isolated", "generator aggregator", "generator"},
		{"slot", "generator0 generator1 generator2 aggregator0", "generator2"},
		{"generator=a,aggregator=a", "a", "a"},
		{"generator=a, aggregator=b!", "a b", "a"},
	} {
		m, err := Parse(c.spec, roles)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Sets(roles, slots), " "); got != c.sets {
			t.Errorf("%s: sets %s, want %s", c.spec, got, c.sets)
		}
		if got := m.Set("generator", 2); got != c.third {
			t.Errorf("%s: third generator is %s, want %s", c.spec, got, c.third)
		}
		if m.String() != c.spec || m.Frozen("b") != strings.Contains(c.spec, "!") {
			t.Errorf("%s: spec or frozen wrong", c.spec)
		}
	}
	for _, bad := range []string{"", "share", "generator=a", "generator=a,writer=b", "generator=../x,aggregator=b", "generator=!,aggregator=b",
		"generator=a!,aggregator=a", "generator=a,generator=b,aggregator=c"} {
		if _, err := Parse(bad, roles); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestTurnsAlternate(t *testing.T) {
	sets := []string{"a", "b"}
	var got []string
	for it := 1; it <= 6; it++ {
		for _, s := range sets {
			if Turn(s, sets, it, 2) {
				got = append(got, s)
			}
		}
	}
	if strings.Join(got, "") != "aabbaa" {
		t.Errorf("turns %v", got)
	}
	if !Turn("a", sets, 3, 0) || !Turn("b", sets, 3, 0) {
		t.Error("without turns all sets are updated")
	}
}
