package deepcoder

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"troupe/data"
	"troupe/data/nprand"
	"troupe/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

func write[T any](t testing.TB, part string, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), part, "train-00000-of-00001.parquet")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := parquetgo.WriteFile(path, rows, parquetgo.Compression(&parquetgo.Zstd)); err != nil {
		t.Fatal(err)
	}
	return path
}

type prime struct {
	Problem   string   `parquet:"problem"`
	Solutions []string `parquet:"solutions,list"`
	Tests     string   `parquet:"tests"`
}

type metadata struct {
	FuncName *string `parquet:"func_name,optional"`
}

type lcb struct {
	Problem  string   `parquet:"problem"`
	Starter  string   `parquet:"starter_code"`
	Tests    string   `parquet:"tests"`
	Metadata metadata `parquet:"metadata"`
}

func TestTheFourParts(t *testing.T) {
	name := "add"
	for part, path := range map[string]string{
		"primeintellect": write(t, "primeintellect", []prime{
			{"stdin", []string{"s"}, `[{"type":"stdin_stdout","input":"1 2\n","output":"3\n"}]`},
			{"call", nil, `[{"type":"function_call","fn_name":"add","input":[1,2],"output":[3]}]`}}),
		"taco": write(t, "taco", []prime{
			{"stdin", nil, `{"inputs":["1 2\n"],"outputs":["3\n"]}`},
			{"call", nil, `{"fn_name":"add","inputs":[[1,2]],"outputs":[[3]]}`}}),
		"lcbv5": write(t, "lcbv5", []lcb{
			{"stdin", "", `[{"input":"1 2\n","output":"3\n","testtype":"stdin"}]`, metadata{}},
			{"call", "class Solution:", `[{"input":"1\n2","output":"3","testtype":"functional"}]`, metadata{&name}}}),
		"codeforces": write(t, "codeforces", []prime{
			{"stdin", nil, `[{"input":"1 2\n","output":"3\n"}]`}}),
	} {
		tasks, report, err := Read(t.Context(), path)
		if err != nil || report.Rejected() != 0 {
			t.Errorf("%s: %s, error %v", part, report.String(), err)
			continue
		}
		if s := tasks[0]; s.Fn != "" || s.Tests[0].Input != "1 2\n" || s.Tests[0].Output != "3\n" || s.ID != data.TaskID(Set, "stdin") {
			t.Errorf("%s: %+v", part, s)
		}
		if len(tasks) > 1 {
			if c := tasks[1]; c.Fn != "add" || c.Tests[0].Input != "1\n2" {
				t.Errorf("%s: %+v", part, c)
			}
		}
	}
}

func TestThePapersSplitIsOverUsableRows(t *testing.T) {
	const n = 1500
	rows := make([]prime, 0, n+3)
	rows = append(rows, prime{"empty", nil, `[]`}, prime{"broken", nil, `[{"input"`})
	for i := range n {
		rows = append(rows, prime{fmt.Sprintf("problem %d", i), nil, fmt.Sprintf(`[{"type":"stdin_stdout","input":"%d","output":"1"}]`, i)})
	}
	rows = append(rows, rows[5])
	tasks, report, err := Read(t.Context(), write(t, "primeintellect", rows))
	if err != nil || len(tasks) != n || report.Rejected() != 3 || report.Bad[0].Count != 2 || report.Bad[0].Reason != "bad tests" {
		t.Fatalf("%s, error %v", report.String(), err)
	}
	held := 0
	for _, task := range tasks {
		if task.Split == data.Held {
			held++
		}
	}
	order := nprand.Shuffled(n, 42)
	if held != 1000 || tasks[order[0]].Split != data.Held || tasks[order[999]].Split != data.Held || tasks[order[1000]].Split != data.Train {
		t.Errorf("%d held", held)
	}
}

func TestOtherPartsHaveNoSplit(t *testing.T) {
	tasks, _, err := Read(t.Context(), write(t, "codeforces", []prime{{"p", nil, `[{"input":"1","output":"2"}]`}}))
	if err != nil || tasks[0].Split != "" {
		t.Errorf("%+v %v", tasks, err)
	}
}

func FuzzTask(f *testing.F) {
	for _, s := range []string{`{"problem":"p","tests":"[{\"input\":\"1\",\"output\":\"2\"}]"}`,
		`{"problem":"p","tests":"{\"inputs\":[1],\"outputs\":[2]}","metadata":{"func_name":"f"}}`, `{"problem":"p","tests":null,"metadata":"{}"}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		task, err := Task(raw)
		if err != nil {
			if _, ok := err.(*data.RowError); !ok {
				t.Errorf("%T", err)
			}
		} else if len(task.Tests) == 0 || task.Text == "" {
			t.Errorf("%q gives %+v", raw, task)
		}
	})
}
