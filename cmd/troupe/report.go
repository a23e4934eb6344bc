package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"troupe/data/report"
	"troupe/data/store"
	"troupe/internal/atomicfile"
)

type reportCmd struct {
	DB   string   `name:"db" default:"runs.db" placeholder:"FILE" help:"Run database."`
	Out  string   `default:"report.html" placeholder:"FILE" help:"HTML file to write; - for standard output."`
	CSV  string   `name:"csv" placeholder:"FILE" help:"Also write the cells as CSV; - for standard output instead of the HTML."`
	PNG  string   `name:"png" placeholder:"DIR" help:"Also write each figure as PNG into this folder."`
	Runs []string `name:"run" placeholder:"ID" help:"Only these runs; repeatable."`
}

// Run writes the report.
func (c *reportCmd) Run(env *environment) error {
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	r, err := report.Load(env.Ctx, db, c.Runs...)
	if err != nil {
		return fmt.Errorf("%s: %w", c.DB, err)
	}
	if c.CSV == "-" {
		return r.CSV(env.Stdout)
	}
	if c.CSV != "" {
		if err := atomicfile.Write(c.CSV, 0o644, r.CSV); err != nil {
			return err
		}
	}
	if err := c.pictures(r); err != nil {
		return err
	}
	if c.Out == "-" {
		return r.HTML(env.Stdout)
	}
	if err := atomicfile.Write(c.Out, 0o644, func(w io.Writer) error { return r.HTML(w) }); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "wrote %s: %d cells, %d figures\n", c.Out, len(r.Cells), len(r.Figures))
	return nil
}

func (c *reportCmd) pictures(r *report.Report) error {
	if c.PNG == "" {
		return nil
	}
	if err := os.MkdirAll(c.PNG, 0o755); err != nil {
		return err
	}
	for _, f := range r.Figures {
		b, err := f.PNG()
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(filepath.Join(c.PNG, f.Name+".png"), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
