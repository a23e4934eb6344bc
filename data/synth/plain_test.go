package synth

import (
	"slices"
	"strings"
	"testing"

	"troupe/data"
)

func TestPlainTasksAreQuestionsWithOneInteger(t *testing.T) {
	want := map[string]string{"sums1": "What is 4 + 5?", "sums2": "What is 47 + 38?", "stories": "How many"}
	for _, name := range Names() {
		s, ok := Named(name)
		if !ok {
			t.Fatalf("%s has no set", name)
		}
		var all []data.Task
		for _, split := range splits {
			tasks, ok := s.All(split)
			if !ok {
				t.Fatalf("%s can't be listed", name)
			}
			all = append(all, tasks...)
		}
		if !slices.ContainsFunc(all, func(t data.Task) bool { return strings.Contains(t.Text, want[name]) }) {
			t.Errorf("%s has no task like %q", name, want[name])
		}
		for _, task := range all {
			if task.Answer != data.LastInteger || task.Gold == "" || !strings.HasSuffix(task.Text, "?") || strings.ContainsAny(task.Text, "{}") {
				t.Fatalf("%s: %+v", name, task)
			}
			if name == "stories" && strings.HasPrefix(task.Text, "What is") {
				t.Fatalf("%s tells no story: %s", name, task.Text)
			}
		}
	}
	if s, _ := Named("sums2"); len(s.Distinct(data.Held, 1, 500)) != 500 {
		t.Error("fewer than 500 two-digit sums are held out")
	}
	if _, ok := Named("math"); ok {
		t.Error("math is a kind of task, not a set")
	}
}
