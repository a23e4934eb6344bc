package data

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ParseTests decodes the tests of a code task from the JSON in which data sets
// keep them, and returns them with the function they call ("" when the program
// is run on stdin). fn is the function that the record names beside its tests.
//
// Known shapes, each as a JSON value or as a JSON string that holds it:
//
//   - a list of {"input", "output"}, with "testtype" or "type", and
//     "metadata": {"func_name"} or "fn_name", where functions are called
//     (DeepCoder's primeintellect, lcbv5 and codeforces; LiveCodeBench; ours);
//   - {"inputs": […], "outputs": […], "fn_name"?} (DeepCoder's taco, TACO, APPS,
//     CodeContests, Eurus), also wrapped in {"input_output": …};
//   - {"public_test_cases", "private_test_cases", "metadata"} (LiveCodeBench;
//     private tests may be base64 of zlib of JSON);
//   - {"language", "test_cases": […]} (open-r1), also in {"verification_info"};
//   - a list of {"input": {"stdin"}, "output": {"stdout"}} (SandboxFusion);
//   - a list of {"assert": "…"} or of statements as strings (MBPP),
//     {"test", "entry_point"} (HumanEval), {"functional": "…"} (LeetCode).
//
// A record without tests, or whose lists differ in length, is an error: judging
// it would reward anything.
func ParseTests(raw []byte, fn string) ([]Test, string, error) {
	s := &suite{fn: fn}
	if err := s.any(raw, 0); err != nil {
		return nil, "", err
	}
	if len(s.tests) == 0 {
		return nil, "", errors.New("tests: there are none")
	}
	if s.kind == kindStdin {
		s.fn = ""
	}
	if s.kind == kindCall && s.fn == "" {
		return nil, "", errors.New("tests: they call a function, but none is named")
	}
	return s.tests, s.fn, nil
}

// The kinds that tests may declare.
const (
	kindStdin = "stdin"
	kindCall  = "call"
)

// mostTests bounds the tests of one record: compressed, a million of them take
// less room than a picture.
const mostTests = 100_000

func tooMany() error { return fmt.Errorf("tests: more than %d", mostTests) }

// suite is what is known of a record's tests while they are decoded.
type suite struct {
	fn    string
	kind  string // of the tests seen; empty before the first and for assertions
	tests []Test
}

// object is any JSON object whose fields are looked at one by one.
type object map[string]json.RawMessage

// text is a field's string, "" if it is absent or something else.
func (o object) text(key string) string {
	var s string
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return s
}

// has reports whether a field is there and not null.
func (o object) has(key string) bool {
	v, ok := o[key]
	return ok && string(v) != "null"
}

// any decodes a list, an object or a string that holds one of them.
func (s *suite) any(raw []byte, depth int) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return errors.New("tests: there are none")
	}
	if depth > 3 {
		return errors.New("tests: text within text within text")
	}
	switch raw[0] {
	case '"':
		var text string
		if err := Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("tests: %w", err)
		}
		inner, err := unpackText(text)
		if err != nil {
			return fmt.Errorf("tests: %w", err)
		}
		return s.any(inner, depth+1)
	case '[':
		return s.list(raw)
	case '{':
		var o object
		if err := Unmarshal(raw, &o); err != nil {
			return fmt.Errorf("tests: %w", err)
		}
		return s.object(o, depth)
	}
	return fmt.Errorf("tests: %.20s is neither a list nor an object", raw)
}

// object decodes the shapes that are one object.
func (s *suite) object(o object, depth int) error {
	for _, key := range []string{"fn_name", "func_name", "entry_point"} {
		if name := o.text(key); name != "" {
			s.fn = name
		}
	}
	switch {
	case o.has("input_output"):
		return s.any(o["input_output"], depth+1)
	case o.has("verification_info"):
		return s.any(o["verification_info"], depth+1)
	case o.has("test_cases"):
		return s.any(o["test_cases"], depth+1)
	case o.has("public_test_cases") || o.has("private_test_cases"):
		return s.liveCodeBench(o, depth)
	case o.has("inputs") || o.has("outputs"):
		return s.columns(o)
	case o.has("functional"):
		s.fn = ""
		return s.assertion(1, o.text("functional"))
	case o.has("test"):
		text := o.text("test")
		if s.fn != "" && strings.Contains(text, "def check(") {
			text = strings.TrimRight(text, "\n") + "\n\ncheck(" + s.fn + ")\n"
		}
		s.fn = ""
		return s.assertion(1, text)
	}
	return errors.New("tests: an object without inputs, test_cases, public_test_cases, functional or test")
}

