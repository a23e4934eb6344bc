package tokenizer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"

	"troupe/internal/golden"
)

// rows decodes a file of JSON lines.
func rows[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatalf("%s line %d: %v", path, len(out)+1, err)
		}
		out = append(out, row)
	}
	if err := sc.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(out), err)
	}
	return out
}

// published is the large files the golden ids belong to.
var published = map[string]string{
	"qwen3":  "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
	"llama3": "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
}

var (
	loadedMu sync.Mutex
	loaded   = map[string]*Tokenizer{}
)

// publishedTokenizer loads one of the large files from TROUPE_TOKENIZERS.
func publishedTokenizer(t testing.TB, name string) *Tokenizer {
	t.Helper()
	dir := os.Getenv("TROUPE_TOKENIZERS")
	if dir == "" {
		t.Skipf("needs the tokenizer file of %s: TROUPE_TOKENIZERS is not set", name)
	}
	path := filepath.Join(dir, name, FileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("needs the tokenizer file of %s: %v", name, err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != published[name] {
		t.Skipf("%s is another tokenizer file than the golden ids belong to", path)
	}
	loadedMu.Lock()
	defer loadedMu.Unlock()
	if loaded[name] == nil {
		if loaded[name], err = Load(path); err != nil {
			t.Fatal(err)
		}
	}
	return loaded[name]
}

type idsRow struct {
	ID         string  `json:"id"`
	Cat        string  `json:"cat"`
	Text       string  `json:"text"`
	IDs        []int32 `json:"ids"`
	Plain      []int32 `json:"ids_plain"`
	SpecialOff []int32 `json:"ids_special_off"`
	Decode     *string `json:"decode"`
	DecodeSkip *string `json:"decode_skip"`
}

func TestGoldenIDs(t *testing.T) {
	for _, name := range []string{"qwen3", "llama3"} {
		t.Run(name, func(t *testing.T) {
			tok := publishedTokenizer(t, name)
			all := rows[idsRow](t, golden.Path(t, "text", name+"_ids.jsonl"))
			for _, r := range all {
				checkRow(t, tok, r)
			}
			t.Logf("%d rows", len(all))
		})
	}
}

func checkRow(t *testing.T, tok *Tokenizer, r idsRow) {
	t.Helper()
	same := func(what string, got, want []int32) {
		if !slices.Equal(got, want) {
			t.Errorf("row %s (%s) %+q: %s %v, want %v", r.ID, r.Cat, r.Text, what, got, want)
		}
	}
	same("ids", tok.Encode(r.Text), r.IDs)
	plain, off := r.IDs, r.IDs
	if r.Plain != nil {
		plain, off = r.Plain, r.SpecialOff
	}
	same("plain ids", tok.EncodePlain(r.Text), plain)
	same("ids with special off", tok.EncodeSpecialPlain(r.Text), off)
	want := r.Text
	if r.Decode != nil {
		want = *r.Decode
	}
	if got := tok.Decode(r.IDs, false); got != want {
		t.Errorf("row %s (%s): decode %+q, want %+q", r.ID, r.Cat, got, want)
	}
	if r.DecodeSkip != nil {
		want = *r.DecodeSkip
	}
	if got := tok.Decode(r.IDs, true); got != want {
		t.Errorf("row %s (%s): decode without special %+q, want %+q", r.ID, r.Cat, got, want)
	}
}

func TestGoldenStream(t *testing.T) {
	tok := publishedTokenizer(t, "qwen3")
	type row struct {
		Cat        string    `json:"cat"`
		IDs        []int64   `json:"ids"` // up to 2^32-1: a padded head may emit ids without a token
		Prefixes   []string  `json:"prefixes"`
		Chunks     []*string `json:"chunks"`
		DecodeSkip *string   `json:"decode_skip"`
	}
	for i, r := range rows[row](t, golden.Path(t, "text", "qwen3_stream.jsonl")) {
		s := tok.NewStream(false)
		whole := ""
		ids := make([]int32, len(r.IDs))
		for k, id := range r.IDs {
			ids[k] = int32(min(id, math.MaxInt32))
			whole = r.Prefixes[k]
			if got := tok.Decode(ids[:k+1], false); got != whole {
				t.Errorf("row %d (%s), %d tokens: %+q, want %+q", i, r.Cat, k+1, got, whole)
			}
			want, got := "", s.Next(ids[k])
			if r.Chunks == nil {
				continue // ids no reference stream takes
			}
			if r.Chunks[k] != nil {
				want = *r.Chunks[k]
			}
			if got != want {
				t.Errorf("row %d (%s), chunk %d: %+q, want %+q", i, r.Cat, k, got, want)
			}
		}
		if r.DecodeSkip != nil {
			whole = *r.DecodeSkip
		}
		if got := tok.Decode(ids, true); got != whole {
			t.Errorf("row %d (%s): without special %+q, want %+q", i, r.Cat, got, whole)
		}
	}
}

func TestGoldenClasses(t *testing.T) {
	var want struct {
		Letter [][2]rune `json:"letter"`
		Number [][2]rune `json:"number"`
		Space  [][2]rune `json:"space"`
		Late   [][2]rune `json:"nfc_marks_taken_as_starters"`
		Apart  []struct {
			From []rune
			To   rune
		} `json:"nfc_not_composed"`
		LongS []rune `json:"contraction_s_also_matches"`
	}
	golden.JSON(t, &want, "text", "classes.json")
	// The golden list was made with the marks of Unicode 14; these came later.
	unicode15 := [][2]rune{{0x10efd, 0x10eff}, {0x11f41, 0x11f42}, {0x1e08f, 0x1e08f}, {0x1e4ec, 0x1e4ef}}
	for r := rune(0); r <= maxRune; r++ {
		c := classOther
		switch {
		case inRanges(want.Letter, r):
			c = classLetter
		case inRanges(want.Number, r):
			c = classNumber
		case inRanges(want.Space, r):
			c = classSpace
		}
		if got := classOf(r); got != c {
			t.Fatalf("class of %U is %d, want %d", r, got, c)
		}
		if (inRanges(want.Late, r) || inRanges(unicode15, r)) != inRanges(lateMarks, r) {
			t.Errorf("%U is taken for a starter: %v", r, inRanges(lateMarks, r))
		}
	}
	for _, a := range want.Apart {
		if got := nfc(string(a.From)); got != string(a.From) || nfc(string(a.To)) != string(a.To) {
			t.Errorf("%+q becomes %+q; it stays apart from %U", string(a.From), got, a.To)
		}
	}
	for _, r := range want.LongS {
		if got := contraction("'"+string(r), true); got != 1+utf8.RuneLen(r) {
			t.Errorf("the contraction of %U has %d bytes", r, got)
		}
	}
}

// TestGoldenSmall is the tokenizer of the golden checkpoint, in both spellings
// of its merges.
func TestGoldenSmall(t *testing.T) {
	var want struct {
		Text struct {
			Encode []struct {
				Text    string  `json:"text"`
				IDs     []int32 `json:"ids"`
				Decoded string  `json:"decoded"`
				Skip    string  `json:"decoded_skip_special"`
			} `json:"encode"`
			Decode []struct {
				IDs  []int32 `json:"ids"`
				Hex  string  `json:"bytes_hex"`
				Text string  `json:"text"`
			} `json:"decode"`
			Generate []struct {
				Prompt           string  `json:"prompt"`
				PromptIDs        []int32 `json:"prompt_ids"`
				ContinuationIDs  []int32 `json:"continuation_ids"`
				ContinuationText string  `json:"continuation_text"`
				WithSpecial      string  `json:"continuation_text_with_special"`
			} `json:"generate"`
		} `json:"text"`
	}
	golden.JSON(t, &want, "model", "qwen3-tied", "golden.json")
	for _, name := range []string{FileName, "tokenizer_merges_as_strings.json"} {
		t.Run(name, func(t *testing.T) {
			tok, err := Load(golden.Path(t, "model", "qwen3-tied", name))
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.EOS(); !slices.Equal(got, []int32{509, 507}) {
				t.Errorf("end tokens %v", got)
			}
			for _, r := range want.Text.Encode {
				checkRow(t, tok, idsRow{Text: r.Text, IDs: r.IDs, Decode: &r.Decoded, DecodeSkip: &r.Skip,
					Plain: tok.EncodePlain(r.Text), SpecialOff: tok.EncodeSpecialPlain(r.Text)})
			}
			for _, r := range want.Text.Decode {
				if got := tok.Decode(r.IDs, false); got != r.Text {
					t.Errorf("decode %v: %+q, want %+q", r.IDs, got, r.Text)
				}
				var raw []byte
				for _, id := range r.IDs {
					raw = append(raw, tok.Bytes(id)...)
				}
				if got := hex.EncodeToString(raw); got != r.Hex {
					t.Errorf("bytes of %v: %s, want %s", r.IDs, got, r.Hex)
				}
			}
			for _, r := range want.Text.Generate {
				if got := tok.Encode(r.Prompt); !slices.Equal(got, r.PromptIDs) {
					t.Errorf("prompt %q: %v, want %v", r.Prompt, got, r.PromptIDs)
				}
				if got := tok.Decode(r.ContinuationIDs, true); got != r.ContinuationText {
					t.Errorf("continuation %v: %q, want %q", r.ContinuationIDs, got, r.ContinuationText)
				}
				if got := tok.Decode(r.ContinuationIDs, false); got != r.WithSpecial {
					t.Errorf("continuation %v with special tokens: %q, want %q", r.ContinuationIDs, got, r.WithSpecial)
				}
			}
		})
	}
}
