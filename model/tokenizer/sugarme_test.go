package tokenizer

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/model"
	upstream "github.com/sugarme/tokenizer/model/bpe"
	"github.com/sugarme/tokenizer/normalizer"
	"github.com/sugarme/tokenizer/pretokenizer"
)

// The tests below pin the faults of github.com/sugarme/tokenizer v0.3.0 that
// keep it from being the encoder: what it does with an input, and what is
// right. When one of them fails after an upgrade, the fault may be gone.

// panics reports whether f panics.
func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func wantIDs(t *testing.T, tok *Tokenizer, text string, want ...int32) {
	t.Helper()
	if got := tok.Encode(text); !slices.Equal(got, want) {
		t.Errorf("%+q: %v, want %v", text, got, want)
	}
}

// 1: the split expression needs lookahead.
func TestUpstreamLookahead(t *testing.T) {
	if !panics(func() { normalizer.NewRegexpPattern(`\s+(?!\S)|\s+`) }) {
		t.Error("upstream compiles a lookahead now")
	}
	for _, c := range []struct {
		text  string
		words []string
	}{
		{"a   b", []string{"a", "  ", " b"}},
		{"a \n\n  b", []string{"a", " \n\n", " ", " b"}},
		{"a  ", []string{"a", "  "}},
		{">\n", []string{">\n"}},
		{"'S x", []string{"'S", " x"}},
		{"1234", []string{"1", "2", "3", "4"}},
		{"\u0301a", []string{"\u0301a"}},
		{"it'ſ", []string{"it", "'ſ"}},
	} {
		if got := split(wordQwen, c.text); !slices.Equal(got, c.words) {
			t.Errorf("%q: %q, want %q", c.text, got, c.words)
		}
	}
}

func split(scan scanner, s string) (words []string) {
	for s != "" {
		n := scan(s)
		words = append(words, s[:n])
		s = s[n:]
	}
	return words
}

// 2: use_regex false is ignored, every word is cut again by GPT-2's rules.
func TestUpstreamCutsWordsAgain(t *testing.T) {
	const text = ">\n" // one word for Qwen
	s, err := pretokenizer.NewByteLevel().PreTokenize(tokenizer.NewPreTokenizedString(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.GetSplits(normalizer.OriginalTarget, tokenizer.Byte)); n == 1 {
		t.Error("upstream keeps the word whole now")
	}
	s, err = smallTokenizer(t).Components().PreTokenizer.PreTokenize(tokenizer.NewPreTokenizedString(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.GetSplits(normalizer.OriginalTarget, tokenizer.Byte)); n != 1 {
		t.Errorf("%d words", n)
	}
	if tok := loadedOrNil(t, "qwen3"); tok != nil {
		wantIDs(t, tok, ">\n", 397)
		wantIDs(t, tok, "'S", 13272)
	}
}

// loadedOrNil is a large tokenizer where it is at hand.
func loadedOrNil(t *testing.T, name string) (tok *Tokenizer) {
	t.Run(name, func(t *testing.T) { tok = publishedTokenizer(t, name) })
	return tok
}

// 3: Normalize of a pre-tokenized text drops the splits that carry tokens.
func TestUpstreamDropsAddedTokens(t *testing.T) {
	marked := func() *tokenizer.PreTokenizedString {
		s := tokenizer.NewPreTokenizedString("x")
		return s.Split(func(_ int, n *normalizer.NormalizedString) []tokenizer.SplitIdx {
			tokens := []tokenizer.Token{tokenizer.NewToken(509, "x", []int{0, 1})}
			return []tokenizer.SplitIdx{{Normalized: n, Tokens: tokens}}
		})
	}
	s, err := pretokenizer.NewByteLevel().PreTokenize(marked())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.GetSplits(normalizer.OriginalTarget, tokenizer.Byte)); n != 0 {
		t.Error("upstream keeps tokens now")
	}
	s, err = smallTokenizer(t).Components().PreTokenizer.PreTokenize(marked())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.GetSplits(normalizer.OriginalTarget, tokenizer.Byte)); n != 1 {
		t.Error("the added token was dropped")
	}
}

// 4: NFC decomposes.
func TestUpstreamNFC(t *testing.T) {
	for text, want := range map[string]string{"e\u0301": "\u00e9", "\u212b": "\u00c5", "\u1112\u1161\u11ab": "\ud55c"} {
		if normalizer.NewNormalizedFrom(text).NFC().GetNormalized() == want {
			t.Errorf("upstream composes %+q now", text)
		}
		n, err := smallTokenizer(t).Components().Normalizer.Normalize(normalizer.NewNormalizedFrom(text))
		if err != nil || n.GetNormalized() != want {
			t.Errorf("%+q: %+q, %v", text, n.GetNormalized(), err)
		}
	}
	if tok := loadedOrNil(t, "qwen3"); tok != nil {
		wantIDs(t, tok, "e\u0301", 963)
		wantIDs(t, tok, "\u212b", 144044)
	}
}

