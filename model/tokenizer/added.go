package tokenizer

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in the text itself, before anything
// else is done to it.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// added finds added tokens, the longest at the leftmost place.
type added struct {
	tokens []addedToken
	trie   []trieNode // [0] is the root
	first  [256]bool  // bytes some token begins with
}

type trieNode struct {
	edges []trieEdge // sorted by byte
	token int32      // place in tokens, -1: none ends here
}

type trieEdge struct {
	b  byte
	to int32
}

func newAdded(tokens []addedToken) *added {
	a := &added{tokens: tokens, trie: []trieNode{{token: -1}}}
	for i, t := range tokens {
		if t.Content == "" {
			continue
		}
		a.first[t.Content[0]] = true
		at := int32(0)
		for j := 0; j < len(t.Content); j++ {
			at = a.child(at, t.Content[j])
		}
		a.trie[at].token = int32(i)
	}
	return a
}

// child is the node under at along b, made if need be.
func (a *added) child(at int32, b byte) int32 {
	edges := a.trie[at].edges
	i, ok := slices.BinarySearchFunc(edges, b, func(e trieEdge, b byte) int { return int(e.b) - int(b) })
	if ok {
		return edges[i].to
	}
	to := int32(len(a.trie))
	a.trie = append(a.trie, trieNode{token: -1})
	a.trie[at].edges = slices.Insert(edges, i, trieEdge{b, to})
	return to
}

// longest is the longest token that s begins with.
func (a *added) longest(s string) (tok *addedToken, ok bool) {
	at, found := int32(0), int32(-1)
	for i := 0; i < len(s); i++ {
		edges := a.trie[at].edges
		j, ok := slices.BinarySearchFunc(edges, s[i], func(e trieEdge, b byte) int { return int(e.b) - int(b) })
		if !ok {
			break
		}
		at = edges[j].to
		if t := a.trie[at].token; t >= 0 {
			found = t
		}
	}
	if found < 0 {
		return nil, false
	}
	return &a.tokens[found], true
}

// split cuts s at added tokens: text gets what lies between, token each id.
// With keepSpecial off, tokens marked special are ordinary text.
func (a *added) split(s string, special bool, text func(string), token func(int32)) {
	begin := 0 // of the text not yet handed out
	for i := 0; i < len(s); {
		if !a.first[s[i]] {
			i++
			continue
		}
		t, ok := a.longest(s[i:])
		if !ok {
			i++
			continue
		}
		start, end := i, i+len(t.Content)
		i = end
		if t.Special && !special || start < begin || t.SingleWord && !standsAlone(s, start, end) {
			continue
		}
		if t.LStrip {
			for start > begin {
				r, n := utf8.DecodeLastRuneInString(s[begin:start])
				if classOf(r) != classSpace {
					break
				}
				start -= n
			}
		}
		if t.RStrip {
			end += run(s[end:], classSpace, 0)
		}
		if start > begin {
			text(s[begin:start])
		}
		token(t.ID)
		begin = end
	}
	if begin < len(s) {
		text(s[begin:])
	}
}

// standsAlone reports whether no word character touches s[start:end].
func standsAlone(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return (start == 0 || !isWord(before)) && (end == len(s) || !isWord(after))
}

// isWord is \w of the reference: alphabetic, marks, decimal digits, connecting
// punctuation and the two joiners.
func isWord(r rune) bool {
	return classOf(r) == classLetter || r == 0x200c || r == 0x200d ||
		unicode.In(r, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic)
}
