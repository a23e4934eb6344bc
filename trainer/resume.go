package trainer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"troupe/data/store"
	"troupe/trainer/checkpoint"
)

// state is the part of a checkpoint that is neither weights nor optimizer.
type state struct {
	Calls    int     `json:"update_calls"`
	Bad      int     `json:"nonfinite_in_a_row"`
	Accuracy float64 `json:"accuracy"`
	Batches  int     `json:"batches"` // drawn by dynamic sampling
}

const (
	stateFile = "trainer_state.json"
	askedFile = "questions.bin" // hashes of what was judged, 8 bytes each, ascending
)

// Root is the folder of the run's checkpoints.
func (t *Trainer) Root() string {
	if t.cfg.Out != "" {
		return t.cfg.Out
	}
	return filepath.Join("runs", t.id)
}

// commit writes an iteration: first the checkpoint if one is due, then one
// transaction with all rows. A checkpoint counts once that is on disk.
func (t *Trainer) commit(ctx context.Context, log *record, save bool) error {
	if save {
		t.fail("before-checkpoint")
		path, sum, err := checkpoint.Write(t.Root(), t.id, log.Iteration, t.save)
		if err != nil {
			return err
		}
		log.Checkpoint = &store.Checkpoint{Path: path, SHA256: sum}
		log.timed("checkpoint")
		t.fail("after-checkpoint")
	}
	if t.last && log.State == "" {
		log.State = store.Done
	}
	if t.stored > 0 {
		log.spent("store", t.stored.Seconds()) // the transaction before: this one can't tell of itself
	}
	start := time.Now()
	if err := t.parts.DB.Write(ctx, log.Batch); err != nil {
		return err
	}
	t.stored = time.Since(start)
	t.fail("after-transaction")
	if save {
		if err := t.retain(ctx); err != nil {
			return err
		}
		t.fail("after-retention")
	}
	t.report(log)
	return nil
}

// save fills a checkpoint's folder.
func (t *Trainer) save(dir string) error {
	for _, name := range t.setNames {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o755); err != nil {
			return err
		}
		if err := t.sets[name].Save(sub); err != nil {
			return err
		}
		t.fail("within-checkpoint")
	}
	hashes := make([]uint64, 0, len(t.asked))
	for h := range t.asked {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	b := make([]byte, 0, 8*len(hashes))
	for _, h := range hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	if err := os.WriteFile(filepath.Join(dir, askedFile), b, 0o644); err != nil {
		return err
	}
	js, err := json.MarshalIndent(state{t.calls, t.bad, t.accuracy, t.batches}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, stateFile), js, 0o644)
}

// load is the inverse of save.
func (t *Trainer) load(dir string) error {
	for _, name := range t.setNames {
		if err := t.sets[name].Load(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, askedFile))
	if err != nil {
		return err
	}
	t.asked = make(map[uint64]bool, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		t.asked[binary.LittleEndian.Uint64(b)] = true
	}
	js, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal(js, &s); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, stateFile), err)
	}
	t.calls, t.bad, t.accuracy, t.batches = s.Calls, s.Bad, s.Accuracy, s.Batches
	return nil
}

// resume makes the run's row, or goes back to the newest checkpoint that is
// recorded and intact. It returns the iteration it stands after, -1 for a run
// that has not begun.
func (t *Trainer) resume(ctx context.Context) (int, error) {
	if err := checkpoint.Sweep(t.Root()); err != nil {
		return 0, err
	}
	if err := t.parts.DB.CreateRun(ctx, t.row()); err != nil {
		return 0, err
	}
	recorded, err := t.parts.DB.Checkpoints(ctx, t.id)
	if err != nil {
		return 0, err
	}
	var damaged error
	for _, c := range slices.Backward(recorded) {
		dir := checkpoint.Dir(t.Root(), c.Iteration)
		if _, err := checkpoint.Verify(dir, c.SHA256); err != nil {
			damaged = errors.Join(damaged, err)
			continue
		}
		if err := t.load(dir); err != nil {
			return 0, err
		}
		if err := t.parts.DB.Truncate(ctx, t.id, c.Iteration); err != nil {
			return 0, err
		}
		return c.Iteration, t.rewatch(ctx, t.parts.DB, c.Iteration)
	}
	if damaged != nil && len(recorded) > 0 {
		return 0, fmt.Errorf("no checkpoint of run %s can be read (--fresh starts anew): %w", t.id, damaged)
	}
	return -1, t.parts.DB.Truncate(ctx, t.id, -1)
}

// row is the run's row in the log.
func (t *Trainer) row() store.Run {
	c := &t.cfg
	return store.Run{ID: t.id, Config: c.Resolved(), Profile: c.Profile, Workflow: c.Workflow, Policy: c.Policy,
		Task: c.Task, Model: c.ModelSum, Numerics: c.Numerics, Kernels: t.parts.Kernels, Seed: c.Seed,
		Version: t.parts.Version, State: store.Running, Host: t.parts.Host}
}

// retain removes checkpoints that are older than the newest few.
func (t *Trainer) retain(ctx context.Context) error {
	recorded, err := t.parts.DB.Checkpoints(ctx, t.id)
	if err != nil {
		return err
	}
	var keep []int
	for _, c := range recorded[max(0, len(recorded)-max(1, t.cfg.CheckpointKeep)):] {
		keep = append(keep, c.Iteration)
	}
	return checkpoint.Retain(t.Root(), keep...)
}
