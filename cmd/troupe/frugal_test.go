package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"troupe/internal/doctor"
)

// TestMemoryForActivationsDependsOnTheCheckpoint: small and large checkpoints get
// little, those between and unreadable ones the usual.
func TestMemoryForActivationsDependsOnTheCheckpoint(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	known := doctor.AvailableMemory() > 0
	shape := func(hidden, inner, layers string) string {
		return `{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": ` + hidden + `, "intermediate_size": ` + inner +
			`, "num_hidden_layers": ` + layers + `, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
			"max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true, "hidden_act": "silu"}`
	}
	for _, c := range []struct {
		name, config string
		want         int64
		limited      bool
	}{
		{"tiny", shape("256", "512", "2"), frugalActivations, true},
		{"1.7B", shape("2048", "6144", "28"), 0, known},
		{"4B", shape("2560", "9728", "36"), frugalActivations, known},
		{"broken", "{", 0, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o644); err != nil {
			t.Fatal(err)
		}
		debug.SetMemoryLimit(math.MaxInt64)
		if got := frugal(dir); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
		if limited := debug.SetMemoryLimit(-1) < math.MaxInt64; limited != c.limited {
			t.Errorf("%s: the collector has a limit: %v, want %v", c.name, limited, c.limited)
		}
	}
}
