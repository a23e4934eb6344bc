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
	Index    int    `default:"-1" placeholder:"N" help:"Train this cell (default: the one Slurm or Kubernetes names)."`
	Emit     string `enum:"slurm,k8s," default:"" placeholder:"KIND" help:"Write a job file: slurm or k8s."`
	Dir      string `default:"study" placeholder:"DIR" help:"Folder that all jobs share, for --emit (default study)."`
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
table once the databases are merged.

Example:
  troupe grid --seeds 3 --emit slurm --dir /shared/study >study.sbatch
  sbatch study.sbatch
  troupe merge /shared/study/runs.db /shared/study/cell-*.db
  troupe report --db /shared/study/runs.db`
}

// Run lists cells, writes a job file or trains one cell.
func (c *gridCmd) Run(env *environment) error {
	opt, err := c.options()
	if err != nil {
		return err
	}
	if c.Controls {
		opt.Cells = append(opt.Cells, study.ControlCells(study.Controls())...)
	}
	if c.Emit != "" {
		return c.emit(env, len(opt.Cells))
	}
	if c.List {
		return c.list(env, study.Jobs(opt.Cells))
	}
	index, err := grid.Index(c.Index, len(opt.Cells), os.LookupEnv)
	switch {
	case errors.Is(err, grid.ErrNoIndex):
		return c.list(env, study.Jobs(opt.Cells))
	case err != nil:
		return usagef("%w", err)
	}
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
	return grid.Emit(env.Stdout, c.Emit, grid.Batch{Cells: cells, Args: c.args(), Dir: c.Dir, CPUs: c.CPUs,
		MemoryMB: c.MemoryMB, Minutes: c.Minutes, Image: c.Image})
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
	if c.Controls {
		args = append(args, "--controls")
	}
	return args
}
