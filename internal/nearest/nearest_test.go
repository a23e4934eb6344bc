package nearest

import "testing"

func TestWord(t *testing.T) {
	known := []string{"rollouts", "tasks", "lr", "lr.warmup"}
	for word, want := range map[string]string{
		"rolouts": "rollouts", "task": "tasks", "lr.warm": "lr.warmup", "rollouts": "rollouts", "l": "lr",
		"something else": "", "": "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance of %q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
