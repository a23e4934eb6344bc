package grid

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"troupe/internal/atomicfile"
)

// StudyID names the study that args of `troupe grid` choose, for names of jobs
// and marks.
func StudyID(args []string) string {
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Folder is where the jobs of a study meet, on a disk that all of them see.
// Each job that has ended well leaves a mark there, because a scheduler may not
// know the order of jobs (Kubernetes does not). A mark belongs to one study;
// other studies may use the same folder.
type Folder struct {
	Dir   string
	Study string // see StudyID
}

// Cache is the folder of the Python guest and the base models.
func (f Folder) Cache() string { return filepath.Join(f.Dir, "cache") }

// Runs is the folder of the checkpoints.
func (f Folder) Runs() string { return filepath.Join(f.Dir, "runs") }

// DB is the database of one cell.
func (f Folder) DB(index int) string { return filepath.Join(f.Dir, fmt.Sprintf("cell-%d.db", index)) }

// Merged is the database of all cells.
func (f Folder) Merged() string { return filepath.Join(f.Dir, "runs.db") }

// Report is the report of all cells.
func (f Folder) Report() string { return filepath.Join(f.Dir, "report.html") }

// Prepared is the mark of the job that fetches the guest and builds the bases.
const Prepared = "prepared"

// CellMark is the mark of a cell's job.
func CellMark(index int) string { return fmt.Sprintf("cell-%d", index) }

func (f Folder) path(mark string) string { return filepath.Join(f.Dir, "ended", f.Study, mark) }

// Mark says that a job has ended well.
func (f Folder) Mark(mark string) error {
	path := f.path(mark)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("mark %s: %w", mark, err)
	}
	return atomicfile.WriteFile(path, []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o644)
}

// Missing are those of the marks that are not there.
func (f Folder) Missing(marks ...string) []string {
	var missing []string
	for _, m := range marks {
		if _, err := os.Stat(f.path(m)); err != nil {
			missing = append(missing, m)
		}
	}
	return missing
}

// Await returns when all marks are there, and looks as often as every says.
func (f Folder) Await(ctx context.Context, every time.Duration, marks ...string) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		missing := f.Missing(marks...)
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", strings.Join(missing, ", "), ctx.Err())
		case <-tick.C:
		}
	}
}
