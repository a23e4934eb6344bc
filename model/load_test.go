package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no golden file bad/cases.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []badCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	levels := map[string]int{}
	for _, c := range cases {
		levels[c.Level]++
		t.Run(c.Case, func(t *testing.T) {
			at := filepath.Join(dir, c.Case)
			if _, err := os.Stat(at); err != nil {
				t.Skipf("no golden folder bad/%s", c.Case)
			}
			for _, trainable := range []bool{false, true} {
				c.check(t, at, trainable)
			}
		})
	}
	if levels["none"] != 2 || levels["warning"] != 2 || len(cases) != 61 {
		t.Errorf("cases by level: %v; want 2 sound ones, 2 to warn about and 57 to refuse", levels)
	}
}

// badCase is a checkpoint with one fault. Its level says how bad that is.
type badCase struct{ Case, Level, Fault string }

// check loads the checkpoint, and its adapter where the case is about that.
func (c badCase) check(t *testing.T, at string, trainable bool) {
	t.Helper()
	m, err := Load(at, LoadOptions{Trainable: trainable})
	if _, none := os.Stat(filepath.Join(at, "adapter")); none == nil {
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.LoadAdapter(filepath.Join(at, "adapter"))
	}
	switch {
	case c.Level == "none" && (err != nil || len(m.Warnings) > 0):
		t.Errorf("error %v, warnings %q", err, m.Warnings)
	case c.Level == "none":
	case c.Level == "warning" && (err != nil || len(m.Warnings) != 1 || !c.named(m.Warnings[0])):
		t.Errorf("error %v, warnings %q; to be warned of: %s", err, m.Warnings, c.Fault)
	case c.Level == "warning":
	case err == nil:
		t.Errorf("loaded, although: %s", c.Fault)
	case !c.named(err.Error()):
		t.Errorf("the error names neither file nor fault: %v; the fault: %s", err, c.Fault)
	}
}

// named reports whether a message names the folder and the word of the fault.
func (c badCase) named(message string) bool {
	// In case 20 every norm has the fault, and another stands first.
	return strings.Contains(message, c.Case) && (strings.Contains(message, faultWord(c.Fault)) || c.Case == "20-fractional-dimension")
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
		g.need(t, ConfigFile)
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
