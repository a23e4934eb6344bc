package main

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"troupe/data/store"
	"troupe/internal/nearest"
)

// queryCmd asks the run log a question. It never changes the database and may
// be used while a run writes to it.
type queryCmd struct {
	SQL    string `arg:"" optional:"" name:"query" help:"A SELECT statement, or the name of a ready-made query (see --list)."`
	DB     string `name:"db" default:"runs.db" placeholder:"FILE" help:"The run database."`
	RunID  string `name:"run" placeholder:"ID" help:"Bind :run to this run: its id, or the beginning of it. Without it ready-made queries are about all runs."`
	Format string `enum:"table,csv,json" default:"table" help:"table, csv or json (one object a line)."`
	JSON   bool   `name:"json" help:"Same as --format json."`
	List   bool   `help:"List the ready-made queries."`
	Show   bool   `help:"Print the SQL of a ready-made query instead of running it."`
}

// Run answers the question on standard output.
func (c *queryCmd) Run(env *environment) error {
	if c.List {
		if c.SQL != "" {
			return usagef("query: --list takes no query; to see the text of %q use --show", c.SQL)
		}
		return listQueries(env.Stdout)
	}
	if c.SQL == "" {
		return usagef("query: a SELECT statement or a name is missing; --list shows the ready-made ones")
	}
	text, err := queryText(c.SQL)
	if err != nil {
		return err
	}
	if c.Show {
		_, err := fmt.Fprintln(env.Stdout, strings.TrimSpace(text))
		return err
	}
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	run := ""
	if c.RunID != "" {
		r, err := db.FindRun(env.Ctx, c.RunID)
		if err != nil {
			return inputf("database %s: %w", c.DB, err)
		}
		run = r.ID
	}
	rows, err := db.Query(env.Ctx, text, run)
	if err != nil {
		return inputf("%w", err)
	}
	write := writeTable
	switch {
	case c.JSON || c.Format == "json":
		write = writeJSONRows
	case c.Format == "csv":
		write = writeCSV
	}
	err = write(env.Stdout, rows)
	if e := rows.Close(); e != nil {
		return inputf("%w", e)
	}
	return err
}

// Help is the long text of `troupe query --help`.
func (queryCmd) Help() string {
	return `Examples:
  troupe query grid
  troupe query curve --run 3f9a --format csv
  troupe query "SELECT code, count(*) FROM verdicts GROUP BY code"

The tables are described in docs/runs.md; any SQLite client can read the file too.`
}

func listQueries(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, q := range store.NamedQueries() {
		fmt.Fprintf(tw, "%s\t%s\n", q.Name, q.Help)
	}
	return tw.Flush()
}

// queryText is the SQL of a ready-made query, or the argument itself where it
// is more than one word.
func queryText(arg string) (string, error) {
	var names []string
	for _, q := range store.NamedQueries() {
		if q.Name == arg {
			return q.SQL, nil
		}
		names = append(names, q.Name)
	}
	if strings.ContainsAny(arg, " \t\n(;*") {
		return arg, nil
	}
	if near := nearest.Word(arg, names); near != "" {
		return "", usagef("query: no ready-made query %q, did you mean %q?", arg, near)
	}
	return "", usagef("query: %q is neither a ready-made query (see --list) nor a SELECT statement", arg)
}

// writeTable aligns columns; numbers go to the right.
func writeTable(w io.Writer, rows *store.Rows) error {
	cells := [][]string{rows.Columns}
	number := make([]bool, len(rows.Columns))
	for i := range number {
		number[i] = true
	}
	for v := rows.Next(); v != nil; v = rows.Next() {
		line := make([]string, len(v))
		for i, x := range v {
			line[i] = oneLine(cellText(x))
			switch x.(type) {
			case nil, int64, float64:
			default:
				number[i] = false
			}
		}
		cells = append(cells, line)
	}
	width := make([]int, len(rows.Columns))
	for _, line := range cells {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if number[i] {
				s = pad + s
			} else if i < len(line)-1 {
				s += pad
			}
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(s)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(w io.Writer, rows *store.Rows) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(rows.Columns); err != nil {
		return err
	}
	line := make([]string, len(rows.Columns))
	for v := rows.Next(); v != nil; v = rows.Next() {
		for i, x := range v {
			line[i] = cellText(x)
		}
		if err := cw.Write(line); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// writeJSONRows writes one object a line, its keys in the order of the columns.
func writeJSONRows(w io.Writer, rows *store.Rows) error {
	var b []byte
	for v := rows.Next(); v != nil; v = rows.Next() {
		b = append(b[:0], '{')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if blob, ok := x.([]byte); ok {
				x = hex.EncodeToString(blob)
			}
			key, err := json.Marshal(rows.Columns[i])
			if err != nil {
				return err
			}
			value, err := json.Marshal(x)
			if err != nil { // an infinity that a calculation gave
				value = []byte("null")
			}
			b = append(append(append(b, key...), ':'), value...)
		}
		if _, err := w.Write(append(b, '}', '\n')); err != nil {
			return err
		}
	}
	return nil
}

func cellText(x any) string {
	switch v := x.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return hex.EncodeToString(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(x)
}

// widest is the longest cell of a table; csv and json have everything.
const widest = 80

// oneLine makes text fit for a terminal's table: no control characters, of
// which model output may be full, and not too wide.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 32 || r == 127 || r >= 0x80 && r < 0xa0 {
			return '·'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > widest {
		s = string([]rune(s)[:widest-1]) + "…"
	}
	return s
}
