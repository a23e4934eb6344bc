package grid

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestIndex(t *testing.T) {
	for name, c := range map[string]struct {
		flag int
		env  map[string]string
		want int
		bad  string
	}{
		"flag":          {flag: 3, want: 3},
		"flag wins":     {flag: 0, env: map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, want: 0},
		"slurm":         {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, want: 2},
		"kubernetes":    {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "13"}, want: 13},
		"empty":         {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "", "JOB_COMPLETION_INDEX": "1"}, want: 1},
		"none":          {flag: -1, bad: "no index"},
		"past the end":  {flag: 14, bad: "0 to 13"},
		"slurm, past":   {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "14"}, bad: "SLURM_ARRAY_TASK_ID"},
		"not a number":  {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "x"}, bad: "not a whole number"},
		"negative task": {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "-1"}, bad: "0 to 13"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Index(c.flag, 14, func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Fatalf("error %v, want %q", err, c.bad)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
	if _, err := Index(-1, 1, func(string) (string, bool) { return "", false }); !errors.Is(err, ErrNoIndex) {
		t.Errorf("error %v", err)
	}
}

func TestDearestKeepsOrderOfEquals(t *testing.T) {
	got := Dearest([]Job{{Index: 0, Cost: 1}, {Index: 1, Cost: 5}, {Index: 2, Cost: 1}, {Index: 3, Cost: 5}})
	if !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Errorf("order %v", got)
	}
}
