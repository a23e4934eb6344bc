package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"troupe/trainer/grid"
	"troupe/trainer/study"
	"troupe/verifier"
)

// awaited is how often a job that waits looks whether it may start.
const awaited = 5 * time.Second

// stage does the work of one job that --emit wrote. All paths are in --dir,
// but for the cache.
func (c *gridCmd) stage(env *environment, opt study.Options) error {
	f := grid.Folder{Dir: c.Dir, Study: grid.StudyID(c.args())}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return inputf("--dir: %w", err)
	}
	switch c.Stage {
	case "prepare":
		return c.prepare(env, opt, f)
	case "merge":
		return c.mergeCells(env, f, len(opt.Cells))
	}
	index, err := c.index(len(opt.Cells))
	if err != nil {
		return err
	}
	if c.Wait {
		if err := f.Await(env.Ctx, awaited, grid.Prepared); err != nil {
			return err
		}
	}
	c.DB, c.Out = f.DB(index), f.Runs()
	if err := c.train(env, opt, index); err != nil {
		return err
	}
	return f.Mark(grid.CellMark(index))
}

// prepare fetches the guest and builds the bases.
func (c *gridCmd) prepare(env *environment, opt study.Options, f grid.Folder) error {
	c.DB, c.Out = f.Merged(), f.Runs()
	err := withStudy(env, c.studyFlags, opt, func(s *study.Study, _ *verifier.Judge) error { return s.Prepare(env.Ctx) })
	if err != nil {
		return err
	}
	return f.Mark(grid.Prepared)
}

// mergeCells joins the databases of all cells and reports on them.
func (c *gridCmd) mergeCells(env *environment, f grid.Folder, cells int) error {
	var marks, sources []string
	for i := range cells {
		marks, sources = append(marks, grid.CellMark(i)), append(sources, f.DB(i))
	}
	if c.Wait {
		if err := f.Await(env.Ctx, awaited, marks...); err != nil {
			return err
		}
	} else if missing := f.Missing(marks...); len(missing) > 0 {
		return inputf("not done in %s: %s", f.Dir, strings.Join(missing, ", "))
	}
	if err := mergeInto(env, f.Merged(), sources); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "all %d cells are in %s\n", cells, f.Merged())
	return writeReport(env, f.Merged(), f.Report())
}
