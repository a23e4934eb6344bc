package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"troupe/trainer/study"
)

// significant is the p below which the study calls a gain significant at the
// training temperature, and the one for the greedy column.
const (
	significant       = 0.001
	significantGreedy = 0.05
)

// printResults prints the study's tables from what stands in the log.
func printResults(w io.Writer, results []study.Result) {
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(w, "\nAccuracy on %d tasks that were never trained on. p: McNemar's exact test of base against final on\nthe same tasks. drop: from the highest measurement to the end. RL: the single agent's final accuracy.\n\n", results[0].Sampled.N)
	fmt.Fprintf(w, "%-17s  %-51s  %s\n", "", "sampled (T 1)", "greedy")
	fmt.Fprintf(w, "%-17s  %5s %5s %9s %5s %5s %6s %6s   %5s %5s %6s %6s\n", "cell", "base", "RL", "peak@it", "final", "drop", "gain", "p", "base", "final", "gain", "p")
	for _, r := range results {
		rl := "    -"
		if s := singleOf(results, r.Cell); s != nil {
			rl = fmt.Sprintf("%5.3f", s.Sampled.Final)
		}
		fmt.Fprintf(w, "%-17s  %5.3f %s %5.3f@%-3d %5.3f %5.3f %+.3f %6.0e   %5.3f %5.3f %+.3f %6.0e\n", r.Cell.Name(),
			r.Sampled.Base, rl, r.Peak, r.PeakAt, r.Sampled.Final, r.Drop(), r.Sampled.Gain(), r.Sampled.P,
			r.Greedy.Base, r.Greedy.Final, r.Greedy.Gain(), r.Greedy.P)
	}
	printSignificance(w, results)
	printPolicies(w, results)
	printMechanisms(w, results)
}

// singleOf is the single-agent result on the same base.
func singleOf(results []study.Result, c study.Cell) *study.Result {
	for i := range results {
		o := results[i].Cell
		if o.Workflow == "single" && o.Kind == c.Kind && o.Scale == c.Scale && o.Seed == c.Seed {
			return &results[i]
		}
	}
	return nil
}

func printSignificance(w io.Writer, results []study.Result) {
	var weak, weakGreedy []string
	gain, greedy := 0.0, 0.0
	for _, r := range results {
		gain += r.Sampled.Gain() / float64(len(results))
		greedy += r.Greedy.Gain() / float64(len(results))
		if r.Sampled.Gain() <= 0 || r.Sampled.P >= significant {
			weak = append(weak, r.Cell.Name())
		}
		if r.Greedy.Gain() <= 0 || r.Greedy.P >= significantGreedy {
			weakGreedy = append(weakGreedy, r.Cell.Name())
		}
	}
	fmt.Fprintf(w, "\nSampled: %d of %d cells end above their base at p < %g, mean gain %+.1f points%s.\n",
		len(results)-len(weak), len(results), significant, 100*gain, notThese(weak))
	fmt.Fprintf(w, "Greedy:  %d of %d at p < %g, mean gain %+.1f points%s.\n",
		len(results)-len(weakGreedy), len(results), significantGreedy, 100*greedy, notThese(weakGreedy))
}

func notThese(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; not " + strings.Join(names, ", ")
}

// printPolicies compares isolated with shared, and workflows with the single
// agent, cell by cell on the same tasks.
func printPolicies(w io.Writer, results []study.Result) {
	var differences []float64
	var lines strings.Builder
	for _, shared := range results {
		if shared.Cell.Policy != "shared" || shared.Cell.Workflow == "single" {
			continue
		}
		for _, isolated := range results {
			c := isolated.Cell
			if c.Policy = "shared"; c != shared.Cell || isolated.Cell.Policy != "isolated" {
				continue
			}
			d := study.Compare(shared, isolated)
			differences = append(differences, d.Gain())
			fmt.Fprintf(&lines, "  %-15s %+.3f ± %.3f  p %.2g", strings.Replace(shared.Cell.Name(), "-SP", "", 1), d.Gain(), d.SE(), d.P)
			if s := singleOf(results, shared.Cell); s != nil {
				a, b := study.Compare(*s, shared), study.Compare(*s, isolated)
				fmt.Fprintf(&lines, "    against single: SP %+.3f (p %.2g), IP %+.3f (p %.2g)", a.Gain(), a.P, b.Gain(), b.P)
			}
			lines.WriteByte('\n')
		}
	}
	if len(differences) == 0 {
		return
	}
	mean, se := meanAndError(differences)
	fmt.Fprintf(w, "\nFinal accuracy, isolated (IP) minus shared (SP), ± one standard error over tasks:\n%s", lines.String())
	fmt.Fprintf(w, "  mean of %d pairs %+.4f ± %.4f over pairs: %s.\n", len(differences), mean, se, verdictOn(len(differences), mean, se))
}

