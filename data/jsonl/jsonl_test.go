package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"troupe/data"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.jsonl")
	writeFile(t, path, content)
	return path
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		row  string
		want data.Task
	}{
		"ours":          {`{"id":"a","problem":"1+1?","answer":"2"}`, data.Task{ID: "a", Kind: data.Math, Text: "1+1?", Gold: "2"}},
		"GSM8K":         {`{"question":"q","answer":"He has 5.\n#### 1,450"}`, data.Task{ID: data.TaskID("set", "q"), Kind: data.Math, Text: "q", Gold: "1450"}},
		"MATH-500":      {`{"problem":"p","solution":"s","answer":"\\frac{1}{2}","unique_id":"test/x.json","level":2}`, data.Task{ID: "test/x.json", Kind: data.Math, Text: "p", Gold: `\frac{1}{2}`}},
		"AIME 2025":     {`{"problem_idx":7,"problem":"p","answer":204}`, data.Task{ID: "7", Kind: data.Math, Text: "p", Gold: "204"}},
		"AIME 2024":     {`{"ID":"2024-I-4","Problem":"p","Solution":"s","Answer":33}`, data.Task{ID: "2024-I-4", Kind: data.Math, Text: "p", Gold: "33"}},
		"chat":          {`{"prompt":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"answer":"1"}`, data.Task{ID: data.TaskID("set", "u"), Kind: data.Math, Text: "u", Gold: "1"}},
		"split":         {`{"id":"a","problem":"p","answer":"2","split":"test"}`, data.Task{ID: "a", Kind: data.Math, Text: "p", Gold: "2", Split: data.Held}},
		"code":          {`{"id":"c","question":"q","tests":[{"input":"1\n","output":"2\n"}],"starter_code":"x"}`, data.Task{ID: "c", Kind: data.Code, Text: "q", Starter: "x", Tests: []data.Test{{Input: "1\n", Output: "2\n"}}}},
		"code, as text": {`{"id":"c","question":"q","tests":"[{\"input\":\"1\",\"output\":\"2\"}]"}`, data.Task{ID: "c", Kind: data.Code, Text: "q", Tests: []data.Test{{Input: "1", Output: "2"}}}},
		"calls":         {`{"id":"c","problem":"q","fn_name":"f","tests":[{"input":[1],"output":2}]}`, data.Task{ID: "c", Kind: data.Code, Text: "q", Fn: "f", Tests: []data.Test{{Input: "1", Output: "2"}}}},
	} {
		got, _, err := Read(write(t, c.row))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, error %v", name, got, err)
			continue
		}
		g := got[0]
		if g.ID != c.want.ID || g.Kind != c.want.Kind || g.Text != c.want.Text || g.Gold != c.want.Gold || g.Split != c.want.Split ||
			g.Fn != c.want.Fn || g.Starter != c.want.Starter || len(g.Tests) != len(c.want.Tests) ||
			len(g.Tests) > 0 && (g.Tests[0].Input != c.want.Tests[0].Input || g.Tests[0].Output != c.want.Tests[0].Output) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, g, c.want)
		}
	}
}

func TestBadRowsAreCountedByReasonWithTheirLines(t *testing.T) {
	path := write(t, strings.Join([]string{
		"\ufeff" + `{"id":"1","problem":"p","answer":"2"}`,
		``,
		`{"id":"2","problem":"p"`,
		`{"id":"3","problem":"p"}`,
		`[1]`,
		`null`,
		`{"id":"4","answer":"2"}`,
		`{"id":"1","problem":"again","answer":"2"}`,
		"{\"id\":\"5\",\"problem\":\"\xff\",\"answer\":\"2\"}",
		`{"id":"6","problem":"p","tests":[]}`,
		`{"id":"7","problem":"p","tests":[{"input":"x"}]}`,
		`{"id":"8","problem":"p","answer":"2","split":"moon"}`,
		`{"id":"9","problem":"p","answer":"3"}`,
	}, "\n"))
	tasks, report, err := Read(path)
	if err != nil || len(tasks) != 2 || report.Rows != 12 || report.Used != 2 || report.Rejected() != 10 {
		t.Fatalf("%d tasks, report %s, error %v", len(tasks), report.String(), err)
	}
	want := map[string][]int{"not JSON": {3}, "no answer": {4}, "not a JSON object": {5, 6}, "no problem text": {7},
		"a task of that id or text came before": {8}, "not UTF-8": {9}, "bad tests": {10, 11}, "unknown split": {12}}
	for _, b := range report.Bad {
		lines, ok := want[b.Reason]
		if !ok || len(lines) != len(b.Lines) || lines[0] != b.Lines[0] || b.Count != len(lines) {
			t.Errorf("%+v, want lines %v", b, lines)
		}
		delete(want, b.Reason)
	}
	if len(want) > 0 {
		t.Errorf("not reported: %v", want)
	}
}

