package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"troupe/trainer/grid"
	"troupe/trainer/study"
	"troupe/verifier"
)

type gridCmd struct {
	gridFlags
	Controls bool   `help:"The cells of the controls too."`
	List     bool   `help:"Show the cells with their indices."`
	JSON     bool   `name:"json" help:"List as JSON, one cell a line."`
	Index    *int   `placeholder:"N" help:"Train this cell (default: the one Slurm or Kubernetes names)."`
	Emit     string `enum:"slurm,k8s," default:"" placeholder:"KIND" help:"Write job files: slurm (run it with sh) or k8s (kubectl apply)."`
	Stage    string `enum:"prepare,cell,merge," default:"" placeholder:"STAGE" help:"What a job of --emit does in --dir: prepare, cell or merge."`
	Wait     bool   `help:"With --stage: wait for the stages before it."`
	Dir      string `default:"study" placeholder:"DIR" help:"Folder that all jobs share, for --emit and --stage (default study)."`
	CPUs     int    `name:"cpus" default:"2" placeholder:"N" help:"Cores of a job, for --emit (default 2)."`
	MemoryMB int    `name:"memory-mb" default:"2048" placeholder:"N" help:"Memory of a job, for --emit (default 2048)."`
	Minutes  int    `default:"60" placeholder:"N" help:"Time limit of a job, for --emit (default 60)."`
	Image    string `default:"troupe" placeholder:"NAME" help:"Container image, for --emit k8s (default troupe)."`
	studyFlags
}

// Help is the long text of `troupe grid --help`.
func (gridCmd) Help() string {
	return `Spreads the cells of reproduce over machines: every cell is one job with a
database of its own. What a job leaves is the same as on one machine; so is the
table once the databases are merged. A job that is killed, or stopped before its
time limit, goes on where it was when it runs again.

Examples:
  troupe grid --seeds 3 --emit slurm --dir /shared/study >study.sh && sh study.sh
  troupe grid --seeds 3 --emit k8s --dir /study --image troupe:1 >study.yaml
  troupe grid --index 4 --db cell-4.db     one cell, by hand
  troupe merge runs.db cell-*.db`
}

// Run lists cells, writes job files or does a job.
func (c *gridCmd) Run(env *environment) error {
	opt, err := c.options()
	if err != nil {
		return err
	}
	if c.Controls {
		opt.Cells = append(opt.Cells, study.ControlCells(study.Controls(c.Seed))...)
	}
	switch {
	case c.Emit != "":
		return c.emit(env, len(opt.Cells))
	case c.List:
		return c.list(env, study.Jobs(opt.Cells))
	case c.Stage != "":
		return c.stage(env, opt)
	case c.Wait:
		return usagef("--wait goes with --stage")
	}
	index, err := c.index(len(opt.Cells))
	switch {
	case errors.Is(err, grid.ErrNoIndex):
		return c.list(env, study.Jobs(opt.Cells))
	case err != nil:
		return err
	}
	return c.train(env, opt, index)
}

// index is the cell to train, of so many.
func (c *gridCmd) index(cells int) (int, error) {
	flag := -1 // not given
	if c.Index != nil {
		if flag = *c.Index; flag < 0 {
			return 0, usagef("--index: the cells are 0 to %d, not %d", cells-1, flag)
		}
	}
	n, err := grid.Index(flag, cells, os.LookupEnv)
	if err != nil {
		err = usagef("%w", err)
	}
	return n, err
}

// train trains one cell.
func (c *gridCmd) train(env *environment, opt study.Options, index int) error {
	opt.Cells = opt.Cells[index : index+1]
	return withStudy(env, c.studyFlags, opt, func(s *study.Study, _ *verifier.Judge) error {
		results, err := s.Run(env.Ctx)
		if err != nil {
			return err
		}
		r := results[0]
		fmt.Fprintf(env.Stdout, "%s: %.3f -> %.3f on %d tasks (p %.0e), in %s\n", r.Cell.Name(), r.Sampled.Base, r.Sampled.Final, r.Sampled.N, r.Sampled.P, c.DB)
		return nil
	})
}

func (c *gridCmd) list(env *environment, jobs []grid.Job) error {
	out := json.NewEncoder(env.Stdout)
	for _, j := range jobs {
		if c.JSON {
			if err := out.Encode(j); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(env.Stdout, "%3d  %-20s cost %g\n", j.Index, j.Name, j.Cost)
	}
	return nil
}

func (c *gridCmd) emit(env *environment, cells int) error {
	if c.CPUs < 1 || c.MemoryMB < 1 || c.Minutes < 1 {
		return usagef("--cpus, --memory-mb and --minutes count from 1")
	}
	err := grid.Emit(env.Stdout, c.Emit, grid.Batch{Cells: cells, Args: c.args(), Dir: c.Dir, CPUs: c.CPUs,
		MemoryMB: c.MemoryMB, Minutes: c.Minutes, Image: c.Image})
	if errors.Is(err, grid.ErrBatch) {
		return usagef("%w", err)
	}
	return err
}

// args are the flags that choose the cells, for the jobs to choose the same.
func (c *gridCmd) args() []string {
	args := []string{"--scales", strings.Join(c.Scales, ","), "--seeds", strconv.Itoa(c.Seeds), "--seed", strconv.FormatUint(c.Seed, 10)}
	if c.Iterations > 0 {
		args = append(args, "--iterations", strconv.Itoa(c.Iterations))
	}
	if c.Smoke {
		args = append(args, "--smoke")
	}
	if len(c.Cells) > 0 {
		args = append(args, "--cells", strings.Join(c.Cells, ","))
	}
	if c.Controls {
		args = append(args, "--controls")
	}
	if c.PythonWasm != "" {
		args = append(args, "--python-wasm", c.PythonWasm)
	}
	if c.PythonLib != "" {
		args = append(args, "--python-lib", c.PythonLib)
	}
	return args
}
