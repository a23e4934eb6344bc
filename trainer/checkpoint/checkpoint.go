// Package checkpoint keeps the states of a run on disk: written whole or not
// at all, read only if every byte is what was written, old ones removed. What
// is inside a checkpoint is the trainer's business.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/internal/atomicfile"
)

// manifestName is the file that lists the others. It is written last.
const manifestName = "manifest.json"

// format is the version of the layout.
const format = 1

// Manifest describes a checkpoint.
type Manifest struct {
	Format    int    `json:"format"`
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
	Files     []File `json:"files"`
}

// File is one file of a checkpoint; Name is relative, with slashes.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Dir is the folder of an iteration's checkpoint below the run's folder.
func Dir(root string, iteration int) string {
	return filepath.Join(root, fmt.Sprintf("step-%06d", iteration))
}

// Write makes the checkpoint of an iteration: fill puts files into a temporary
// folder, which gets a manifest and its final name only when everything is on
// disk. It returns the sha256 of the manifest, which vouches for all files.
func Write(root, run string, iteration int, fill func(dir string) error) (path, sum string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", "", fmt.Errorf("make checkpoint folder: %w", err)
	}
	path = Dir(root, iteration)
	err = atomicfile.WriteDir(path, func(tmp string) error {
		if err := fill(tmp); err != nil {
			return err
		}
		m := Manifest{Format: format, Run: run, Iteration: iteration}
		if m.Files, err = list(tmp); err != nil {
			return err
		}
		b, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		h := sha256.Sum256(b)
		sum = hex.EncodeToString(h[:])
		return os.WriteFile(filepath.Join(tmp, manifestName), b, 0o644)
	})
	if err != nil {
		return "", "", fmt.Errorf("checkpoint of iteration %d: %w", iteration, err)
	}
	return path, sum, nil
}

// list hashes every file below dir, in lexical order.
func list(dir string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		size, sum, err := hash(p)
		files = append(files, File{filepath.ToSlash(rel), size, sum})
		return err
	})
	return files, err
}

func hash(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// ErrDamaged is in the chain of errors about checkpoints whose bytes are not
// those that were written.
var ErrDamaged = errors.New("checkpoint is damaged")

// Verify reads a checkpoint's manifest and compares every file with it. A
// non-empty sum must be the manifest's.
func Verify(path, sum string) (Manifest, error) {
	var m Manifest
	b, err := os.ReadFile(filepath.Join(path, manifestName))
	if err != nil {
		return m, fmt.Errorf("checkpoint %s: %w: no manifest: %w", path, ErrDamaged, err)
	}
	if h := sha256.Sum256(b); sum != "" && hex.EncodeToString(h[:]) != sum {
		return m, fmt.Errorf("checkpoint %s: %w: its manifest is not the recorded one", path, ErrDamaged)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("checkpoint %s: %w: manifest: %w", path, ErrDamaged, err)
	}
	if m.Format != format {
		return m, fmt.Errorf("checkpoint %s: format %d, this program reads %d", path, m.Format, format)
	}
	have, err := list(path)
	if err != nil {
		return m, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	have = slices.DeleteFunc(have, func(f File) bool { return f.Name == manifestName })
	for i, f := range m.Files {
		if i >= len(have) || have[i] != f {
			return m, fmt.Errorf("checkpoint %s: %w: %s is missing or changed", path, ErrDamaged, f.Name)
		}
	}
	if len(have) > len(m.Files) {
		return m, fmt.Errorf("checkpoint %s: %w: %s does not belong to it", path, ErrDamaged, have[len(m.Files)].Name)
	}
	return m, nil
}

// Sweep removes what an interrupted Write left behind below root.
func Sweep(root string) error {
	return each(root, func(name string) bool {
		return strings.HasPrefix(name, ".step-") && strings.Contains(name, ".tmp")
	})
}

// Retain removes all checkpoints below root but those of the given iterations.
func Retain(root string, keep ...int) error {
	kept := map[string]bool{}
	for _, n := range keep {
		kept[filepath.Base(Dir(root, n))] = true
	}
	return each(root, func(name string) bool { return strings.HasPrefix(name, "step-") && !kept[name] })
}

// each removes the entries of root that match; a missing root has none.
func each(root string, match func(name string) bool) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clean checkpoints: %w", err)
	}
	for _, e := range entries {
		if match(e.Name()) {
			if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
				return fmt.Errorf("clean checkpoints: %w", err)
			}
		}
	}
	return nil
}
