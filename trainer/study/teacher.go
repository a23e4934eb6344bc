package study

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"troupe/data"
	"troupe/trainer/workflow"
)

// transcript is one call of a role with the reply a teacher gives.
type transcript struct {
	role   string
	prompt string
	reply  string
}

// teacher writes transcripts. It makes no mistakes of its own: wrong
// candidates only stand where a role has to judge or to mend them.
//
// Judges write check digits before their verdict. Without them they stay at
// chance: whether two numbers are equal is not found from a one-bit label, the
// difference digit by digit is.
type teacher struct {
	kind    data.Kind
	prompts *workflow.Prompts
}

// mix is the share of each kind of transcript, cumulated.
var mix = []struct {
	upTo  float64
	write func(t teacher, rng *rand.Rand, p problem) transcript
}{
	{0.24, teacher.generator},
	{0.34, teacher.refinement},
	{0.56, teacher.evaluator},
	{0.72, teacher.aggregator},
	{0.76, teacher.orchestrator},
	{0.89, teacher.worker},
	{1.00, teacher.synthesizer},
}

// write draws a transcript on a problem.
func (t teacher) write(rng *rand.Rand, p problem) transcript {
	u := rng.Float64()
	for _, m := range mix {
		if u < m.upTo {
			return m.write(t, rng, p)
		}
	}
	return t.synthesizer(rng, p)
}

func (t teacher) prompt(name string, p problem, more ...string) string {
	values := append([]string{"{problem}", p.text, "{max_subtasks}", fmt.Sprint(maxSubtasks)}, more...)
	return t.prompts.Render(t.kind, name, values...)
}

// solution writes an answer in the form the verifiers read.
func (t teacher) solution(p problem) string {
	if t.kind == data.Math {
		return boxOpen + p.answer() + boxClose
	}
	return codeOpen + p.answer() + codeClose
}

// candidate is a solution that is right with the given chance.
func (t teacher) candidate(rng *rand.Rand, p problem, right float64) problem {
	if rng.Float64() < right {
		return p
	}
	return p.wrong(rng)
}

func (t teacher) generator(rng *rand.Rand, p problem) transcript {
	return transcript{"generator", t.prompt(workflow.PromptGenerator, p), t.solution(p)}
}

// history is an evaluator-optimizer chat in which n candidates were refused.
func (t teacher) history(rng *rand.Rand, p problem, n int) string {
	s := t.prompt(workflow.PromptGenerator, p)
	for range n {
		c := t.candidate(rng, p, 0.15)
		s += t.solution(c) + t.judgement(p, c, false)
	}
	return s
}

// judgement is an evaluator's reply: check digits and the verdict.
func (t teacher) judgement(p, c problem, satisfied bool) string {
	word := incorrect
	if satisfied {
		word = correct
	}
	own := fmt.Sprint(p.value(0) % 10)
	if t.kind == data.Code {
		own = fmt.Sprint(c.value(1)) + ","
	}
	return own + t.check(p, c) + boxOpen + word + boxClose
}

// check is the difference between the right value and a candidate's: units
// and tens for sums, one digit at n=1 for programs.
func (t teacher) check(p, c problem) string {
	if t.kind == data.Math {
		d := ((p.value(0)-c.value(0))%100 + 100) % 100
		return fmt.Sprintf("%d%d", d%10, d/10)
	}
	d := c.value(1) - p.value(1)
	if d < 0 {
		d = -d
	}
	if d > 0 {
		d = 1 + (d-1)%9
	}
	return fmt.Sprint(d)
}

// passes reports whether the check digits find nothing.
func (t teacher) passes(p, c problem) bool { return strings.Trim(t.check(p, c), "0") == "" }

func (t teacher) refinement(rng *rand.Rand, p problem) transcript {
	h := t.history(rng, p, 1+rng.IntN(2))
	return transcript{"generator", h + t.prompt(workflow.PromptRefinement, p), t.solution(p)}
}

func (t teacher) evaluator(rng *rand.Rand, p problem) transcript {
	c := t.candidate(rng, p, 0.5)
	n := 0
	if u := rng.Float64(); u >= 0.8 {
		n = 2
	} else if u >= 0.6 {
		n = 1
	}
	h := t.history(rng, p, n) + t.solution(c)
	return transcript{"evaluator", h + t.prompt(workflow.PromptEvaluator, p),
		t.judgement(p, c, t.passes(p, c) && c.answer() == p.answer())}
}

