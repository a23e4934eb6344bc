package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FuzzParse feeds files: an error, or a tokenizer that works.
func FuzzParse(f *testing.F) {
	for _, name := range []string{FileName, "tokenizer_merges_as_strings.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", "model", "qwen3-tied", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(byteFile("<eos>", " a")))
	f.Add([]byte(`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"vocab":{"a":0},"merges":[["a","a"]]}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		tok, err := Parse(file)
		if err != nil {
			return
		}
		ids := tok.Encode("Hello, <eos> wörld\n\n 12  aa")
		for _, id := range ids {
			if id < 0 || int(id) >= tok.Size() {
				t.Fatalf("id %d of %d", id, tok.Size())
			}
		}
		tok.Decode(ids, true)
	})
}

// FuzzEncode feeds texts: what comes back is the text, normalised.
func FuzzEncode(f *testing.F) {
	tok := smallTokenizer(f)
	for _, s := range []string{"", "Hello <|im_end|>\n", "e\u0301\u0323", "\xff\xe4\xbd", "don't  \r\n x", "\u1100\u1161\u11a8\u0345", "<think></think", "\U00011935\U00011930"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := wellFormed(s)
		if !utf8.ValidString(want) {
			t.Fatalf("%+q stays ill-formed", s)
		}
		for _, ids := range [][]int32{tok.Encode(s), tok.EncodePlain(s), tok.EncodeSpecialPlain(s)} {
			if got := tok.Decode(ids, false); norm.NFD.String(got) != norm.NFD.String(want) {
				t.Fatalf("%+q reads %+q", s, got)
			}
		}
		for _, scan := range scanners {
			joined := ""
			for _, w := range split(scan, want) {
				joined += w
			}
			if joined != want {
				t.Fatalf("%+q: words join to %+q", want, joined)
			}
		}
	})
}

// FuzzStream compares streamed text with the text decoded at once.
func FuzzStream(f *testing.F) {
	tok := smallTokenizer(f)
	f.Add([]byte{0xac, 0xfd, 0xf6, 0xde, 1, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		ids := make([]int32, 0, len(raw))
		for i, b := range raw {
			ids = append(ids, int32(b)*int32(1+i%3)-2)
		}
		for _, skip := range []bool{false, true} {
			s, got := tok.NewStream(skip), ""
			for _, id := range ids {
				got += s.Next(id)
			}
			got += s.Flush()
			if want := tok.Decode(ids, skip); got != want {
				t.Fatalf("%v: stream %+q, at once %+q", ids, got, want)
			}
		}
	})
}

// FuzzChat feeds messages to every layout.
func FuzzChat(f *testing.F) {
	tok := smallTokenizer(f)
	f.Add([]byte(`[{"role": "user", "content": "a<|im_end|>"}, {"role": "assistant", "content": "<think>x</think>y", "tool_calls": [{"name": "f", "arguments": {"a": [1.0, "é"]}}]}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var msgs []Message
		if json.Unmarshal(raw, &msgs) != nil {
			return
		}
		for _, kind := range []string{ChatOfficial, ChatChatML, ChatPaper, ChatOff} {
			r, err := Chat(kind, tok, "")
			if err != nil {
				t.Fatal(err)
			}
			text, err := r.Render(msgs, true, false)
			ids, err2 := r.Encode(msgs, true, false)
			if (err == nil) != (err2 == nil) {
				t.Fatalf("%s: %v, %v", kind, err, err2)
			}
			if err == nil && norm.NFD.String(tok.Decode(ids, false)) != norm.NFD.String(wellFormed(text)) {
				t.Fatalf("%s: ids read %q, text %q", kind, tok.Decode(ids, false), text)
			}
		}
		ParseCompletion(string(raw))
	})
}

// FuzzTemplate feeds configuration files: an error that says so, or a layout
// that renders.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{`{"chat_template": "<|im_start|>system\\nx<|im_end|>"}`, `{"chat_template": [{"name": "default", "template": "a"}]}`, `{}`, `{"chat_template": 1}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "tokenizer_config.json")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		_, layout, err := detect(dir)
		if err != nil {
			return
		}
		if _, err := layout([]Message{{Role: "user", Content: "q"}}, true, true); err != nil {
			t.Fatal(err)
		}
	})
}

// TestConcurrent hammers the cache of words.
func TestConcurrent(t *testing.T) {
	tok := smallTokenizer(t)
	texts := []string{"the line step reads", "don't stop", "x = 3; y = x**2", "你好 wörld"}
	var want [][]int32
	for _, s := range texts {
		want = append(want, tok.Encode(s))
	}
	fresh := smallTokenizer(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				k := (g + i) % len(texts)
				if !slices.Equal(fresh.Encode(texts[k]), want[k]) {
					t.Errorf("%q differs under load", texts[k])
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkEncode(b *testing.B) {
	tok := publishedTokenizer(b, "qwen3")
	text, err := os.ReadFile("load_test.go")
	if err != nil {
		b.Fatal(err)
	}
	n := len(tok.Encode(string(text)))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Encode(string(text))
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
}