func TestArrays(t *testing.T) {
	tasks, report, err := Read(write(t, ` [{"problem":"p","answer":1},{"problem":"q"},{"problem":"r","answer":2}] `))
	if err != nil || len(tasks) != 2 || report.Bad[0].Lines[0] != 2 {
		t.Errorf("%v %s %v", tasks, report.String(), err)
	}
	tasks, report, err = Read(write(t, "[{\"problem\":\"p\",\"answer\":1},{\"problem\":\"\xff\",\"answer\":2}]\n"))
	if err != nil || len(tasks) != 1 || len(report.Bad) != 1 || report.Bad[0].Reason != "not UTF-8" || report.Bad[0].Lines[0] != 2 {
		t.Errorf("an element that is no text: %v %s %v", tasks, report.String(), err)
	}
	for _, bad := range []string{`[{"problem":"p","answer":1}] {"problem":"q","answer":2}`, `[{"problem":"p","answer":1}]]`, `[{"problem":"p","answer":1},{`, `[{"problem":"p","answer":1}`, `[nonsense]`} {
		if _, _, err := Read(write(t, bad)); err == nil || !strings.Contains(err.Error(), "set.jsonl") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestAnElementOverTheLimitEndsTheReadingWithoutMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`[{"problem":"`); err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 3 * largestRow / len(chunk) {
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString(`","answer":1}]`); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = Read(path)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "element 1: more than 64 MiB") {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 5*largestRow {
		t.Errorf("%d MiB were taken", took>>20)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir(), write(t, ""), write(t, "x\ny\n")} {
		if _, _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

func TestALineOverTheLimitIsSkippedWithoutMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(256 << 20); err != nil { // a hole: one line of zeros
		t.Skip("no sparse files here:", err)
	}
	f.Seek(0, 2)
	f.WriteString("\n" + `{"problem":"p","answer":1}` + "\n")
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tasks, report, err := Read(path)
	runtime.ReadMemStats(&after)
	if err != nil || len(tasks) != 1 || report.Bad[0].Reason != "too long" {
		t.Errorf("%v %s %v", tasks, report.String(), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 6*largestRow {
		t.Errorf("%d MiB allocated", n>>20)
	}
}

// TestHostileRowsAllocateLittle: no row asks for more than a few times its own
// size.
func TestHostileRowsAllocateLittle(t *testing.T) {
	const n = 1 << 20
	var keys strings.Builder
	for i := 0; keys.Len() < n; i++ {
		fmt.Fprintf(&keys, `"k%d":0,`, i)
	}
	for name, row := range map[string]string{
		"open brackets":  strings.Repeat("[", n),
		"nested objects": strings.Repeat(`{"problem":`, n/11),
		"deep but whole": `{"problem":"p","answer":1,"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		"many keys":      `{` + keys.String() + `"problem":"p","answer":1}`,
		"same key":       `{` + strings.Repeat(`"problem":"p",`, n/14) + `"answer":1}`,
		"long string":    `{"problem":"` + strings.Repeat("x", n) + `","answer":1}`,
		"escapes":        `{"problem":"` + strings.Repeat(`\u0041`, n/6) + `","answer":1}`,
		"long number":    `{"problem":"p","answer":` + strings.Repeat("9", n) + `}`,
		"many messages":  `{"prompt":[` + strings.Repeat(`{},`, n/3) + `{}],"answer":1}`,
		"zeros":          strings.Repeat("\x00", n),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Task("x", []byte(row))
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(5*len(row)+1<<20); got > most {
			t.Errorf("%s: %d KiB allocated for a row of %d KiB", name, got>>10, len(row)>>10)
		}
	}
}

// TestRealRows reads the question and answer rows of TROUPE_DATA.
func TestRealRows(t *testing.T) {
	dir := os.Getenv("TROUPE_DATA")
	if dir == "" {
		t.Skip("TROUPE_DATA is not set")
	}
	for name, n := range map[string]int{"gsm8k_test.jsonl": 1319, "math500.jsonl": 500} {
		tasks, report, err := Read(filepath.Join(dir, name))
		if err != nil || len(tasks) != n || report.Rejected() != 0 {
			t.Errorf("%s: %d tasks, %s, error %v", name, len(tasks), report.String(), err)
		}
	}
}

func FuzzTask(f *testing.F) {
	for _, s := range []string{`{"problem":"p","answer":1}`, `{"prompt":[{"role":"user","content":"u"}],"answer":"#### 1"}`,
		`{"problem":"p","tests":{"inputs":["1"],"outputs":["2"]}}`, `{"problem":"p","tests":"[{\"input\":1}]"}`, `[`, `{"problem":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		task, err := Task("fuzz", raw)
		if err != nil {
			if _, ok := err.(*data.RowError); !ok {
				t.Errorf("%T", err)
			}
			return
		}
		if task.ID == "" || task.Text == "" || (task.Gold == "") == (len(task.Tests) == 0) {
			t.Errorf("%q gives %+v", raw, task)
		}
	})
}
