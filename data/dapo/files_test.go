package dapo

import (
	"fmt"
	"path/filepath"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
)

func write[T any](t testing.TB, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquetgo.WriteFile(path, rows, parquetgo.Compression(&parquetgo.Snappy)); err != nil {
		t.Fatal(err)
	}
	return path
}

type message struct {
	Content string `parquet:"content"`
	Role    string `parquet:"role"`
}

type reward struct {
	GroundTruth string `parquet:"ground_truth"`
	Style       string `parquet:"style"`
}

type info struct {
	Index string `parquet:"index"`
}

type rawRow struct {
	DataSource string    `parquet:"data_source"`
	Prompt     []message `parquet:"prompt,list"`
	Ability    string    `parquet:"ability"`
	Reward     reward    `parquet:"reward_model"`
	Extra      info      `parquet:"extra_info"`
}

// rawFile has n problems, each so many times, and two rows of no use.
func rawFile(t testing.TB, n, times int) string {
	var rows []rawRow
	row := func(content, gold string) rawRow {
		return rawRow{"math_dapo", []message{{content, "user"}}, "MATH", reward{gold, "rule-lighteval/MATH_v2"}, info{fmt.Sprint(len(rows))}}
	}
	for range times {
		for i := range n {
			rows = append(rows, row(prefix+fmt.Sprintf("Problem %d?", i)+suffix, fmt.Sprint(2*i)))
		}
	}
	rows = append(rows, row(prefix+"No gold?"+suffix, " "), rawRow{Prompt: []message{{"x", "assistant"}}})
	return write(t, rows)
}

type processedRow struct {
	Prompt       string    `parquet:"prompt"`
	Solution     string    `parquet:"solution"`
	DataSource   string    `parquet:"data_source"`
	SourcePrompt []message `parquet:"source_prompt,list"`
	Ability      string    `parquet:"ability"`
	Reward       reward    `parquet:"reward_model"`
	Extra        info      `parquet:"extra_info"`
}

func processedFile(t testing.TB, n int) string {
	rows := make([]processedRow, n)
	for i := range rows {
		p := fmt.Sprintf("Problem %d?", i)
		rows[i] = processedRow{p, fmt.Sprint(i), "math_dapo", []message{{prefix + p + suffix, "user"}}, "MATH", reward{fmt.Sprint(i), "rule"}, info{fmt.Sprint(i)}}
	}
	return write(t, rows)
}
