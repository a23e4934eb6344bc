// Package deepcoder reads DeepCoder-Preview-Dataset in the true shapes of its
// four parts: primeintellect, taco, lcbv5 and codeforces.
package deepcoder

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"troupe/data"
	"troupe/data/nprand"
	"troupe/data/parquet"
)

// Set is the data set's name in task ids.
const Set = "deepcoder"

// The paper's split of primeintellect: shuffled with this seed, the first rows
// are the test set.
const (
	splitSeed = 42
	testRows  = 1000
)

// Is tells a DeepCoder file by its columns.
func Is(s parquet.Schema) bool { return s.Has("problem", "tests") }

// Read reads the files of one part, in the order given. Tasks of primeintellect
// (told by the files' path) are in the paper's splits: usable rows only,
// shuffled as datasets.shuffle(seed=42) does, the first 1,000 are data.Held and
// the rest data.Train. The error is for files that can't be read or have no
// usable row.
func Read(ctx context.Context, paths ...string) ([]data.Task, data.Report, error) {
	var tasks []data.Task
	report, err := Each(ctx, paths, func(t data.Task) error {
		tasks = append(tasks, t)
		return nil
	})
	if err != nil {
		return nil, report, err
	}
	if len(tasks) == 0 {
		return nil, report, fmt.Errorf("%s: no row can be used: %s", strings.Join(paths, ", "), report.Line())
	}
	if strings.Contains(filepath.ToSlash(paths[0]), "primeintellect") {
		split(tasks)
	}
	return tasks, report, nil
}

func split(tasks []data.Task) {
	for place, row := range nprand.Shuffled(len(tasks), splitSeed) {
		tasks[row].Split = data.Train
		if place < testRows {
			tasks[row].Split = data.Held
		}
	}
}

// Each calls f for every usable row without keeping any: the tests of a part
// can be larger than the memory. Rows are numbered through all files.
func Each(ctx context.Context, paths []string, f func(data.Task) error) (data.Report, error) {
	var report data.Report
	seen := map[string]bool{}
	defer report.Sort()
	for _, path := range paths {
		schema, err := parquet.Inspect(ctx, path)
		if err != nil {
			return report, err
		}
		if !Is(schema) {
			return report, fmt.Errorf("%s: no DeepCoder file: it has the columns %s, and not problem and tests",
				path, strings.Join(schema.Columns, ", "))
		}
		err = parquet.Rows(ctx, path, []string{"problem", "tests", "starter_code?", "metadata?"}, func(_ int, raw []byte, rowErr error) error {
			report.Rows++
			t, err := data.Task{}, rowErr
			if err == nil {
				t, err = Task(raw)
			}
			if err == nil && seen[t.ID] {
				err = &data.RowError{Reason: "the problem came before"}
			}
			if err != nil {
				report.Reject(report.Rows, err)
				return nil
			}
			seen[t.ID] = true
			report.Used++
			return f(t)
		})
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// Task reads one row of any part, given as JSON. The error is a
// *data.RowError.
func Task(raw []byte) (data.Task, error) {
	var row struct {
		Problem     *string
		Tests       json.RawMessage
		StarterCode *string `json:"starter_code"`
		Metadata    json.RawMessage
	}
	if err := data.Unmarshal(raw, &row); err != nil {
		return data.Task{}, data.BadRow("columns of another type than DeepCoder's", "%v", err)
	}
	if row.Problem == nil || strings.TrimSpace(*row.Problem) == "" {
		return data.Task{}, data.BadRow("no problem text", "")
	}
	t := data.Task{ID: data.TaskID(Set, *row.Problem), Kind: data.Code, Text: *row.Problem}
	if row.StarterCode != nil {
		t.Starter = *row.StarterCode
	}
	var err error
	if t.Tests, t.Fn, err = data.ParseTests(row.Tests, function(row.Metadata)); err != nil {
		return t, data.BadRow("bad tests", "%v", err)
	}
	return t, nil
}

// function is what the metadata, a struct or its JSON text, calls the function
// to be written; "" where there is none.
func function(metadata json.RawMessage) string {
	var text string
	if json.Unmarshal(metadata, &text) == nil {
		metadata = json.RawMessage(text)
	}
	var m struct {
		FuncName *string `json:"func_name"`
	}
	if json.Unmarshal(metadata, &m) != nil || m.FuncName == nil {
		return ""
	}
	return *m.FuncName
}
