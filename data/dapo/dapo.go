// Package dapo reads DAPO-Math-17K in both of its forms: the raw file, in which
// every problem stands about a hundred times inside an instruction, and
// open-r1's processed one, which the paper trains on.
package dapo

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"

	"troupe/data"
	"troupe/data/nprand"
	"troupe/data/parquet"
)

// Set is the data set's name in task ids. Both forms give a problem the same id.
const Set = "dapo-math"

// The instruction around every problem of the raw file.
const (
	prefix = "Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n"
	suffix = "\n\nRemember to put your answer on its own line after \"Answer:\"."
)

// The paper's split of the processed file's "en" part.
const (
	testShare = 0.1
	splitSeed = 42
)

// IsRaw and IsProcessed tell the forms by a file's columns.
func IsRaw(s parquet.Schema) bool {
	return s.Has("prompt", "reward_model") && !s.Has("solution") && !s.Has("tests")
}

// IsProcessed reports whether a file is open-r1's form.
func IsProcessed(s parquet.Schema) bool { return s.Has("prompt", "solution") && !s.Has("tests") }

// Read reads a file of either form. Problems that come again are counted, not
// returned. Tasks of the processed form are in the paper's splits: of its n
// rows a tenth, drawn as datasets.train_test_split(test_size=0.1, seed=42)
// does, is data.Held, the rest data.Train. The error is for files that can't
// be read or have no usable row.
func Read(ctx context.Context, path string) ([]data.Task, data.Report, error) {
	var report data.Report
	schema, err := parquet.Inspect(ctx, path)
	if err != nil {
		return nil, report, err
	}
	if !IsRaw(schema) && !IsProcessed(schema) {
		return nil, report, fmt.Errorf("%s: no DAPO file: it has the columns %s, and not prompt with reward_model or solution",
			path, strings.Join(schema.Columns, ", "))
	}
	c := &collector{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	err = parquet.Rows(ctx, path, []string{"prompt", "solution?", "reward_model?"}, func(row int, raw []byte, rowErr error) error {
		c.add(row, raw, rowErr)
		return nil
	})
	c.report.Sort()
	if err != nil {
		return nil, c.report, err
	}
	if len(c.tasks) == 0 {
		return nil, c.report, fmt.Errorf("%s: no row can be used: %s", path, c.report.Line())
	}
	if IsProcessed(schema) {
		if err := c.split(); err != nil {
			return nil, c.report, fmt.Errorf("%s: %w", path, err)
		}
	}
	return c.tasks, c.report, nil
}

// collector turns rows into tasks.
type collector struct {
	report data.Report
	tasks  []data.Task
	rows   []int // of each task, from 0
	seed   maphash.Seed
	seen   map[uint64]bool // prompts as they stand in the file
}

func (c *collector) add(row int, raw []byte, rowErr error) {
	c.report.Rows++
	if rowErr != nil {
		c.report.Reject(row, rowErr)
		return
	}
	// A raw file is a hundred times larger than its problems: most rows end
	// here, before they are decoded.
	h := maphash.Bytes(c.seed, raw)
	if c.seen[h] {
		c.report.Reject(row, errAgain)
		return
	}
	c.seen[h] = true
	t, err := Task(raw)
	if err != nil {
		c.report.Reject(row, err)
		return
	}
	if h := maphash.String(c.seed, t.Text); c.seen[h] {
		c.report.Reject(row, errAgain)
		return
	} else {
		c.seen[h] = true
	}
	c.report.Used++
	c.tasks = append(c.tasks, t)
	c.rows = append(c.rows, row-1)
}

var errAgain = &data.RowError{Reason: "the problem came before"}

// split marks the paper's splits. They are drawn over the file's rows.
func (c *collector) split() error {
	_, test, err := nprand.Split(c.report.Rows, testShare, splitSeed)
	if err != nil {
		return err
	}
	held := make(map[int]bool, len(test))
	for _, row := range test {
		held[row] = true
	}
	for i, row := range c.rows {
		c.tasks[i].Split = data.Train
		if held[row] {
			c.tasks[i].Split = data.Held
		}
	}
	return nil
}

// Task reads one row of either form, given as JSON. The error is a
// *data.RowError.
func Task(raw []byte) (data.Task, error) {
	var row struct {
		Prompt   json.RawMessage
		Solution *string
		Reward   *struct {
			GroundTruth *string `json:"ground_truth"`
		} `json:"reward_model"`
	}
	if err := data.Unmarshal(raw, &row); err != nil {
		return data.Task{}, data.BadRow("columns of another type than DAPO's", "%v", err)
	}
	text, err := promptText(row.Prompt)
	if err != nil {
		return data.Task{}, err
	}
	t := data.Task{Kind: data.Math, Text: Unwrap(text)}
	if strings.TrimSpace(t.Text) == "" {
		return t, data.BadRow("no problem text", "")
	}
	switch {
	case row.Solution != nil:
		t.Gold = strings.TrimSpace(*row.Solution)
	case row.Reward != nil && row.Reward.GroundTruth != nil:
		t.Gold = strings.TrimSpace(*row.Reward.GroundTruth)
	}
	if t.Gold == "" {
		return t, data.BadRow("no answer", "")
	}
	t.ID = data.TaskID(Set, t.Text)
	return t, nil
}

// promptText is the prompt as text, or the last user message of a list.
func promptText(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	text, ok := data.LastUserMessage(raw)
	switch {
	case !ok:
		return "", data.BadRow("a prompt that is neither text nor messages", "%.60s", raw)
	case text == "":
		return "", data.BadRow("a prompt without a user message", "")
	}
	return text, nil
}

// Unwrap takes the data set's instruction off a prompt: as a whole prefix and
// a whole suffix, never by a set of characters, which eats into problems.
func Unwrap(prompt string) string {
	prompt = strings.TrimPrefix(prompt, prefix)
	return strings.TrimSuffix(prompt, suffix)
}
