package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"troupe/data"
	"troupe/model"
	"troupe/trainer"
)

// Replay opens what a run of the study was made of, from its stored config: the
// tasks, the tokenizer, the judge, and its base from the cache. opt needs the
// cache and the verifier.
func Replay(opt Options, cfg *trainer.Config) (trainer.Parts, error) {
	s, err := New(opt)
	if err != nil {
		return trainer.Parts{}, err
	}
	kind := data.Kind(cfg.Task)
	list, ok := s.tasks[kind]
	if !ok || tasksSum(list) != cfg.DataSum {
		return trainer.Parts{}, fmt.Errorf("the run's tasks are not those of this program")
	}
	bases := filepath.Join(opt.Cache, "bases")
	entries, err := os.ReadDir(bases)
	if err != nil && !os.IsNotExist(err) {
		return trainer.Parts{}, err
	}
	for _, e := range entries {
		b, err := readBase(filepath.Join(bases, e.Name()), kind)
		if err != nil || b.Sum != cfg.ModelSum {
			continue
		}
		m, err := model.Load(b.Dir, model.LoadOptions{Trainable: true})
		if err != nil {
			return trainer.Parts{}, err
		}
		cfg.Model = b.Dir
		arm := strings.TrimPrefix(cfg.Profile, "study/")
		return trainer.Parts{Base: m, Encoder: s.enc, Tasks: list, Verifier: s.verifier(Cell{Kind: kind, Seed: cfg.Seed, Arm: arm})}, nil
	}
	return trainer.Parts{}, fmt.Errorf("the run's base model is not in %s; reproduce makes it", bases)
}
