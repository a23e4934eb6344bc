package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"troupe/data"
	"troupe/data/store"
	"troupe/verifier/verdict"
)

// readTasks reads the tasks of --data by their ids, nil without the flag.
func readTasks(ctx context.Context, path string, kind data.Kind) (map[string]data.Task, error) {
	if path == "" {
		return nil, nil
	}
	tasks, report, err := loadTasks(ctx, path)
	if err != nil {
		return nil, inputf("%w", err)
	}
	byID := map[string]data.Task{}
	for _, t := range tasks {
		if t.Kind == kind {
			byID[t.ID] = t
		}
	}
	if len(byID) == 0 {
		return nil, inputf("read %s: no %s task in %d rows", path, kind, report.Rows)
	}
	return byID, nil
}

// verdictLog writes verdicts to a run database, under a run of its own.
type verdictLog struct {
	db      *store.DB
	run     string
	started time.Time
	batch   store.Batch
	times   map[string]int // how often an id was seen: its rollouts
}

// logBatch is how many verdicts one transaction takes.
const logBatch = 256

// openVerdictLog begins a run in the database, nil without a path.
func openVerdictLog(env *environment, path string, kind data.Kind, config map[string]any) (*verdictLog, error) {
	if path == "" {
		return nil, nil
	}
	db, err := store.Open(path)
	if err != nil {
		return nil, inputf("%w", err)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	host, _ := os.Hostname()
	l := &verdictLog{db: db, run: "verify-" + strings.ToLower(rand.Text()[:12]), started: time.Now(), times: map[string]int{}}
	r := store.Run{ID: l.run, Config: string(text), Workflow: "verify", Task: string(kind), Version: version,
		State: store.Running, Host: host}
	if err := db.CreateRun(context.Background(), r); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// add notes a verdict. A nil log drops it.
func (l *verdictLog) add(j judgement) error {
	if l == nil {
		return nil
	}
	at := store.At{Split: string(data.Held), Task: j.id, Rollout: l.times[j.id]}
	l.times[j.id]++
	place := store.CallAt{At: at}
	b := &l.batch
	b.Episodes = append(b.Episodes, store.Episode{At: at, Reward: j.v.Reward, Rewarded: j.v.Rewarded(), Verdict: string(j.v.Code)})
	b.Verdicts = append(b.Verdicts, store.Verdict{CallAt: place, Code: string(j.v.Code), Reason: j.v.Reason,
		Passed: j.v.Passed, Total: j.v.Total, Fuel: j.v.Fuel, Cached: j.v.Cached})
	for i, t := range j.v.Tests {
		if t.Code != verdict.AC {
			b.TestResults = append(b.TestResults, store.TestResult{CallAt: place, Test: i, Code: string(t.Code), Fuel: t.Fuel,
				Stdout: t.Stdout, Stderr: t.Stderr, Detail: t.Detail})
		}
	}
	if len(b.Verdicts) >= logBatch {
		return l.flush("")
	}
	return nil
}

func (l *verdictLog) flush(state string) error {
	b := l.batch
	b.Run, b.Add, b.State = l.run, true, state
	l.batch = store.Batch{}
	return l.db.Write(context.Background(), b)
}

// close writes what is left and ends the run.
func (l *verdictLog) close(stopped bool) error {
	if l == nil {
		return nil
	}
	state := store.Done
	if stopped {
		state = store.Stopped
	}
	return errors.Join(l.flush(state), l.db.Close())
}
