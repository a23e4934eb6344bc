package tokenizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// byteFile is a tokenizer.json with the 256 bytes as vocabulary, no merges and
// added tokens behind them.
func byteFile(added ...string) string {
	vocab := make(map[string]int)
	for b, r := range byteRunes {
		vocab[string(r)] = b
	}
	v, _ := json.Marshal(vocab)
	var list []map[string]any
	for i, a := range added {
		list = append(list, map[string]any{"id": 256 + i, "content": a, "special": false})
	}
	l, _ := json.Marshal(list)
	return fmt.Sprintf(`{"added_tokens": %s, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
		"model": {"type": "BPE", "vocab": %s, "merges": []}}`, l, v)
}

func mustParse(t testing.TB, file string) *Tokenizer {
	t.Helper()
	tok, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestPhrases is the shape of file that the tiny study writes: bytes and whole
// phrases.
func TestPhrases(t *testing.T) {
	phrases := []string{"<eos>", "The answer is ", "The answer", "\\boxed{", "Result: ", "def f(", "):\n    return ", "Solution 1:"}
	tok := mustParse(t, byteFile(phrases...))
	text := "The answer is \\boxed{42}<eos>def f(x):\n    return x The answer"
	want := []int32{257, 259, '4', '2', '}', 256, 261, 'x', 262, 'x', ' ', 258}
	if got := tok.Encode(text); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := tok.Decode(want, true); got != text {
		t.Errorf("%q", got)
	}
	if tok.Size() != 256+len(phrases) {
		t.Errorf("size %d", tok.Size())
	}
	if !slices.Equal(tok.EOS(), []int32{256}) {
		t.Errorf("end tokens %v", tok.EOS())
	}
	if got := tok.EncodePlain("\\boxed{"); len(got) != 7 {
		t.Errorf("plain %v", got)
	}
}

func TestAddedTokenFlags(t *testing.T) {
	file := strings.Replace(byteFile(), `"added_tokens": null`, `"added_tokens": [
		{"id": 256, "content": "ab", "special": true},
		{"id": 257, "content": "abc", "special": false},
		{"id": 258, "content": "one", "single_word": true},
		{"id": 259, "content": "[L]", "lstrip": true},
		{"id": 260, "content": "[R]", "rstrip": true}]`, 1)
	tok := mustParse(t, file)
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"abcab", []int32{257, 256}},
		{"ababc", []int32{256, 257}},
		{"one", []int32{258}},
		{"one-one", []int32{258, '-', 258}},
		{"one1", []int32{'o', 'n', 'e', '1'}},
		{"one\u0301", []int32{'o', 'n', 'e', 0xcc, 0x81}},
		{"one\u2460", []int32{258, 0xe2, 0x91, 0xa0}},
		{"x  [L]y", []int32{'x', 259, 'y'}},
		{"x[R] \n [L]", []int32{'x', 260, 259}},
	} {
		if got := tok.Encode(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	if got, want := tok.EncodeSpecialPlain("ababc"), []int32{'a', 'b', 257}; !slices.Equal(got, want) {
		t.Errorf("special off: %v, want %v", got, want)
	}
}

func TestUnknownBytes(t *testing.T) {
	const head = `{"pre_tokenizer": {"type": "ByteLevel", "use_regex": false}, "model": {"vocab": {"<unk>": 0, "a": 1}, "merges": null`
	for _, c := range []struct {
		tail string
		want []int32
	}{
		{`}}`, []int32{1, 1}},
		{`, "unk_token": "<unk>"}}`, []int32{1, 0, 0, 1}},
		{`, "unk_token": "<unk>", "fuse_unk": true}}`, []int32{1, 0, 1}},
	} {
		if got := mustParse(t, head+c.tail).Encode("abca"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.tail, got, c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	good := byteFile("<eos>")
	swap := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("no %s in the file", from)
		}
		return strings.Replace(good, from, to, 1)
	}
	const merges = `"merges": []`
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "JSON"},
		{"truncated", good[:len(good)/2], "not JSON at byte"},
		{"list", "[]", "is a array"},
		{"no model", `{"added_tokens": []}`, "no model"},
		{"null model", `{"model": null}`, "no model"},
		{"unigram", swap(`"type": "BPE"`, `"type": "Unigram"`), `model type "Unigram"`},
		{"byte fallback", swap(merges, `"byte_fallback": true, "merges": []`), "byte_fallback"},
		{"dropout", swap(merges, `"dropout": 0.1, "merges": []`), "dropout"},
		{"suffix", swap(merges, `"end_of_word_suffix": "</w>", "merges": []`), "end_of_word_suffix"},
		{"no vocabulary", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {}}`, "vocab: missing"},
		{"empty vocabulary", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {}}}`, "vocab: empty"},
		{"vocabulary a list", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": [1]}}`, "want an object"},
		{"id a text", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": "1"}}}`, "want a number"},
		{"id a fraction", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 1.5}}}`, "out of range"},
		{"id negative", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": -1}}}`, "out of range"},
		{"id huge", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 4000000000}}}`, "out of range"},
		{"id far off", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 8000000}}}`, "ids go up to 8000000 for 1 tokens"},
		{"added far off", swap(`"id":256`, `"id":8000000`), "ids go up to 8000000 for 257 tokens"},
		{"id twice", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 1, "b": 1}}}`, `id 1 is both "a" and "b"`},
		{"token twice", `{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 1, "a": 2}}}`, `token "a" has id 1 and id 2`},
		{"merge of one", swap(merges, `"merges": ["ab"]`), `"ab" is not two tokens`},
		{"merge of three", swap(merges, `"merges": [["a", "b", "c"]]`), "want the end of the pair"},
		{"merge of nothing", swap(merges, `"merges": [[]]`), "want a string"},
		{"merge a number", swap(merges, `"merges": [3]`), "want a string"},
		{"merges an object", swap(merges, `"merges": {}`), "want a list"},
		{"merge of unknown", swap(merges, `"merges": ["a zz"]`), `"zz" is not in the vocabulary`},
		{"merge to unknown", swap(merges, `"merges": ["a b"]`), `"ab" is not in the vocabulary`},
		{"added empty", byteFile(""), "empty content"},
		{"added negative", swap(`"id":256`, `"id":-1`), "out of range"},
		{"added huge", swap(`"id":256`, `"id":99999999`), "out of range"},
		{"added over another", swap(`"id":256`, `"id":65`), `id 65 is both "A" and "<eos>"`},
		{"unknown unk", swap(merges, `"unk_token": "<unk>", "merges": []`), "unk_token"},
		{"normalizer", swap(`{"added`, `{"normalizer": {"type": "Lowercase"}, "added`), `normalizer "Lowercase"`},
		{"decoder", swap(`{"added`, `{"decoder": {"type": "WordPiece"}, "added`), `decoder "WordPiece"`},
		{"no pre-tokenizer", `{"model": {"vocab": {"a": 1}}}`, "no pre_tokenizer"},
		{"metaspace", `{"pre_tokenizer": {"type": "Metaspace"}, "model": {"vocab": {"a": 1}}}`, `pre_tokenizer "Metaspace"`},
		{"no byte level", `{"pre_tokenizer": {"type": "Sequence", "pretokenizers": []}, "model": {"vocab": {"a": 1}}}`, "no ByteLevel"},
		{"unknown expression", `{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated"}, "model": {"vocab": {"a": 1}}}`, `expression "x+"`},
		{"split behavior", `{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "MergedWithNext"}, "model": {"vocab": {"a": 1}}}`, "MergedWithNext"},
		{"deep", strings.Repeat(`{"normalizer": `, 20000), "JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, FileName)) {
		t.Errorf("empty folder: %v", err)
	}
	write := func(name, body string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(FileName, byteFile("<eos>", "<stop>"))
	for _, c := range []struct {
		file, body string
		want       []int32
		err        string
	}{
		{"tokenizer_config.json", `{"eos_token": {"content": "<stop>"}}`, []int32{257}, ""},
		{"config.json", `{"eos_token_id": 256}`, []int32{256, 257}, ""},
		{"generation_config.json", `{"eos_token_id": [257, 3]}`, []int32{257, 3, 256}, ""},
		{"generation_config.json", `{"eos_token_id": "x"}`, nil, "generation_config.json"},
		{"generation_config.json", `{`, nil, "generation_config.json: not JSON"},
	} {
		write(c.file, c.body)
		tok, err := Load(dir)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: error %v, want %q", c.file, c.body, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(tok.EOS(), c.want) {
			t.Errorf("%s %s: %v, want %v (%v)", c.file, c.body, tok.EOS(), c.want, err)
		}
	}
}
