package store

import (
	"context"
	"database/sql"
	"fmt"
)

func scanEpisode(rows *sql.Rows, e *Episode) error {
	var reward sql.NullFloat64
	err := rows.Scan(&e.Split, &e.Temperature, &e.Task, &e.Rollout, &reward, &e.Verdict, &e.Kept)
	e.Reward, e.Rewarded = reward.Float64, reward.Valid
	return err
}

const episodeColumns = "split, temperature, task, rollout, reward, verdict, kept"

// Episodes lists the episodes of an iteration.
func (db *DB) Episodes(ctx context.Context, run string, iteration int) ([]Episode, error) {
	return collect(ctx, db.sql, scanEpisode, "SELECT "+episodeColumns+` FROM episodes
		WHERE run = ? AND iteration = ? ORDER BY split, temperature, task, rollout`, run, iteration)
}

// EpisodeAt is one episode; ok is false if there is none.
func (db *DB) EpisodeAt(ctx context.Context, run string, iteration int, at At) (e Episode, ok bool, err error) {
	all, err := collect(ctx, db.sql, scanEpisode, "SELECT "+episodeColumns+" FROM episodes WHERE "+ofEpisode, at.of(run, iteration)...)
	if err != nil || len(all) == 0 {
		return e, false, err
	}
	return all[0], true, nil
}

// ofEpisode selects the rows of one episode by what At.of lists.
const ofEpisode = "run = ? AND iteration = ? AND split = ? AND temperature = ? AND task = ? AND rollout = ?"

func (a At) of(run string, iteration int) []any {
	return []any{run, iteration, a.Split, a.Temperature, a.Task, a.Rollout}
}

const callKey = "split, temperature, task, rollout, role, slot, turn"

func (c *CallAt) into() []any {
	return []any{&c.Split, &c.Temperature, &c.Task, &c.Rollout, &c.Role, &c.Slot, &c.Turn}
}

// Calls lists the logged model calls of an iteration. A call whose
// log-probabilities were not finite has none.
func (db *DB) Calls(ctx context.Context, run string, iteration int) ([]Call, error) {
	return db.calls(ctx, "run = ? AND iteration = ?", run, iteration)
}

// CallsOf lists the logged model calls of one episode.
func (db *DB) CallsOf(ctx context.Context, run string, iteration int, at At) ([]Call, error) {
	return db.calls(ctx, ofEpisode, run, iteration, at.Split, at.Temperature, at.Task, at.Rollout)
}

func (db *DB) calls(ctx context.Context, where string, args ...any) ([]Call, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, c *Call) error {
		var prompt, ids, logprobs []byte
		var advantage sql.NullFloat64
		err := rows.Scan(append(c.into(), &prompt, &ids, &logprobs, &c.Text, &c.Tier, &c.Finish, &advantage)...)
		if err != nil {
			return err
		}
		c.Advantage = advantage.Float64
		if c.PromptIDs, err = DecodeIDs(prompt); err == nil {
			if c.IDs, err = DecodeIDs(ids); err == nil {
				c.LogProbs, err = DecodeLogProbs(logprobs)
			}
		}
		if err != nil {
			return fmt.Errorf("call of task %s, rollout %d, role %s: %w", c.Task, c.Rollout, c.Role, err)
		}
		return nil
	}, "SELECT "+callKey+", prompt_ids, ids, logprobs, text, tier, finish, advantage FROM calls WHERE "+where+
		" ORDER BY split, temperature, task, rollout, turn, rowid", args...)
}

// Verdicts lists the verdicts of an iteration.
func (db *DB) Verdicts(ctx context.Context, run string, iteration int) ([]Verdict, error) {
	return db.verdicts(ctx, "run = ? AND iteration = ?", run, iteration)
}

// VerdictsOf lists the verdicts of one episode: that of its answer, and of each
// candidate that was judged by itself.
func (db *DB) VerdictsOf(ctx context.Context, run string, iteration int, at At) ([]Verdict, error) {
	return db.verdicts(ctx, ofEpisode, at.of(run, iteration)...)
}

func (db *DB) verdicts(ctx context.Context, where string, args ...any) ([]Verdict, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, v *Verdict) error {
		var fuel int64
		err := rows.Scan(append(v.into(), &v.Code, &v.Reason, &v.Passed, &v.Total, &fuel, &v.Cached)...)
		v.Fuel = uint64(fuel)
		return err
	}, "SELECT "+callKey+", code, reason, passed, total, fuel, cached FROM verdicts WHERE "+where+" ORDER BY "+callKey, args...)
}

// TestResults lists the logged test results of an iteration.
func (db *DB) TestResults(ctx context.Context, run string, iteration int) ([]TestResult, error) {
	return db.testResults(ctx, "run = ? AND iteration = ?", run, iteration)
}

// TestResultsOf lists the logged test results of one episode.
func (db *DB) TestResultsOf(ctx context.Context, run string, iteration int, at At) ([]TestResult, error) {
	return db.testResults(ctx, ofEpisode, at.of(run, iteration)...)
}

func (db *DB) testResults(ctx context.Context, where string, args ...any) ([]TestResult, error) {
	return collect(ctx, db.sql, func(rows *sql.Rows, r *TestResult) error {
		var fuel int64
		err := rows.Scan(append(r.into(), &r.Test, &r.Code, &fuel, &r.Stdout, &r.Stderr, &r.Detail)...)
		r.Fuel = uint64(fuel)
		return err
	}, "SELECT "+callKey+", test, code, fuel, stdout, stderr, detail FROM test_results WHERE "+where+" ORDER BY "+callKey+", test", args...)
}