// fewer is how often an aggregator is shown one or two candidates instead of
// three. One that has never seen a single candidate names others.
const fewer = 0.2

func (t teacher) aggregator(rng *rand.Rand, p problem) transcript {
	var shown, checks strings.Builder
	if t.kind == data.Math {
		fmt.Fprint(&checks, p.value(0)%10)
	}
	n := 3
	if rng.Float64() < fewer {
		n = 1 + rng.IntN(2)
	}
	var good []int
	for k := 1; k <= n; k++ {
		c := t.candidate(rng, p, 0.5)
		shown.WriteString(workflow.SolutionHeader(k) + t.solution(c))
		checks.WriteString(t.check(p, c))
		if t.passes(p, c) {
			good = append(good, k)
		}
	}
	pick := 1 + rng.IntN(n)
	if len(good) > 0 {
		pick = good[rng.IntN(len(good))]
	}
	return transcript{"aggregator", t.prompt(workflow.PromptAggregator, p, "{solutions}", shown.String()),
		checks.String() + boxOpen + fmt.Sprint(pick) + boxClose}
}

// plan draws one to three strategies; for programs the right family is among
// them more often than chance would have it.
func (t teacher) plan(rng *rand.Rand, p problem) []int {
	n := 3
	if rng.Float64() < 0.15 {
		n = 1
	} else if rng.Float64() < 0.3 {
		n = 2
	}
	perm := rng.Perm(len(strategies[t.kind]))
	if t.kind == data.Code && rng.Float64() < 0.6 {
		j := rng.IntN(n)
		for i, s := range perm {
			if s == family[p.op] {
				perm[i], perm[j] = perm[j], perm[i]
				break
			}
		}
	}
	return perm[:n]
}

func (t teacher) orchestrator(rng *rand.Rand, p problem) transcript {
	var reply strings.Builder
	for i, s := range t.plan(rng, p) {
		reply.WriteString(strategyMark(i+1) + strategies[t.kind][s])
	}
	return transcript{"orchestrator", t.prompt(workflow.PromptOrchestrator, p), reply.String()}
}

func (t teacher) worker(rng *rand.Rand, p problem) transcript {
	s := rng.IntN(len(strategies[t.kind]))
	if t.kind == data.Code && rng.Float64() < 0.6 {
		s = family[p.op]
	}
	return transcript{"worker", t.prompt(workflow.PromptWorker, p, "{strategy}", strategies[t.kind][s]), t.work(rng, p, s, 1.1)}
}

// work is a worker's reply by strategy s. A program of the wrong family is
// often given up for the right one: with nothing but useless targets the
// worker would not learn to solve at all.
func (t teacher) work(rng *rand.Rand, p problem, s int, right float64) string {
	if t.kind == data.Code {
		switch {
		case s == family[p.op]:
			return t.solution(t.candidate(rng, p, right+.1))
		case rng.Float64() < 0.4:
			return t.solution(p)
		}
		of := families[s]
		return t.solution(randomFunction(rng, of[rng.IntN(len(of))]))
	}
	switch s {
	case 1:
		sign := 1
		if p.op == difference {
			sign = -1
		}
		tens, units := p.a/10*10+sign*(p.b/10*10), p.a%10+sign*(p.b%10)
		return fmt.Sprintf("%d,%d", tens, units) + t.solution(t.candidate(rng, p, right+.1))
	case 2:
		return fmt.Sprintf("%d,", p.value(0)%10) + t.solution(t.candidate(rng, p, right))
	}
	return t.solution(t.candidate(rng, p, right-.1))
}

func (t teacher) synthesizer(rng *rand.Rand, p problem) transcript {
	var shown strings.Builder
	for i, s := range t.plan(rng, p) {
		shown.WriteString(workflow.StrategyHeader(i+1, strategies[t.kind][s]) + t.work(rng, p, s, 0.5))
	}
	return transcript{"synthesizer", t.prompt(workflow.PromptSynthesizer, p, "{solutions}", shown.String()), t.solution(p)}
}
