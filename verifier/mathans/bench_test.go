package mathans

import (
	"strings"
	"testing"
)

// long is about 2 kB of text before an answer.
var long = strings.Repeat("Then we add the two numbers and carry on. ", 48)

// BenchmarkJudge judges one answer after another. answers/s is per core.
func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct{ name, gold, reply string }{
		{"integer-2kB", "42", long + `\boxed{42}`},
		{"integer-short", "42", `so \boxed{42}`},
		{"integer-answer-line", "42", long + "\nAnswer: 42"},
		{"integer-none", "42", long},
		{"fraction", `\frac{5}{8}`, `so \boxed{0.625}`},
		{"radical", `\sqrt{12}`, `so \boxed{2\sqrt{3}}`},
		{"radical-unequal", `\sqrt{12}`, `so \boxed{2\sqrt{5}}`},
		{"nested-radical", `\sqrt{3+2\sqrt2}`, `so \boxed{1+\sqrt{2}}`},
		{"trigonometry", `\sin 75^\circ`, `so \boxed{\frac{\sqrt6+\sqrt2}{4}}`},
		{"polynomial", `a^2-b^2`, `so \boxed{(a+b)(a-b)}`},
		{"identity", `\sec^2(y)`, `so \boxed{\tan^2(y)+1}`},
		{"interval", `[2,5)`, `so \boxed{2\le x<5}`},
		{"tower", `3`, `so \boxed{2^{2^{2^{2^{2^{2}}}}}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Judge(c.gold, c.reply, Options{})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
	b.Run("dapo", func(b *testing.B) {
		for b.Loop() {
			DAPO("42", long+"\nAnswer: 42", DAPOJanuary)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
	})
}
