package api

import (
	"context"
	"net/http"
	"strings"

	"troupe/data/store"
	runmetrics "troupe/trainer/metrics"
)

type cell struct {
	Run         string   `json:"run"`
	Task        string   `json:"task"`
	Workflow    string   `json:"workflow"`
	Policy      string   `json:"policy"`
	Model       string   `json:"model"`
	Profile     string   `json:"profile"`
	State       string   `json:"state"`
	Seed        uint64   `json:"seed"`
	Split       string   `json:"split"`
	Temperature float64  `json:"temperature"`
	N           int      `json:"n"`
	Base        *float64 `json:"base"`
	Peak        *float64 `json:"peak"` // the ceiling
	PeakAt      int      `json:"peak_at"`
	Floor       *float64 `json:"floor"` // the lowest after the peak
	Final       *float64 `json:"final"`
	FinalAt     int      `json:"final_at"`
	Stderr      *float64 `json:"stderr"`     // of final
	Parameters  int64    `json:"parameters"` // of the model; 0 where the log does not say
	Alarms      int      `json:"alarms"`     // of the run
}

// listCells is GET /api/grid: base, ceiling, floor and final accuracy of every
// evaluated run, split and temperature (0 is greedy).
func (s *Server) listCells(ctx context.Context, _ *http.Request) (any, error) {
	rows, err := s.opt.DB.Cells(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]cell, len(rows))
	for i, c := range rows {
		out[i] = cell{c.Run, c.Task, c.Workflow, c.Policy, c.Model, c.Profile, c.State, c.Seed, c.Split, c.Temperature,
			c.N, c.Base, c.Peak, c.PeakAt, c.Floor, c.Final, c.FinalAt, c.Stderr, c.Parameters, c.Alarms}
	}
	return map[string]any{"cells": out}, nil
}

// pairing sums up two runs on the tasks that both were evaluated on.
type pairing struct {
	Split       string   `json:"split"`
	Temperature float64  `json:"temperature"`
	Tasks       int      `json:"tasks"`
	A           float64  `json:"a"` // accuracy on them
	B           float64  `json:"b"`
	OnlyA       int      `json:"only_a"` // tasks on which a did better
	OnlyB       int      `json:"only_b"`
	P           float64  `json:"p"`            // exact McNemar test of the two counts
	OnlyATasks  []string `json:"only_a_tasks"` // the first of them
	OnlyBTasks  []string `json:"only_b_tasks"`
}

// pairedTasks bounds the tasks that a comparison names on each side.
const pairedTasks = 50

// setting is a line of a run's config that the other run has otherwise.
type setting struct {
	Key string  `json:"key"`
	A   *string `json:"a"` // null where the run does not have it
	B   *string `json:"b"`
}

// compareRuns is GET /api/compare?a=ID&b=ID: in which settings two runs differ
// and which tasks only one of them solves at its last evaluation. Their curves
// are those of /api/runs/{id}/series.
func (s *Server) compareRuns(ctx context.Context, r *http.Request) (any, error) {
	var runs [2]store.Run
	var sums [2]runSummary
	for i, name := range []string{"a", "b"} {
		id := r.URL.Query().Get(name)
		if id == "" {
			return nil, badParameter("name two runs: a and b")
		}
		var err error
		if runs[i], err = s.opt.DB.RunByID(ctx, id); err != nil {
			return nil, err
		}
		if sums[i], err = s.summary(ctx, runs[i]); err != nil {
			return nil, err
		}
	}
	pairs, err := s.opt.DB.Pairs(ctx, runs[0].ID, runs[1].ID)
	if err != nil {
		return nil, err
	}
	return map[string]any{"a": sums[0], "b": sums[1],
		"settings": differing(runs[0].Config, runs[1].Config), "pairs": pairings(pairs)}, nil
}

func pairings(pairs []store.Pair) []pairing {
	out := []pairing{}
	for _, p := range pairs {
		if n := len(out); n == 0 || out[n-1].Split != p.Split || out[n-1].Temperature != p.Temperature {
			out = append(out, pairing{Split: p.Split, Temperature: p.Temperature, OnlyATasks: []string{}, OnlyBTasks: []string{}})
		}
		x := &out[len(out)-1]
		x.Tasks++
		x.A, x.B = x.A+p.A, x.B+p.B
		switch {
		case p.A > p.B:
			x.OnlyA++
			x.OnlyATasks = appendUpTo(x.OnlyATasks, p.Task)
		case p.B > p.A:
			x.OnlyB++
			x.OnlyBTasks = appendUpTo(x.OnlyBTasks, p.Task)
		}
	}
	for i := range out {
		out[i].A /= float64(out[i].Tasks)
		out[i].B /= float64(out[i].Tasks)
		out[i].P, _ = runmetrics.McNemar(out[i].OnlyA, out[i].OnlyB)
	}
	return out
}

func appendUpTo(tasks []string, task string) []string {
	if len(tasks) < pairedTasks {
		tasks = append(tasks, task)
	}
	return tasks
}

// differing lists the settings of two resolved configs that are not equal.
func differing(a, b string) []setting {
	out := []setting{}
	left, right := settings(a), settings(b)
	for _, key := range left.keys {
		mine, other := left.values[key], right.values[key]
		if other == nil || *mine != *other {
			out = append(out, setting{key, mine, other})
		}
	}
	for _, key := range right.keys {
		if left.values[key] == nil {
			out = append(out, setting{key, nil, right.values[key]})
		}
	}
	return out
}

// resolved is a config as runs store it, a key and its value a line.
type resolved struct {
	keys   []string
	values map[string]*string
}

func settings(config string) resolved {
	out := resolved{values: map[string]*string{}}
	for line := range strings.Lines(config) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && out.values[key] == nil {
			out.keys = append(out.keys, key)
			out.values[key] = &value
		}
	}
	return out
}
