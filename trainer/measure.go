package trainer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/data"
	"troupe/internal/readfile"
	"troupe/model"
	"troupe/trainer/policy"
	"troupe/trainer/rollout"
	"troupe/trainer/workflow"
)

// Measure plays every task once with one model behind all roles, at the
// config's temperature, and returns the share judged right. Episodes that
// could not be judged are left out.
func Measure(ctx context.Context, cfg *Config, m *model.Model, enc Encoder, v workflow.Verifier, tasks []data.Task) (float64, error) {
	if len(tasks) == 0 {
		return 0, fmt.Errorf("no tasks to measure on")
	}
	w, err := cfg.NewWorkflow(tasks[0].Kind, nil)
	if err != nil {
		return 0, err
	}
	route, err := policy.Parse("shared", w.Roles())
	if err != nil {
		return 0, err
	}
	e := newEngine(enc, route, map[string]*policy.Set{policy.SharedSet: {Name: policy.SharedSet, Model: m}}, cfg.Temperature)
	episodes, err := rollout.Play(ctx, w, rollout.Jobs(cfg.Seed, evalIteration, tasks, 1), e, v)
	if err != nil {
		return 0, err
	}
	right, n := 0.0, 0
	for _, ep := range episodes {
		if ep.Verdict.Rewarded() {
			right += ep.Verdict.Reward
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("none of %d answers could be judged: %s", len(episodes), episodes[0].Verdict.Reason)
	}
	return right / float64(n), nil
}

// HashModel is the content hash of a checkpoint folder: of its weights, its
// configuration and its tokenizer, whatever the folder is called.
func HashModel(dir string) (string, error) {
	return hashFolder(dir, func(name string) bool {
		return slices.Contains([]string{".json", ".safetensors", ".jinja"}, filepath.Ext(name))
	})
}

// HashData is the content hash of a data file, or of a folder of them.
func HashData(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		return hashFolder(path, func(string) bool { return true })
	}
	return HashFile(path)
}

func hashFolder(dir string, want func(name string) bool) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !want(name) {
			continue
		}
		sum, err := HashFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", name, sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashFile is the sha256 of a regular file; a pipe or a device has none that a
// second reading would give.
func HashFile(path string) (string, error) {
	f, err := readfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
