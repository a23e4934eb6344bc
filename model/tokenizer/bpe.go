package tokenizer

import (
	"strings"
	"sync"
)

// bpe merges the bytes of one word by rank. Immutable but for its cache.
type bpe struct {
	byteID  [256]int32       // token of a single byte, -1 if the vocabulary lacks it
	words   map[string]int32 // raw bytes of a token -> id, for whole-word matches; nil unless ignore_merges
	merges  pairTable
	unknown int32 // token of a missing byte, -1: dropped
	fuse    bool  // neighbouring unknown tokens become one

	mu    sync.RWMutex
	cache map[string][]int32
}

const (
	cachedWord  = 64      // bytes; longer words are not remembered
	cachedWords = 1 << 16 // entries; a full cache is emptied
)

// merge is what a pair of neighbouring tokens becomes, and when.
type merge struct{ rank, id int32 }

// pairTable is an open-addressing hash table from a pair of tokens to its
// merge; the search for pairs is where an encoder spends its time.
type pairTable struct {
	keys  []uint64 // left<<32 | right, +1 so that 0 is an empty place
	vals  []merge
	shift uint
}

func newPairTable(n int) pairTable {
	bits := uint(4)
	for 1<<bits < 2*n {
		bits++
	}
	return pairTable{keys: make([]uint64, 1<<bits), vals: make([]merge, 1<<bits), shift: 64 - bits}
}

func pairKey(left, right int32) uint64 { return (uint64(uint32(left))<<32 | uint64(uint32(right))) + 1 }

// slot is the place of key, or the empty place where it would go.
func (t *pairTable) slot(key uint64) int {
	mask := len(t.keys) - 1
	i := int(key * 0x9e3779b97f4a7c15 >> t.shift)
	for t.keys[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (t *pairTable) get(left, right int32) (merge, bool) {
	key := pairKey(left, right)
	i := t.slot(key)
	return t.vals[i], t.keys[i] == key
}

func (t *pairTable) put(left, right int32, m merge) {
	key := pairKey(left, right)
	i := t.slot(key)
	t.keys[i], t.vals[i] = key, m
}

// append adds the tokens of one word to dst.
func (b *bpe) append(dst []int32, word string) []int32 {
	if len(word) == 1 && b.byteID[word[0]] >= 0 {
		return append(dst, b.byteID[word[0]])
	}
	if len(word) > cachedWord {
		return b.encode(dst, word)
	}
	b.mu.RLock()
	ids, ok := b.cache[word]
	b.mu.RUnlock()
	if ok {
		return append(dst, ids...)
	}
	n := len(dst)
	dst = b.encode(dst, word)
	ids = append([]int32(nil), dst[n:]...)
	b.mu.Lock()
	if b.cache == nil || len(b.cache) >= cachedWords {
		b.cache = make(map[string][]int32)
	}
	b.cache[strings.Clone(word)] = ids
	b.mu.Unlock()
	return dst
}

// symbol is one token of a word being merged, in a doubly linked list.
type symbol struct{ id, prev, next int32 }

// candidate is a pair that could be merged. It is stale once either side has
// changed.
type candidate struct {
	rank, at    int32
	left, right int32
	id          int32
}

// before orders candidates by rank, then from left to right.
func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// encode merges one word without the cache.
func (b *bpe) encode(dst []int32, word string) []int32 {
	if b.words != nil {
		if id, ok := b.words[word]; ok {
			return append(dst, id)
		}
	}
	syms := b.symbols(word)
	if len(syms) == 0 {
		return dst
	}
	var heap candidates
	try := func(at int32) {
		next := syms[at].next
		if next < 0 {
			return
		}
		if m, ok := b.merges.get(syms[at].id, syms[next].id); ok {
			heap.push(candidate{m.rank, at, syms[at].id, syms[next].id, m.id})
		}
	}
	for i := range syms {
		try(int32(i))
	}
	for len(heap) > 0 {
		c := heap.pop()
		s := &syms[c.at]
		if s.id != c.left || s.next < 0 || syms[s.next].id != c.right {
			continue
		}
		gone := &syms[s.next]
		s.id, s.next = c.id, gone.next
		gone.id = -1
		if s.next >= 0 {
			syms[s.next].prev = c.at
		}
		if s.prev >= 0 {
			try(s.prev)
		}
		try(c.at)
	}
	for i := int32(0); i >= 0; i = syms[i].next {
		dst = append(dst, syms[i].id)
	}
	return dst
}

// symbols is the word as single-byte tokens.
func (b *bpe) symbols(word string) []symbol {
	syms := make([]symbol, 0, len(word))
	for i := 0; i < len(word); i++ {
		id := b.byteID[word[i]]
		if id < 0 {
			if id = b.unknown; id < 0 {
				continue
			}
			if b.fuse && len(syms) > 0 && b.byteID[word[i-1]] < 0 {
				continue
			}
		}
		n := int32(len(syms))
		syms = append(syms, symbol{id, n - 1, n + 1})
	}
	if n := len(syms); n > 0 {
		syms[n-1].next = -1
	}
	return syms
}

// candidates is a binary heap.
type candidates []candidate

func (h *candidates) push(c candidate) {
	*h = append(*h, c)
	s := *h
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !s[i].before(s[p]) {
			break
		}
		s[i], s[p] = s[p], s[i]
		i = p
	}
}

func (h *candidates) pop() candidate {
	s := *h
	top := s[0]
	n := len(s) - 1
	s[0] = s[n]
	s = s[:n]
	*h = s
	for i := 0; ; {
		l := 2*i + 1
		if l >= n {
			return top
		}
		if l+1 < n && s[l+1].before(s[l]) {
			l++
		}
		if !s[l].before(s[i]) {
			return top
		}
		s[i], s[l] = s[l], s[i]
		i = l
	}
}
