package mathans

import "testing"

func TestJudgeIntegers(t *testing.T) {
	for _, c := range []struct {
		gold, reply string
		want        Outcome
	}{
		{"42", `so \boxed{42}`, Equal},
		{"42", "Work.\nAnswer: 42", Equal},
		{"42", "**Answer:** 42", Equal},
		{"42", "Answer: **42**", Equal},
		{"42", `Answer: \(42\)`, Equal},
		{"42", "Answer: 042.", Equal},
		{"42", `First try \boxed{41} fails, so \boxed{42}`, Equal},
		{"42", `\boxed{41} or \boxed{42}`, Unequal},
		{"42", `<think>\boxed{42}</think> gave up`, NoAnswer},
		{"42", `<think>\boxed{42}`, NoAnswer},
		{"42", "I do not know. There were 42 pages.", NoAnswer},
		{"42", `\fbox{42}`, Equal},
		{"42", "Answer: 4,2", Unequal},
		{"42", `\boxed{42`, NoAnswer},
		{"", `\boxed{}`, BadGold},
		{"1000000", `\boxed{1{,}000{,}000}`, Equal},
		{"100000000000000000001", `\boxed{100000000000000000000}`, Unequal},
		{"0.5", `\boxed{.5}`, Equal},
	} {
		if got := Judge(c.gold, c.reply, Options{}); got.Outcome != c.want {
			t.Errorf("Judge(%q, %q) = %v, want %v", c.gold, c.reply, got, c.want)
		}
	}
}
