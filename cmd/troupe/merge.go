package main

import (
	"errors"
	"fmt"

	"troupe/data/store"
)

type mergeCmd struct {
	Into string   `arg:"" placeholder:"INTO" help:"The database that gets all runs; made if it is missing."`
	From []string `arg:"" placeholder:"FROM" help:"Databases to take runs from, as those of a cluster's jobs."`
}

// Help is the long text of `troupe merge --help`.
func (mergeCmd) Help() string {
	return `Merging again changes nothing. A run that both sides have must be told alike
as far as both tell it; then the longer one stays. Runs that differ are refused
and that database is left out.

Example:
  troupe merge runs.db job-*.db`
}

// Run merges one database after the other. A conflict does not keep the others
// out, but the command fails.
func (c *mergeCmd) Run(env *environment) error { return mergeInto(env, c.Into, c.From) }

func mergeInto(env *environment, into string, sources []string) error {
	db, err := store.Open(into)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	var failed []error
	for _, from := range sources {
		m, err := db.Merge(env.Ctx, from)
		if err != nil {
			if env.Ctx.Err() != nil {
				return err
			}
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(env.Stdout, "%s: %d runs added, %d completed, %d there already\n", from, len(m.Added), len(m.Completed), len(m.Present))
	}
	if len(failed) > 0 {
		return inputf("%w", errors.Join(failed...))
	}
	return nil
}
