package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"

	"troupe/data"
)

// fields are the names under which rows have what a task needs. The first
// that is there counts.
var (
	textFields   = []string{"problem", "question", "prompt", "Problem", "Question"}
	answerFields = []string{"answer", "gold", "Answer", "final_answer", "expected_answer"}
	idFields     = []string{"id", "unique_id", "problem_idx", "ID"}
	testFields   = []string{"tests", "test_cases", "input_output", "verification_info", "public_test_cases", "test_list", "test"}
)

// Columns are all names under which a row may have something of a task, each
// with the "?" of a parquet column that may be missing.
func Columns() []string {
	var names []string
	for _, list := range [][]string{textFields, answerFields, idFields, testFields,
		{"split", "fn_name", "entry_point", "starter_code", "checker", "private_test_cases", "metadata"}} {
		for _, n := range list {
			names = append(names, n+"?")
		}
	}
	return names
}

// Task reads one row: math {"problem"|"question"|"prompt", "answer"}, code
// {"problem"|"question"|"prompt", "tests", "fn_name"?, "starter_code"?}; "id"
// and "split" may be there. A GSM8K answer is what follows its ####. The error
// is a *data.RowError.
func Task(set string, raw []byte) (data.Task, error) {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(raw, &row); err != nil || row == nil {
		if err == nil {
			return data.Task{}, data.BadRow("not a JSON object", "null")
		}
		if json.Valid(raw) {
			return data.Task{}, data.BadRow("not a JSON object", "%.40s", raw)
		}
		return data.Task{}, data.BadRow("not JSON", "%v", err)
	}
	t := data.Task{Text: problemText(row)}
	if strings.TrimSpace(t.Text) == "" {
		return t, data.BadRow("no problem text", "none of %s has one", strings.Join(textFields, ", "))
	}
	t.ID = scalar(first(row, idFields))
	if t.ID == "" {
		t.ID = data.TaskID(set, t.Text)
	}
	if err := setSplit(&t, scalar(row["split"])); err != nil {
		return t, err
	}
	if tests := first(row, testFields); tests != nil {
		return codeTask(t, row, tests)
	}
	t.Kind = data.Math
	answer := first(row, answerFields)
	if t.Gold = gold(scalar(answer)); t.Gold == "" {
		return t, data.BadRow("no answer", "neither an answer nor tests")
	}
	return t, nil
}

func codeTask(t data.Task, row map[string]json.RawMessage, tests json.RawMessage) (data.Task, error) {
	t.Kind = data.Code
	t.Starter = scalar(row["starter_code"])
	t.Checker = scalar(row["checker"])
	fn := scalar(row["fn_name"])
	if fn == "" {
		fn = scalar(row["entry_point"])
	}
	raw := []byte(tests)
	// Some data sets spread the tests over the row itself.
	if _, spread := row["public_test_cases"]; spread || row["test"] != nil && row["tests"] == nil {
		whole, err := json.Marshal(row)
		if err != nil {
			return t, data.BadRow("bad tests", "%v", err)
		}
		raw = whole
	}
	var err error
	if t.Tests, t.Fn, err = data.ParseTests(raw, fn); err != nil {
		return t, data.BadRow("bad tests", "%v", err)
	}
	return t, nil
}

func setSplit(t *data.Task, split string) error {
	switch s := data.Split(split); s {
	case "", data.Train, data.Dev, data.Held:
		t.Split = s
	case "test", "validation", "val":
		t.Split = data.Held
	default:
		return data.BadRow("unknown split", "%q; known are train, dev and held", split)
	}
	return nil
}

// problemText is the problem as one text. A list of chat messages, as training
// sets have it, gives its last user message.
func problemText(row map[string]json.RawMessage) string {
	raw := first(row, textFields)
	var messages []struct{ Role, Content string }
	if json.Unmarshal(raw, &messages) == nil {
		for i := len(messages) - 1; i >= 0; i-- {
			if messages[i].Role == "user" {
				return messages[i].Content
			}
		}
		return ""
	}
	return scalar(raw)
}

// gold is the answer itself: what follows #### in GSM8K, without the commas of
// thousands it has there.
func gold(answer string) string {
	answer = strings.TrimSpace(answer)
	i := strings.LastIndex(answer, "####")
	if i < 0 {
		return answer
	}
	return strings.ReplaceAll(strings.TrimSpace(answer[i+len("####"):]), ",", "")
}

func first(row map[string]json.RawMessage, names []string) json.RawMessage {
	for _, n := range names {
		if v := bytes.TrimSpace(row[n]); len(v) > 0 && string(v) != "null" {
			return v
		}
	}
	return nil
}

// scalar is a string, or a number as it is written; "" for anything else.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}
