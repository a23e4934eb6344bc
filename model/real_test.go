package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"troupe/model/safetensors"
	"troupe/model/tokenizer"
)

// realRow is a text or a prompt with what the reference implementation made of
// it.
type realRow struct {
	Kind, Text, Rendered string
	IDs                  []int32
	LogProbs             []float32
	Prompt               []int32 `json:"prompt_ids"`
	New                  []int32 `json:"new_ids"`
	Sure                 int     // new ids that a clear margin decided
}

// TestGoldenRealModel compares a trained checkpoint, SmolLM2-135M-Instruct in
// the folder TROUPE_SMOLLM2, with the reference implementation: ids,
// log-probabilities and greedy texts.
func TestGoldenRealModel(t *testing.T) {
	var golden struct {
		Sum  string `json:"model_sha256"`
		Rows []realRow
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv("TROUPE_GOLDEN"), "smollm2.json"))
	if err != nil {
		t.Skip("no golden file smollm2.json")
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("TROUPE_SMOLLM2")
	if dir == "" {
		t.Skip("needs a checkpoint of SmolLM2-135M-Instruct: TROUPE_SMOLLM2 is not set")
	}
	if sum := sumOf(t, filepath.Join(dir, safetensors.WeightsFile)); sum != golden.Sum {
		t.Skipf("%s has other weights than the golden numbers belong to", dir)
	}
	tok, err := tokenizer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(dir, LoadOptions{Vocab: tok.Size()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range golden.Rows {
		switch r.Kind {
		case "score":
			r.checkScores(t, m, tok)
		case "greedy":
			r.checkGreedy(t, m, tok)
		default:
			t.Errorf("unknown kind of row %q", r.Kind)
		}
	}
}

func (r *realRow) checkScores(t *testing.T, m *Model, tok *tokenizer.Tokenizer) {
	t.Helper()
	if ids := tok.Encode(r.Text); !slices.Equal(ids, r.IDs) {
		t.Errorf("%q: ids %v, want %v", r.Text, ids, r.IDs)
	}
	if len(r.IDs) < 2 {
		return
	}
	s, err := m.Score(context.Background(), []Sequence{{Prompt: r.IDs[:1], Action: r.IDs[1:]}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range r.LogProbs {
		if d := math.Abs(float64(s[0].LogProbs[i]) - float64(want)); !(d <= 2e-4) {
			t.Errorf("%q, token %d: %v, want %v", r.Text, i+1, s[0].LogProbs[i], want)
		}
	}
}

func (r *realRow) checkGreedy(t *testing.T, m *Model, tok *tokenizer.Tokenizer) {
	t.Helper()
	if ids := tok.Encode(r.Rendered); !slices.Equal(ids, r.Prompt) {
		t.Errorf("%q: ids %v, want %v", r.Rendered, ids, r.Prompt)
	}
	d := m.NewDecoder(DecoderOptions{})
	out, err := d.Generate(context.Background(), []GenRequest{{Prompt: r.Prompt, MaxTokens: len(r.New), Stop: tok.EOS()}})
	if err != nil {
		t.Fatal(err)
	}
	if ids := out[0].IDs; !slices.Equal(ids[:min(r.Sure, len(ids))], r.New[:r.Sure]) {
		t.Errorf("%q: ids %v, want %v as far as %d", r.Rendered, ids, r.New, r.Sure)
	}
	if got := tok.Decode(r.New, true); got != r.Text {
		t.Errorf("%q: text %q, want %q", r.Rendered, got, r.Text)
	}
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