// 5: merges of equal rank pop in the order of the heap, not from left to right.
func TestUpstreamTies(t *testing.T) {
	vocab := model.Vocab{"a": 0, "aa": 1, "aaaa": 2}
	merges := upstream.Merges{{C1: 0, C2: 0}: {Rank: 0, NewId: 1}, {C1: 1, C2: 1}: {Rank: 1, NewId: 2}}
	tokens, err := upstream.NewBPE(vocab, merges).Tokenize("aaaaa")
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, tok := range tokens {
		got = append(got, int32(tok.Id))
	}
	want := []int32{2, 0}
	if slices.Equal(got, want) {
		t.Error("upstream merges from left to right now")
	}
	own := &bpe{merges: newPairTable(2), merged: []int32{1, 2}}
	own.merges.put(0, 0, 0)
	own.merges.put(1, 1, 1)
	if got := own.encode(nil, "aaaaa"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if tok := loadedOrNil(t, "qwen3"); tok != nil {
		wantIDs(t, tok, "aaaaa", 28458, 64)
	}
}

// 6: of added tokens that touch, all but the one with the lowest id are lost.
func TestUpstreamLosesNeighbouringTokens(t *testing.T) {
	const text = "<|im_end|><|im_start|>"
	tok := smallTokenizer(t)
	v := tokenizer.NewAddedVocabulary()
	v.AddSpecialTokens([]tokenizer.AddedToken{
		tokenizer.NewAddedToken("<|im_start|>", true), tokenizer.NewAddedToken("<|im_end|>", true),
	}, tok.Components().Model, nil)
	tokens := 0
	for _, s := range v.ExtractAndNormalize(text, nil).GetSplits(normalizer.OriginalTarget, tokenizer.Byte) {
		tokens += len(s.Tokens)
	}
	if tokens == 2 {
		t.Error("upstream finds both tokens now")
	}
	wantIDs(t, tok, text, 509, 508)
	wantIDs(t, tok, "<think>\n\n</think>\n\nok<|im_end|>", 510, 377, 511, 377, 78, 74, 509)
}

// 7: ill-formed UTF-8 panics.
func TestUpstreamIllFormed(t *testing.T) {
	tok := smallTokenizer(t)
	for text, want := range map[string]string{"a\xffb": "a\ufffdb", "\xc3": "\ufffd", "\xe4\xbd": "\ufffd"} {
		if !panics(func() {
			_, _ = pretokenizer.NewByteLevel().PreTokenize(tokenizer.NewPreTokenizedString(text))
		}) {
			t.Logf("upstream takes %+q", text)
		}
		if got := tok.Decode(tok.Encode(text), false); got != want {
			t.Errorf("%+q reads %+q", text, got)
		}
	}
}

// 8: the time of one word grows with the square of its length, or faster.
func TestUpstreamQuadratic(t *testing.T) {
	vocab := model.Vocab{"a": 0, "b": 1, "ab": 2}
	merges := upstream.Merges{{C1: 0, C2: 1}: {Rank: 0, NewId: 2}}
	bytes := func(n int) float64 {
		m := upstream.NewBPE(vocab, merges)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m.MergeWord(strings.Repeat("ab", n))
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if short, long := bytes(100), bytes(400); long < 8*short {
		t.Errorf("upstream allocates %.0f bytes for 200 symbols, %.0f for 800: linear now", short, long)
	}
	tok := smallTokenizer(t)
	begin := time.Now()
	ids := tok.Encode(strings.Repeat("the", 400_000))
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("a word of 1.2 MB takes %v", d)
	}
	if got := tok.Decode(ids, false); got != strings.Repeat("the", 400_000) {
		t.Error("a word of 1.2 MB does not come back")
	}
}

// TestComponents runs the module's plumbing over our stages.
func TestComponents(t *testing.T) {
	tok := smallTokenizer(t)
	c := tok.Components()
	for _, text := range []string{"Hello", "don't  stop\n\n now", "x = [1, 22]\n\treturn", "naïve 你好 🙂", "e\u0301t\u00e9", ""} {
		s := tokenizer.NewPreTokenizedString(text)
		n, err := c.Normalizer.Normalize(normalizer.NewNormalizedFrom(text))
		if err != nil {
			t.Fatal(err)
		}
		if n.GetNormalized() != text {
			s = tokenizer.NewPreTokenizedStringFromNS(n)
		}
		if s, err = c.PreTokenizer.PreTokenize(s); err != nil {
			t.Fatal(err)
		}
		s, err = s.Tokenize(func(n *normalizer.NormalizedString) ([]tokenizer.Token, error) {
			return c.Model.Tokenize(n.GetNormalized())
		})
		if err != nil {
			t.Fatal(err)
		}
		var ids []int32
		var spelled []string
		for _, sp := range s.GetSplits(normalizer.OriginalTarget, tokenizer.Byte) {
			for _, token := range sp.Tokens {
				ids = append(ids, int32(token.Id))
				spelled = append(spelled, token.Value)
			}
		}
		if !slices.Equal(ids, tok.Encode(text)) {
			t.Errorf("%q: %v, want %v", text, ids, tok.Encode(text))
		}
		if got, want := c.Decoder.Decode(spelled), tok.Decode(ids, false); got != want {
			t.Errorf("%q: decoder %q, want %q", text, got, want)
		}
	}
	if id, ok := c.Model.TokenToId("<think>"); !ok || id != 510 {
		t.Errorf("TokenToId: %d %v", id, ok)
	}
	if s, ok := c.Model.IdToToken(510); !ok || s != "<think>" {
		t.Errorf("IdToToken: %q %v", s, ok)
	}
	if _, ok := c.Model.IdToToken(512); ok {
		t.Error("IdToToken: an id past the end")
	}
	if n := c.Model.GetVocabSize(); n != tok.Size() || len(c.Model.GetVocab()) != n {
		t.Errorf("vocabulary of %d, want %d", n, tok.Size())
	}
}
