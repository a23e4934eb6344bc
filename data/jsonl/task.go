package jsonl

import (
	"encoding/json"
	"strings"

	"troupe/data"
)

// row has what a task may need, under all the names that data sets use. Names
// are matched without regard to case, as encoding/json does: AIME 2024 writes
// Problem and Answer. What else a row holds is skipped without being kept.
type row struct {
	Problem, Question, Prompt json.RawMessage

	Answer, Gold   json.RawMessage
	FinalAnswer    json.RawMessage `json:"final_answer"`
	ExpectedAnswer json.RawMessage `json:"expected_answer"`

	ID         json.RawMessage
	UniqueID   json.RawMessage `json:"unique_id"`
	ProblemIdx json.RawMessage `json:"problem_idx"`

	Tests, Test      json.RawMessage
	TestCases        json.RawMessage `json:"test_cases"`
	InputOutput      json.RawMessage `json:"input_output"`
	VerificationInfo json.RawMessage `json:"verification_info"`
	PublicTestCases  json.RawMessage `json:"public_test_cases"`
	TestList         json.RawMessage `json:"test_list"`

	Split, Checker json.RawMessage
	FnName         json.RawMessage `json:"fn_name"`
	EntryPoint     json.RawMessage `json:"entry_point"`
	StarterCode    json.RawMessage `json:"starter_code"`
}

// Columns are all names under which a row may have something of a task, each
// with the "?" of a parquet column that may be missing.
func Columns() []string {
	return strings.Fields(`problem? question? prompt? Problem? Question? answer? gold? Answer? final_answer? expected_answer?
		id? unique_id? problem_idx? ID? tests? test? test_cases? input_output? verification_info? public_test_cases?
		private_test_cases? metadata? test_list? split? checker? fn_name? entry_point? starter_code?`)
}

// Task reads one row: math {"problem"|"question"|"prompt", "answer"}, code
// {"problem"|"question"|"prompt", "tests", "fn_name"?, "starter_code"?}; "id"
// and "split" may be there. A GSM8K answer is what follows its ####. The error
// is a *data.RowError.
func Task(set string, raw []byte) (data.Task, error) {
	var r *row
	if err := json.Unmarshal(raw, &r); err != nil || r == nil {
		if err == nil {
			return data.Task{}, data.BadRow("not a JSON object", "null")
		}
		if json.Valid(raw) {
			return data.Task{}, data.BadRow("not a JSON object", "%.40s", raw)
		}
		return data.Task{}, data.BadRow("not JSON", "%v", err)
	}
	t := data.Task{Text: problemText(first(r.Problem, r.Question, r.Prompt))}
	if strings.TrimSpace(t.Text) == "" {
		return t, data.BadRow("no problem text", "neither problem nor question nor prompt has one")
	}
	t.ID = scalar(first(r.ID, r.UniqueID, r.ProblemIdx))
	if t.ID == "" {
		t.ID = data.TaskID(set, t.Text)
	}
	if err := setSplit(&t, scalar(r.Split)); err != nil {
		return t, err
	}
	tests := first(r.Tests, r.TestCases, r.InputOutput, r.VerificationInfo, r.PublicTestCases, r.TestList, r.Test)
	if tests != nil {
		// Some data sets spread the tests over the row itself.
		if first(r.PublicTestCases) != nil || first(r.Tests) == nil && first(r.Test) != nil {
			tests = raw
		}
		return codeTask(t, r, tests)
	}
	t.Kind = data.Math
	if t.Gold = gold(scalar(first(r.Answer, r.Gold, r.FinalAnswer, r.ExpectedAnswer))); t.Gold == "" {
		return t, data.BadRow("no answer", "neither an answer nor tests")
	}
	return t, nil
}

func codeTask(t data.Task, r *row, tests json.RawMessage) (data.Task, error) {
	t.Kind = data.Code
	t.Starter = scalar(r.StarterCode)
	t.Checker = scalar(r.Checker)
	fn := scalar(first(r.FnName, r.EntryPoint))
	var err error
	if t.Tests, t.Fn, err = data.ParseTests(tests, fn); err != nil {
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
func problemText(raw json.RawMessage) string {
	if text, ok := data.LastUserMessage(raw); ok {
		return text
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

// first is the first of some fields that is there and not null.
func first(fields ...json.RawMessage) json.RawMessage {
	for _, f := range fields {
		if len(f) > 0 && string(f) != "null" {
			return f
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