func meanAndError(x []float64) (mean, se float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, math.NaN()
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / float64(len(x)-1) / float64(len(x)))
}

// fewPairs are too few for their spread to say how far their mean can be off.
const fewPairs = 5

// verdictOn says in words what the mean of n pairs with its error shows.
func verdictOn(n int, mean, se float64) string {
	switch {
	case n < fewPairs:
		return "too few pairs to rank the policies"
	case math.Abs(mean) < 2*se:
		return "no difference that this study could see"
	case mean > 0:
		return "IP ends higher"
	}
	return "SP ends higher"
}

// printMechanisms is the table of what the log says about roles.
func printMechanisms(w io.Writer, results []study.Result) {
	var lines strings.Builder
	for _, r := range results {
		for _, m := range r.Roles {
			if m.Readable == 1 && math.IsNaN(m.Amplification) && math.IsNaN(m.MassShare) && math.IsNaN(m.SurpriseLast) {
				continue // nothing to tell
			}
			fmt.Fprintf(&lines, "%-17s %-13s %13s %10s %16s %16s %8s\n", r.Cell.Name(), m.Role, number("%.2f", m.Amplification), number("%.2f", m.MassShare),
				fromTo("%+.2f", m.CaptureFirst, m.CaptureLast), fromTo("%.3g", m.SurpriseFirst, m.SurpriseLast), number("%.3f", m.Readable))
		}
	}
	if lines.Len() == 0 {
		return
	}
	fmt.Fprintf(w, "\nMechanisms (first -> last measurement where there is an arrow; - where there is none)\n\n")
	fmt.Fprintf(w, "%-17s %-13s %13s %10s %16s %16s %8s\n%s", "cell", "role", "amplification", "mass share", "capture", "base perplexity", "readable", lines.String())
}

func number(format string, x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

func fromTo(format string, a, b float64) string {
	if math.IsNaN(a) {
		return "-"
	}
	return fmt.Sprintf(format+" -> "+format, a, b)
}

// printEqual is the table of --equal-compute.
func printEqual(w io.Writer, all []study.Equal) {
	fmt.Fprintf(w, "\nAt equal compute: a single agent that was trained until it had passed as many tokens as the workflow.\n\n")
	fmt.Fprintf(w, "%-17s %14s %9s %12s %9s %7s %8s\n", "cell", "tokens passed", "workflow", "single agent", "at it.", "diff.", "p")
	for _, e := range all {
		fmt.Fprintf(w, "%-17s %14.3g %9.3f %12.3f %9d %+7.3f %8.0e\n", e.Cell.Name(), e.Compute, e.Final, e.Single, e.Iterations, e.Final-e.Single, e.P)
	}
}

// printControls prints what each pair came to.
func printControls(w io.Writer, all []study.Outcome) {
	fmt.Fprintf(w, "\nControls: pairs that differ in one thing, same seed, same base, same tasks (voting on sums).\n")
	for _, o := range all {
		fmt.Fprintf(w, "\n%s. %s\n", o.Name, o.Question)
		for _, a := range o.Arms {
			fmt.Fprintf(w, "  %-10s peak %.3f@%-3d final %.3f drop %.3f (p %.0e)", a.Label, a.Peak, a.PeakAt, a.Final, a.Drop(), a.DropP)
			if o.Slots {
				fmt.Fprintf(w, "  amplification %s", number("%.3f", orNaN(a.Amplification)))
			}
			fmt.Fprintf(w, "  aggregator readable %.3f", a.Readable)
			if a.Alarm != "" {
				fmt.Fprintf(w, "  first alarm %s@%d", a.Alarm, a.AlarmAt)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "  finals compared: %+.3f, p %.2g. %s\n", o.Arms[1].Final-o.Arms[0].Final, o.P, o.Sentence())
	}
}

func orNaN(x float64) float64 {
	if x == 0 {
		return math.NaN()
	}
	return x
}
