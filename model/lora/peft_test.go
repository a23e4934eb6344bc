package lora

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/model/safetensors"
)

// base is a model of two layers.
var base = Base{Layers: 2, In: [Projections]int{8, 8, 8, 12, 8, 8, 10}, Out: [Projections]int{12, 4, 4, 8, 10, 10, 8}}

func TestTargetsMatchWholeNamesAndEndings(t *testing.T) {
	for _, c := range []struct {
		targets []string
		want    int // modules hit, -1 for an error
	}{
		{[]string{"all-linear"}, 14},
		{[]string{"q_proj", "v_proj"}, 4},
		{[]string{"self_attn.q_proj"}, 2},
		{[]string{"model.layers.1.mlp.down_proj"}, 1},
		{[]string{"layers.0.self_attn.k_proj", "k_proj"}, 2},
		{[]string{"proj"}, -1}, // an ending counts only after a dot
		{[]string{"q_proj", "qkv_proj"}, -1},
		{[]string{"model.layers.2.mlp.down_proj"}, -1},
		{nil, -1},
	} {
		hit, err := matchTargets(c.targets, base)
		n := 0
		for _, h := range hit {
			if h {
				n++
			}
		}
		if err != nil {
			n = -1
		}
		if n != c.want {
			t.Errorf("%q: %d modules (%v), want %d", c.targets, n, err, c.want)
		}
	}
}

func TestAdapterConfigs(t *testing.T) {
	const head = `{"peft_type":"LORA","r":4,"lora_alpha":8,"target_modules":["q_proj"]`
	for text, fault := range map[string]string{
		head + `}`: "",
		head + `,"some_new_key":null,"another":false,"third":{},"fourth":[],"fifth":0}`:      "",
		head + `,"init_lora_weights":"gaussian","lora_dropout":0.1,"task_type":"CAUSAL_LM"}`: "",
		head + `,"some_new_key":1}`:                         "some_new_key",
		head + `,"use_dora":true}`:                          "use_dora",
		head + `,"bias":"all"}`:                             "bias",
		head + `,"rank_pattern":{"q_proj":2}}`:              "rank_pattern",
		head + `,"layers_to_transform":[0]}`:                "layers_to_transform",
		head + `,"init_lora_weights":"pissa_niter_4"}`:      "init_lora_weights",
		head + `,"modules_to_save":["lm_head"]}`:            "modules_to_save",
		head + `,"fan_in_fan_out":true}`:                    "fan_in_fan_out",
		`{"peft_type":"IA3","r":4,"target_modules":["a"]}`:  "peft_type",
		`{"peft_type":"LORA","target_modules":["a"]}`:       "r is 0",
		`{"peft_type":"LORA","r":2.5}`:                      "r:",
		`{"peft_type":"LORA","r":2,"target_modules":".*q"}`: "target_modules",
		`[]`: "not a JSON object",
	} {
		_, err := ParseConfig([]byte(text))
		switch {
		case fault == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case fault != "" && (err == nil || !strings.Contains(err.Error(), fault)):
			t.Errorf("%s: error %v, want one that names %q", text, err, fault)
		}
	}
}

func TestScaling(t *testing.T) {
	plain, rs := Config{Rank: 16, Alpha: 32}, Config{Rank: 16, Alpha: 32, RSLoRA: true}
	if plain.Scaling() != 2 || rs.Scaling() != 8 {
		t.Errorf("scalings %v and %v, want 2 and 8", plain.Scaling(), rs.Scaling())
	}
}

func TestANewAdapterChangesNothingYet(t *testing.T) {
	a, err := New(Config{Rank: 2, Alpha: 4, Targets: []string{allLinear}}, base, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Params() {
		bound, zero := 1/math.Sqrt(float64(p.Shape[1])), true
		for _, v := range p.Data {
			zero = zero && v == 0
			if math.Abs(float64(v)) > bound {
				t.Errorf("%s: %v is beyond ±%v", p.Name, v, bound)
			}
		}
		if zero != strings.HasSuffix(p.Name, keyB) {
			t.Errorf("%s: all zero is %v", p.Name, zero)
		}
	}
	b := a.Clone()
	b.Params()[0].Data[0]++
	if a.Params()[0].Data[0] == b.Params()[0].Data[0] {
		t.Error("a clone shares memory")
	}
	if err := a.CopyFrom(b); err != nil || a.Params()[0].Data[0] != b.Params()[0].Data[0] {
		t.Errorf("copy: %v", err)
	}
}

func TestUnmatchedTensorsAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, err := New(Config{Rank: 2, Alpha: 4, Targets: []string{"q_proj"}}, base, rng)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Rank: 2, Alpha: 4, Targets: []string{"q_proj", "k_proj"}}, base, rng)
	if err != nil {
		t.Fatal(err)
	}
	da, db := t.TempDir(), t.TempDir()
	if err := a.Save(da); err != nil {
		t.Fatal(err)
	}
	if err := b.Save(db); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(da, ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(db, ConfigFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(db, base); err == nil || !strings.Contains(err.Error(), "4 of 8 tensors") {
		t.Errorf("error %v, want the count of unmatched tensors", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"peft_type":"LORA","r":8,"lora_alpha":16,"target_modules":["q_proj"]}`))
	f.Add([]byte(`{"peft_type":"LORA","r":1,"lora_alpha":1e308,"target_modules":"all-linear","use_rslora":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig(text)
		if err != nil {
			return
		}
		if c.Rank < 1 {
			t.Fatalf("accepted rank %d", c.Rank)
		}
		if c.Rank < 64 {
			shape(c, base) // must not panic
		}
	})
}

// An adapter's memory goes with its rank, which a few bytes can claim: the file
// must hold the tensors first.
func TestMemoryIsTakenOnlyForWhatTheFileHolds(t *testing.T) {
	huge := Base{Layers: 1000}
	for i := range huge.In {
		huge.In[i], huge.Out[i] = 1<<16, 1<<16 // 28 TB at this rank
	}
	dir := t.TempDir()
	config := `{"peft_type":"LORA","r":65536,"lora_alpha":8,"target_modules":["all-linear"]}`
	if err := os.WriteFile(filepath.Join(dir, ConfigFile), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]string{
		"x": "1 of 1 tensors match no module",
		keyPrefix + "model.layers.0.mlp.up_proj" + keyA: `layers.0.self_attn.q_proj.lora_A.weight" is missing`,
	} {
		entry := safetensors.Entry{Name: name, DType: safetensors.F32, Shape: []int{1 << 16, 0}}
		if err := safetensors.WriteFile(filepath.Join(dir, WeightsFile), nil, []safetensors.Entry{entry}); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, huge); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: error %v, want %q", name, err, fault)
		}
	}
}
