package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"troupe/data"
	"troupe/data/synth"
)

type dataCmd struct {
	Show  dataShowCmd  `cmd:"" help:"Show the tasks of a data file."`
	Fetch dataFetchCmd `cmd:"" help:"Fetch a data set from the Hugging Face hub."`
	Synth dataSynthCmd `cmd:"" help:"Write generated tasks as JSONL."`
}

type dataShowCmd struct {
	File  string `arg:"" placeholder:"FILE" help:"A .jsonl, .json or .parquet file, or a folder with the parts of one data set."`
	N     int    `short:"n" default:"3" help:"How many tasks to print."`
	All   bool   `help:"Print all tasks."`
	Split string `placeholder:"train|dev|held" help:"Only tasks of this split."`
	JSON  bool   `name:"json" help:"Print the tasks as JSONL that train, eval and verify read."`
}

// Run prints what is in a file: its tasks on standard output, what became of
// its rows on standard error.
func (c *dataShowCmd) Run(env *environment) error {
	tasks, report, err := loadTasks(env.Ctx, c.File)
	if err != nil {
		return inputf("%w", err)
	}
	printSummary(env.Stderr, tasks, &report)
	shown := 0
	for _, t := range tasks {
		if !c.All && shown >= c.N {
			break
		}
		if c.Split != "" && string(t.Split) != c.Split {
			continue
		}
		shown++
		if c.JSON {
			err = newJSONWriter(env.Stdout).write(taskRecord(t))
		} else {
			err = printTask(env.Stdout, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printSummary says how many tasks there are of what, and which rows were left
// out for what reason.
func printSummary(w io.Writer, tasks []data.Task, report *data.Report) {
	fmt.Fprintln(w, report.String())
	count := map[string]int{}
	for _, t := range tasks {
		kind := string(t.Kind)
		switch {
		case t.Kind == data.Code && t.Fn != "":
			kind += ", called"
		case t.Kind == data.Code && t.Tests[0].Assert != "":
			kind += ", asserted"
		case t.Kind == data.Code:
			kind += ", stdin"
		}
		count[kind+", split "+cmp.Or(string(t.Split), "none")]++
	}
	var names []string
	for n := range count {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(w, "  %d tasks: %s\n", count[n], n)
	}
}

func printTask(w io.Writer, t data.Task) error {
	var b strings.Builder
	fmt.Fprintf(&b, "── %s (%s)\n%s\n", t.ID, t.Kind, shorten(t.Text, 1200))
	if t.Kind == data.Math {
		fmt.Fprintf(&b, "answer: %s\n", shorten(t.Gold, 200))
	} else {
		if t.Fn != "" {
			fmt.Fprintf(&b, "function: %s\n", t.Fn)
		}
		fmt.Fprintf(&b, "%d tests, the first:\n", len(t.Tests))
		for _, part := range [][2]string{{"input", t.Tests[0].Input}, {"output", t.Tests[0].Output}, {"assert", t.Tests[0].Assert}} {
			if part[1] != "" {
				fmt.Fprintf(&b, "  %s: %s\n", part[0], shorten(strings.TrimSpace(part[1]), 200))
			}
		}
	}
	_, err := io.WriteString(w, strings.Map(printable, b.String())+"\n")
	return err
}

// printable replaces the control characters with which a data set could steer
// a terminal.
func printable(r rune) rune {
	if r < 32 && r != '\n' && r != '\t' || r == 127 || r >= 0x80 && r < 0xa0 {
		return '·'
	}
	return r
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// taskRecord is a task in the record format of `train --data`.
func taskRecord(t data.Task) any {
	type test struct {
		Input  string `json:"input"`
		Output string `json:"output"`
	}
	type assertion struct {
		Assert string `json:"assert"`
	}
	record := struct {
		ID      string `json:"id"`
		Problem string `json:"problem"`
		Answer  string `json:"answer,omitempty"`
		Tests   []any  `json:"tests,omitempty"`
		Fn      string `json:"fn_name,omitempty"`
		Starter string `json:"starter_code,omitempty"`
		Checker string `json:"checker,omitempty"`
		Split   string `json:"split,omitempty"`
	}{ID: t.ID, Problem: t.Text, Answer: t.Gold, Fn: t.Fn, Starter: t.Starter, Checker: t.Checker, Split: string(t.Split)}
	for _, x := range t.Tests {
		switch {
		case x.Assert != "":
			record.Tests = append(record.Tests, assertion{x.Assert})
		case t.Fn != "" && x.Wrapped:
			record.Tests = append(record.Tests, struct {
				test
				Type string `json:"type"`
			}{test{x.Input, x.Output}, "function_call"})
		default:
			record.Tests = append(record.Tests, test{x.Input, x.Output})
		}
	}
	return record
}

type dataSynthCmd struct {
	Kind      string `arg:"" enum:"math,code,calls" help:"math, code (programs that read standard input) or calls (functions)."`
	N         int    `short:"n" default:"1000" help:"How many different tasks."`
	Level     string `enum:"easy,medium,hard" default:"medium" help:"easy, medium or hard."`
	Rendering string `enum:"english,short" default:"english" help:"english for real checkpoints, short as the tiny models read it."`
	Split     string `enum:"train,dev,held" default:"train" help:"train, dev or held; they have no task in common."`
	Seed      uint64 `default:"1" help:"Seed of the choice."`
}

// Help is the long text of `troupe data synth --help`.
func (dataSynthCmd) Help() string {
	return `Example:
  troupe data synth math -n 2000 > tasks.jsonl
  troupe train --data tasks.jsonl --task math --model DIR`
}

// Run writes tasks to standard output.
func (c *dataSynthCmd) Run(env *environment) error {
	rendering := map[string]synth.Rendering{"english": synth.English, "short": synth.Short}[c.Rendering]
	level := map[string]synth.Level{"easy": synth.Easy, "medium": synth.Medium, "hard": synth.Hard}[c.Level]
	set := map[string]func(synth.Rendering, synth.Level) *synth.Set{"math": synth.Math, "code": synth.Code, "calls": synth.Calls}[c.Kind](rendering, level)
	if c.N < 0 {
		return usagef("data synth: -n %d is less than nothing", c.N)
	}
	tasks := set.Distinct(data.Split(c.Split), c.Seed, c.N)
	if len(tasks) < c.N {
		fmt.Fprintf(env.Stderr, "there are no more than %d such tasks\n", len(tasks))
	}
	w := newJSONWriter(env.Stdout)
	for _, t := range tasks {
		if err := w.write(taskRecord(t)); err != nil {
			return err
		}
	}
	return nil
}