// liveCodeBench decodes a LiveCodeBench row: public tests, then private ones.
func (s *suite) liveCodeBench(o object, depth int) error {
	if o.has("metadata") {
		s.fn = functionOf(o["metadata"], s.fn)
	}
	for _, key := range []string{"public_test_cases", "private_test_cases"} {
		if !o.has(key) || emptyList(o[key]) {
			continue
		}
		if err := s.any(o[key], depth+1); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// emptyList reports whether raw is [] or "[]" or "".
func emptyList(raw json.RawMessage) bool {
	t := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	return t == "" || strings.ReplaceAll(t, " ", "") == "[]"
}

// functionOf is the function that a metadata object (or its JSON text) names.
func functionOf(raw json.RawMessage, otherwise string) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return otherwise
	}
	for _, key := range []string{"func_name", "fn_name"} {
		if name := o.text(key); name != "" {
			return name
		}
	}
	return otherwise
}

// list decodes a list of tests.
func (s *suite) list(raw []byte) error {
	err := eachItem(raw, func(n int, item json.RawMessage) error {
		if n > mostTests {
			return tooMany()
		}
		if item[0] == '"' {
			var text string
			if err := Unmarshal(item, &text); err != nil {
				return fmt.Errorf("test %d: %w", n, err)
			}
			return s.assertion(n, text)
		}
		var o object
		if err := Unmarshal(item, &o); err != nil || o == nil {
			return fmt.Errorf("test %d: not an object", n)
		}
		return s.row(n, o)
	})
	var bad *listError
	if errors.As(err, &bad) {
		return fmt.Errorf("tests: %w", err)
	}
	return err
}

// row decodes one test of a list.
func (s *suite) row(n int, o object) error {
	if o.has("assert") {
		return s.assertion(n, o.text("assert"))
	}
	for key, inner := range map[string]string{"input": "stdin", "output": "stdout"} {
		var sub object
		if json.Unmarshal(o[key], &sub) == nil && sub.has(inner) {
			o[key] = sub[inner]
		}
	}
	if name := o.text("fn_name"); name != "" {
		s.fn = name
	}
	if o.has("metadata") {
		s.fn = functionOf(o["metadata"], s.fn)
	}
	kind, declared := s.kindOf(o)
	// null is a result that a function can have, but no text.
	if _, there := o["output"]; !there || kind == kindStdin && !o.has("output") {
		return fmt.Errorf("test %d: no output and no assert", n)
	}
	if err := s.setKind(n, kind); err != nil {
		return err
	}
	t, err := cell{o["input"], o["output"], kind == kindCall, declared}.test()
	if err != nil {
		return fmt.Errorf("test %d: %w", n, err)
	}
	s.tests = append(s.tests, t)
	return nil
}

// kindOf is a test's kind, and whether the data set calls it a function call,
// in which case its output may be a list around the value.
func (s *suite) kindOf(o object) (kind string, wraps bool) {
	declared := o.text("testtype")
	if declared == "" {
		declared = o.text("type")
	}
	switch declared {
	case "functional":
		return kindCall, false
	case "function_call":
		return kindCall, true
	case "stdin", "stdin_stdout":
		return kindStdin, false
	}
	if s.fn != "" {
		return kindCall, false
	}
	return kindStdin, false
}

func (s *suite) setKind(n int, kind string) error {
	if s.kind != "" && s.kind != kind {
		return fmt.Errorf("test %d: a %s test among %s tests", n, kind, s.kind)
	}
	s.kind = kind
	return nil
}

// columns decodes {"inputs": […], "outputs": […]}.
func (s *suite) columns(o object) error {
	inputs, err := items(o["inputs"])
	outputs, err2 := items(o["outputs"])
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if len(inputs) != len(outputs) {
		return fmt.Errorf("tests: %d inputs but %d outputs", len(inputs), len(outputs))
	}
	kind := kindStdin
	if s.fn != "" {
		kind = kindCall
	}
	for i := range inputs {
		if err := s.setKind(i+1, kind); err != nil {
			return err
		}
		t, err := cell{inputs[i], outputs[i], kind == kindCall, true}.test()
		if err != nil {
			return fmt.Errorf("test %d: %w", i+1, err)
		}
		s.tests = append(s.tests, t)
	}
	return nil
}

// assertion adds a test of statements.
func (s *suite) assertion(n int, text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("test %d: an assertion must be a text that is not empty", n)
	}
	s.tests = append(s.tests, Test{Assert: text})
	return nil
}
