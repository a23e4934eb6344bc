package model

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestGoldenBadCheckpointsAreRefused goes through all corrupted checkpoints:
// the right ones load, those of level warning load with a warning, and every
// other is refused with a message that names the file and the fault.
func TestGoldenBadCheckpointsAreRefused(t *testing.T) {
	dir := filepath.Join(filepath.Dir(goldenDir()), "bad")
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Case, Level, Fault string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range cases {
		at := filepath.Join(dir, c.Case)
		for _, trainable := range []bool{false, true} {
			m, err := Load(at, LoadOptions{Trainable: trainable})
			if c.Level == "adapter" || strings.HasPrefix(c.Case, "50") {
				if err != nil {
					t.Fatalf("%s: %v", c.Case, err)
				}
				_, err = m.LoadAdapter(filepath.Join(at, "adapter"))
			}
			switch {
			case c.Level == "none" || c.Level == "warning":
				if err != nil {
					t.Errorf("%s: %v", c.Case, err)
				} else if warned := len(m.Warnings) > 0; warned != (c.Level == "warning") {
					t.Errorf("%s: warnings %q", c.Case, m.Warnings)
				}
				continue
			case err == nil:
				t.Errorf("%s loaded, although: %s", c.Case, c.Fault)
				continue
			}
			refused++
			if !strings.Contains(err.Error(), c.Case) {
				t.Errorf("%s: the error does not name the file: %v", c.Case, err)
			}
			if want := faultWord(c.Fault); !strings.Contains(err.Error(), want) && c.Case != "20-fractional-dimension" {
				t.Errorf("%s: the error lacks %q: %v", c.Case, want, err)
			}
		}
	}
	if refused != 2*57 {
		t.Errorf("%d refusals, want 57 twice", refused)
	}
}

// faultWord picks the word of a fault that the error has to contain: a
// tensor's name or a key.
func faultWord(fault string) string {
	for _, w := range strings.FieldsFunc(fault, func(r rune) bool { return r == ' ' || r == ':' || r == ',' }) {
		if strings.HasSuffix(w, ".weight") || strings.Contains(w, "_") && !strings.HasSuffix(w, ".json") && !strings.HasSuffix(w, ".safetensors") {
			return w
		}
	}
	return ""
}

func TestGoldenConfigsMeanTheSameInBothSpellings(t *testing.T) {
	eachGolden(t, func(t *testing.T, g *golden) {
		want, err := ReadConfig(g.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"config_v5.json", "config_hub.json"} {
			text, err := os.ReadFile(filepath.Join(g.dir, name))
			if err != nil {
				continue
			}
			got, err := ParseConfig(text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, config.json: %+v", name, got, want)
			}
		}
		dir := t.TempDir()
		if err := want.Write(dir, "bfloat16"); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadConfig(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("written and read: %+v, %v", got, err)
		}
	})
}

// smallest is a configuration that loads; tests change one key at a time.
const smallest = `{"model_type":"llama","hidden_size":8,"intermediate_size":12,"num_hidden_layers":1,"num_attention_heads":2,
"vocab_size":16,"max_position_embeddings":64,"rms_norm_eps":1e-6,"hidden_act":"silu"`

func TestConfigsThatWouldComputeSomethingElseAreRefused(t *testing.T) {
	if _, err := ParseConfig([]byte(smallest + "}")); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"attention_bias": "true", "mlp_bias": "true", "use_sliding_window": "true", "partial_rotary_factor": "0.5",
		"layer_types": `["sliding_attention"]`, "quantization_config": `{"bits":4}`, "rope_scaling": `{"type":"yarn","factor":4}`,
		"rope_parameters": `{"rope_type":"linear","rope_theta":1e4}`, "num_key_value_heads": "3", "head_dim": "7", "eos_token_id": "16",
	} {
		_, err := ParseConfig([]byte(smallest + `,"` + key + `":` + value + "}"))
		if err == nil {
			t.Errorf("%s %s: accepted", key, value)
		} else if !strings.Contains(err.Error(), strings.TrimSuffix(key, "_id")[:4]) {
			t.Errorf("%s %s: the error names something else: %v", key, value, err)
		}
	}
}

// Rotary parameters stand in two places and two spellings; one that is not
// looked at would turn heads by other angles.
func TestRotaryParametersAreReadOrRefused(t *testing.T) {
	for extra, want := range map[string]string{ // a number: accepted with that base
		`"rope_parameters":{"rope_type":"default","rope_theta":5e5}`: "500000",
		`"rope_parameters":{"rope_type":"default"},"rope_theta":5e5`: "500000",
		`"rope_theta":5e5`:    "500000",
		`"rope_scaling":null`: "10000", // llama's own default
		`"rope_parameters":{"rope_theta":1e4,"partial_rotary_factor":0.5}`:                      "rope_parameters: partial_rotary_factor",
		`"rope_scaling":{"type":"default","partial_rotary_factor":0.25}`:                        "rope_scaling: partial_rotary_factor",
		`"rope_parameters":{"rope_theta":1e4,"partial_rotary_factor":1}`:                        "10000",
		`"rope_parameters":{"full_attention":{"rope_theta":5e5,"rope_type":"default"}}`:         "full_attention",
		`"rope_scaling":{"type":"default","mrope_section":[16,24,24]}`:                          "mrope_section",
		`"rope_parameters":{"rope_theta":1e4},"rope_scaling":{"rope_type":"linear","factor":2}`: "rope_scaling beside rope_parameters",
		`"rope_parameters":{"rope_theta":-1}`:                                                   "rope_theta -1",
	} {
		c, err := ParseConfig([]byte(smallest + "," + extra + "}"))
		got := fmt.Sprint(c.RopeTheta)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", extra, got, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(smallest + "}"))
	f.Add([]byte(smallest + `,"rope_parameters":{"rope_type":"llama3","rope_theta":5e5,"factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":64}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig(text)
		if err != nil {
			return
		}
		if err := c.Check(); err != nil {
			t.Fatalf("accepted, but: %v", err)
		}
		for _, v := range c.frequencies() {
			if !(v >= 0) {
				t.Fatalf("rotary frequency %v", v)
			}
		}
	})
}
