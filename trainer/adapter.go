package trainer

import (
	"path/filepath"

	"troupe/internal/prng"
	"troupe/model/lora"
)

// newAdapter draws the fresh adapter of a parameter set.
func (t *Trainer) newAdapter(name string) (*lora.Adapter, error) {
	cfg := lora.Config{Rank: t.cfg.Rank, Alpha: t.cfg.Alpha, Targets: []string{"all-linear"}, BaseName: filepath.Base(t.cfg.Model)}
	return lora.New(cfg, t.parts.Base.Config.AdapterBase(), prng.Stream(t.cfg.Seed, "adapter", name))
}
