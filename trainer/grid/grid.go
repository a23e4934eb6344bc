// Package grid spreads the cells of a study over many machines: a cell is one
// index, an index is one job, a job has a database of its own, and `troupe
// merge` joins the databases. Which cell an index means depends on nothing but
// the study's options, so jobs need not know of each other.
package grid

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Job is one cell as a list of cells shows it.
type Job struct {
	Index int     `json:"index"`
	Name  string  `json:"name"`
	Cost  float64 `json:"cost"` // relative to a single-agent cell of the smallest scale
}

// Dearest orders indices so that cells which cost most come first: the last
// ones to finish are then short. Equal costs keep their order.
func Dearest(jobs []Job) []int {
	sorted := slices.Clone(jobs)
	slices.SortStableFunc(sorted, func(a, b Job) int { return cmp.Compare(b.Cost, a.Cost) })
	indices := make([]int, len(sorted))
	for i, j := range sorted {
		indices[i] = j.Index
	}
	return indices
}

// IndexVariables are what schedulers put a task's index in: Slurm's job arrays
// and Kubernetes' Indexed Jobs.
var IndexVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

// ErrNoIndex is returned where neither a flag nor a scheduler names a cell.
var ErrNoIndex = errors.New("no index: give one with --index, or run under Slurm or Kubernetes")

// Index is the cell to run, from 0: flag if it is not negative, else what a
// scheduler says through lookup, which is os.LookupEnv.
func Index(flag, cells int, lookup func(string) (string, bool)) (int, error) {
	if flag >= 0 {
		return checked("--index", flag, cells)
	}
	for _, name := range IndexVariables {
		text, ok := lookup(name)
		if !ok || text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is not a whole number", name, text)
		}
		return checked(name, n, cells)
	}
	return 0, ErrNoIndex
}

func checked(from string, n, cells int) (int, error) {
	if n < 0 || n >= cells {
		return 0, fmt.Errorf("%s: the cells are 0 to %d, not %d", from, cells-1, n)
	}
	return n, nil
}
