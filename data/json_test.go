package data_test

import (
	"encoding/json"
	"errors"
	"testing"

	"troupe/data"
)

// What is said of a value of the wrong kind names its place and no type of this
// program.
func TestUnmarshalSaysWhatIsWrong(t *testing.T) {
	type record struct {
		ID     string `json:"id"`
		Limits struct {
			TimeS    float64 `json:"time_s"`
			MemoryMB int     `json:"memory_mb"`
		} `json:"limits"`
		Tests []string `json:"tests"`
		Whole bool     `json:"whole"`
	}
	for text, want := range map[string]string{
		`{"id": 1}`:                       "id: a number where a string belongs",
		`{"id": {}}`:                      "id: an object where a string belongs",
		`{"limits": {"time_s": "x"}}`:     "limits.time_s: a string where a number belongs",
		`{"limits": {"time_s": 1e400}}`:   "limits.time_s: the number 1e400 where a number belongs",
		`{"limits": {"memory_mb": 0.5}}`:  "limits.memory_mb: the number 0.5 where a whole number belongs",
		`{"limits": 3}`:                   "limits: a number where an object belongs",
		`{"tests": "x"}`:                  "tests: a string where an array belongs",
		`{"whole": 1}`:                    "whole: a number where a bool belongs",
		`[]`:                              "an array where an object belongs",
		`{`:                               "unexpected end of JSON input",
		`{"id": "1", "unknown": [1, {}]}`: "",
	} {
		var r record
		err := data.Unmarshal([]byte(text), &r)
		if got := errorText(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	var wrong *json.UnmarshalTypeError
	if err := data.Unmarshal([]byte(`{"id": 1}`), &record{}); !errors.As(err, &wrong) || wrong.Field != "id" {
		t.Errorf("the decoder's own error is not in %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
