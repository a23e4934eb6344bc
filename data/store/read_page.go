package store

import (
	"context"
	"database/sql"
	"errors"
)

// EpisodeFilter chooses among the episodes of an iteration; empty fields take
// all.
type EpisodeFilter struct{ Split, Verdict, Task string }

// EpisodesPage is a piece of an iteration's episodes, and how many there are.
func (db *DB) EpisodesPage(ctx context.Context, run string, iteration int, f EpisodeFilter, offset, limit int) (page []Episode, total int, err error) {
	const where = ` FROM episodes WHERE run = ?1 AND iteration = ?2
		AND (?3 = '' OR split = ?3) AND (?4 = '' OR verdict = ?4) AND (?5 = '' OR task = ?5)`
	args := []any{run, iteration, f.Split, f.Verdict, f.Task}
	if err := db.sql.QueryRowContext(ctx, "SELECT count(*)"+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	page, err = collect(ctx, db.sql, scanEpisode, "SELECT "+episodeColumns+where+
		" ORDER BY split, temperature, task, rollout LIMIT ?6 OFFSET ?7", append(args, limit, offset)...)
	return page, total, err
}

// TaskByID is one task of a run; ok is false if the log does not have it.
func (db *DB) TaskByID(ctx context.Context, run, id string) (t Task, ok bool, err error) {
	err = db.sql.QueryRowContext(ctx, "SELECT id, kind, text, gold, tests FROM tasks WHERE run = ? AND id = ?", run, id).
		Scan(&t.ID, &t.Kind, &t.Text, &t.Gold, &t.Tests)
	if errors.Is(err, sql.ErrNoRows) {
		return t, false, nil
	}
	return t, err == nil, err
}
