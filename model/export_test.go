package model

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"troupe/model/lora"
)

func TestWriteGGUF(t *testing.T) {
	for _, kind := range []string{"qwen3", "llama"} {
		cfg := Config{Type: kind, Hidden: 8, Inner: 16, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 4, Vocab: 32, MaxPositions: 8,
			Eps: 1e-6, RopeTheta: 1e4, Tied: true, BOS: -1}
		a, err := lora.New(lora.Config{Rank: 4, Alpha: 2, RSLoRA: true, Targets: []string{"all-linear"}}, cfg.AdapterBase(), rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.gguf")
		if err := cfg.WriteGGUF(path, a); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{kind, "adapter.lora.alpha\x06\x00\x00\x00\x00\x00\x80\x40", "blk.0.attn_q.weight.lora_a", "blk.1.ffn_down.weight.lora_b"} {
			if !bytes.Contains(b, []byte(want)) {
				t.Errorf("%s: no %q in the file", kind, want)
			}
		}
		other := cfg
		other.Inner = 24
		if err := other.WriteGGUF(path, a); err == nil {
			t.Error("an adapter of another shape was written")
		}
	}
	if got := interleaveHalves([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 4, 1); !slices.Equal(got, []float32{0, 2, 1, 3, 4, 6, 5, 7}) {
		t.Errorf("rows %v", got)
	}
}
