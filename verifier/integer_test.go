package verifier

import (
	"strings"
	"testing"

	"troupe/data"
	"troupe/verifier/verdict"
)

func TestLastInteger(t *testing.T) {
	j := New(Options{})
	for _, c := range []struct {
		gold, reply string
		code        verdict.Code
	}{
		{"85", "85", verdict.AC},
		{"85", "47 + 38 = 85.", verdict.AC},
		{"85", "085", verdict.AC},
		{"85", "85, not 75", verdict.WA},
		{"85", "85.0", verdict.WA}, // its last integer is 0
		{"85", "-85", verdict.WA},
		{"38", "47-38", verdict.AC},
		{"-9", "38 - 47 is -9", verdict.AC},
		{"85", "eighty-five", verdict.NA},
		{"85", "", verdict.NA},
		{"85", strings.Repeat("9", 5000), verdict.WA},
		{"x", "85", verdict.IE},
	} {
		v, err := j.Verify(t.Context(), data.Task{ID: "t", Kind: data.Math, Gold: c.gold, Answer: data.LastInteger}, c.reply)
		if err != nil || v.Code != c.code || (v.Reward == 1) != (c.code == verdict.AC) {
			t.Errorf("gold %s, reply %.20q: %v %v, want %s", c.gold, c.reply, v, err, c.code)
		}
	}
}
