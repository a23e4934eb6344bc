package data

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// packed is base64 of zlib of body.
func packed(body string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(body))
	z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// quoted is a JSON string.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestParseTests(t *testing.T) {
	functional := `[{"input": "[1, 2]\n3", "output": "6", "testtype": "functional", "metadata": {"func_name": "f"}}]`
	f := []Test{{Input: "[1, 2]\n3", Output: "6"}}
	plain := `[{"input": "1\n", "output": "2\n"}, {"input": "3\n", "output": "4\n"}]`
	two := []Test{{Input: "1\n", Output: "2\n"}, {Input: "3\n", Output: "4\n"}}
	for _, c := range []struct {
		name, raw, fn string
		want          []Test
		wantFn        string
	}{
		{"ours", plain, "", two, ""},
		{"ours as text", quoted(plain), "", two, ""},
		{"ours with a function", `[{"input": [[4, 2], "x"], "output": [2, 4]}]`, "g", []Test{{Input: "[4,2]\n\"x\"", Output: "[2,4]"}}, "g"},
		{"ours, numbers as texts", `[{"input": 1, "output": 7}]`, "", []Test{{Input: "1", Output: "7"}}, ""},
		{"ours, null", `[{"input": [1], "output": null}]`, "g", []Test{{Input: "1", Output: "null"}}, "g"},
		{"ours, a word as the result", `[{"input": ["b"], "output": "hello"}]`, "g", []Test{{Input: `"b"`, Output: `"hello"`}}, "g"},
		{"ours, JSON text as the result", `[{"input": ["b"], "output": "\"hello\""}]`, "g", []Test{{Input: `"b"`, Output: `"hello"`}}, "g"},
		{"numbers keep their digits", `[{"input": [12345678901234567890, 1.50], "output": 1e2}]`, "g", []Test{{Input: "12345678901234567890\n1.50", Output: "1e2"}}, "g"},
		{"lines as lists", `[{"input": ["1", 2], "output": ["a", "b"]}]`, "", []Test{{Input: "1\n2", Output: "a\nb"}}, ""},
		{"no arguments", `[{"input": [], "output": 3}]`, "g", []Test{{Input: "", Output: "3"}}, "g"},
		{"lcbv5", quoted(functional), "", f, "f"},
		{"primeintellect stdin", `[{"type": "stdin_stdout", "fn_name": null, "input": "1\n", "output": "2\n"}]`, "", []Test{{Input: "1\n", Output: "2\n"}}, ""},
		{"primeintellect call", `[{"type": "function_call", "fn_name": "h", "input": ["a"], "output": ["b"]}]`, "", []Test{{Input: `"a"`, Output: `["b"]`, Wrapped: true}}, "h"},
		{"codeforces", `[{"input": "1", "output": "2", "testtype": "stdin"}]`, "unused", []Test{{Input: "1", Output: "2"}}, ""},
		{"taco stdin", `{"inputs": ["1\n", ["3", "4"]], "outputs": ["2\n", ["5"]]}`, "", []Test{{Input: "1\n", Output: "2\n"}, {Input: "3\n4", Output: "5"}}, ""},
		{"taco call", quoted(`{"fn_name": "s", "inputs": [[[1, 2]], ["x"]], "outputs": [[3], ["y"]]}`), "", []Test{{Input: "[1,2]", Output: "[3]", Wrapped: true}, {Input: `"x"`, Output: `["y"]`, Wrapped: true}}, "s"},
		{"taco call, bare results", `{"fn_name": "s", "inputs": [[1]], "outputs": ["5"]}`, "", []Test{{Input: "1", Output: `"5"`}}, "s"},
		{"grader's input_output", quoted(`{"input_output": "{\"inputs\": [\"[1]\\n2\"], \"outputs\": [\"3\"], \"fn_name\": \"s\"}"}`), "", []Test{{Input: "[1]\n2", Output: "3"}}, "s"},
		{"livecodebench", `{"public_test_cases": ` + quoted(functional) + `, "private_test_cases": ` + quoted(packed(functional)) + `, "metadata": "{\"func_name\": \"f\"}"}`, "", append(f, f...), "f"},
		{"livecodebench, no private tests", `{"public_test_cases": ` + quoted(plain) + `, "private_test_cases": "[]", "metadata": "{}"}`, "", two, ""},
		{"open-r1", `{"verification_info": {"language": "python", "test_cases": ` + plain + `}}`, "", two, ""},
		{"sandbox fusion", `[{"input": {"stdin": "1\n"}, "output": {"stdout": "2\n"}}]`, "", two[:1], ""},
		{"asserts", `[{"assert": "assert f(1) == 2"}]`, "", []Test{{Assert: "assert f(1) == 2"}}, ""},
		{"mbpp", `["assert f(1) == 2", "assert f(2) == 3"]`, "", []Test{{Assert: "assert f(1) == 2"}, {Assert: "assert f(2) == 3"}}, ""},
		{"human eval", `{"test": "def check(candidate):\n    assert candidate(1)\n", "entry_point": "g"}`, "", []Test{{Assert: "def check(candidate):\n    assert candidate(1)\n\ncheck(g)\n"}}, ""},
		{"leetcode", `{"functional": "check(g)"}`, "g", []Test{{Assert: "check(g)"}}, ""},
	} {
		got, fn, err := ParseTests([]byte(c.raw), c.fn)
		if err != nil || fn != c.wantFn {
			t.Errorf("%s: function %q, %v", c.name, fn, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// pickled is what LiveCodeBench puts around the JSON text.
func pickled(body string) string {
	n := len(body)
	return "\x80\x04\x95" + strings.Repeat("\x00", 8) + "X" + string([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}) + body + "\x94."
}

func TestPickledTextIsReadNotRun(t *testing.T) {
	body := `[{"input": "1", "output": "2", "testtype": "stdin"}]`
	raw := quoted(packed(pickled(body)))
	got, _, err := ParseTests([]byte(raw), "")
	if err != nil || len(got) != 1 || got[0].Output != "2" {
		t.Errorf("%v %v", got, err)
	}
	// What a pickle that runs a command looks like.
	for _, evil := range []string{"\x80\x04cos\nsystem\n(S'id'\ntR.", "\x80\x04]\x94.", "\x80", "\x80\x04X\xff\xff\xff\xffab."} {
		if _, _, err := ParseTests([]byte(quoted(packed(evil))), ""); err == nil {
			t.Errorf("%q was taken", evil)
		}
	}
}

func TestBadTests(t *testing.T) {
	for raw, part := range map[string]string{
		``:                                 "there are none",
		`null`:                             "there are none",
		`[]`:                               "there are none",
		`""`:                               "there are none",
		`{}`:                               "an object without",
		`7`:                                "neither a list nor an object",
		`[1]`:                              "test 1: not an object",
		`[{"input": "1"}]`:                 "test 1: no output",
		`[{"input": "1", "output": null}]`: "test 1: no output",
		`[{"assert": ""}]`:                 "test 1: an assertion",
		`[{"assert": 5}]`:                  "test 1: an assertion",
		`{"inputs": ["1", "2"], "outputs": ["1"]}`:                                                   "2 inputs but 1 outputs",
		`{"inputs": "1", "outputs": ["1"]}`:                                                          "both be lists",
		`{"inputs": [], "outputs": []}`:                                                              "there are none",
		`[{"input": "1", "output": "1", "testtype": "functional"}]`:                                  "none is named",
		`[{"input": "1", "output": "1", "testtype": "functional"}, {"output": "", "type": "stdin"}]`: "among call tests",
		`[{"input": {"a": 1}, "output": "1"}]`:                                                       "test 1: input: an object",
		`[{"input": [["x"]], "output": "1"}]`:                                                        "test 1: input: a list within a list",
		`"not json"`:                                                                                 "neither JSON nor base64",
		`"QUJD"`:                                                                                     "does not hold zlib",
		`[{`:                                                                                         "unexpected end",
		`{"input_output": {"input_output": {"input_output": {"input_output": {"input_output": {}}}}}}`: "text within text",
	} {
		if _, _, err := ParseTests([]byte(raw), ""); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", raw, err, part)
		}
	}
}

// A few kilobytes of a compressed record hold lists of millions.
func TestLongListsTakeNoMemory(t *testing.T) {
	const n = 1 << 20
	for name, c := range map[string]struct{ text, want string }{
		"tests":     {"[" + strings.Repeat(`{"output":1},`, n) + `{"output":1}]`, "more than 100000"},
		"rubbish":   {"[" + strings.Repeat(`{},`, n) + "{}]", "test 1: no output"},
		"columns":   {`{"inputs":[` + strings.Repeat(`1,`, n) + `1],"outputs":[1]}`, "more than 100000"},
		"lines":     {`[{"input":[` + strings.Repeat(`1,`, n) + `1],"output":{}}]`, "test 1: output: an object"},
		"arguments": {`{"fn_name":"f","inputs":[[` + strings.Repeat(`1,`, n) + `1]],"outputs":[]}`, "1 inputs but 0 outputs"},
	} {
		raw := []byte(quoted(packed(c.text)))
		if len(raw) > 64<<10 {
			t.Fatalf("%s: the record has %d bytes", name, len(raw))
		}
		var err error
		took := mostLive(func() { _, _, err = ParseTests(raw, "") })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %.200v, want %q", name, err, c.want)
		}
		if took > 8*int64(len(c.text)) {
			t.Errorf("%s: %d MiB for %d", name, took>>20, len(c.text)>>20)
		}
	}
}

// mostLive is the largest heap in bytes that the collector found alive while f
// ran, beyond what lived before. Garbage that it had not come to is no part of
// it, so a busy machine changes nothing.
func mostLive(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // look often
	live := func() int64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	runtime.GC()
	before := live()
	most, done, seen := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		for {
			most = max(most, live())
			select {
			case <-done:
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	}()
	f()
	close(done)
	<-seen
	return most - before
}

func FuzzParseTests(f *testing.F) {
	f.Add([]byte(`[{"input": "1\n", "output": "2\n"}]`), "")
	f.Add([]byte(`{"fn_name": "s", "inputs": [[1]], "outputs": [[5]]}`), "f")
	f.Add([]byte(`{"public_test_cases": "[]", "private_test_cases": `+quoted(packed(pickled("[]")))+`}`), "")
	f.Add([]byte(`["assert f(1) == 2"]`), "f")
	f.Fuzz(func(t *testing.T, raw []byte, fn string) {
		tests, name, err := ParseTests(raw, fn)
		if err != nil {
			if tests != nil || name != "" {
				t.Error("tests and an error")
			}
			return
		}
		for _, x := range tests {
			if x.Assert != "" && (x.Input != "" || x.Output != "") {
				t.Errorf("both kinds in one test: %+v", x)
			}
		}
	})
}
