package tokenizer

import (
	"strings"
	"sync"
)

// bpe merges the bytes of one word by rank. Immutable but for its cache.
type bpe struct {
	byteID  [256]int32       // token of a single byte, -1 if the vocabulary lacks it
	words   map[string]int32 // raw bytes of a token -> id, for whole-word matches; nil unless ignore_merges
	merges  pairTable        // pair of tokens -> rank
	merged  []int32          // rank -> token
	unknown int32            // token of a missing byte, -1: dropped
	fuse    bool             // neighbouring unknown tokens become one

	mu    sync.RWMutex
	cache map[string][]int32
}

const (
	cachedWord  = 64      // bytes; longer words are not remembered
	cachedWords = 1 << 16 // entries; a full cache is emptied
)

// pairTable is an open-addressing hash table from a pair of tokens to the
// merge's rank; the search for pairs is where an encoder spends its time.
type pairTable struct {
	keys  []uint64 // left<<32 | right, +1 so that 0 is an empty place
	ranks []int32
	shift uint
}

func newPairTable(n int) pairTable {
	bits := uint(4)
	for 1<<bits < 2*n {
		bits++
	}
	return pairTable{keys: make([]uint64, 1<<bits), ranks: make([]int32, 1<<bits), shift: 64 - bits}
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

// rank is the rank of a pair's merge, or none.
func (t *pairTable) rank(left, right int32) int32 {
	key := pairKey(left, right)
	if i := t.slot(key); t.keys[i] == key {
		return t.ranks[i]
	}
	return none
}

func (t *pairTable) put(left, right, rank int32) {
	key := pairKey(left, right)
	i := t.slot(key)
	t.keys[i], t.ranks[i] = key, rank
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

// symbol is one token of a word being merged, in a doubly linked list. rank is
// that of its merge with the next one.
type symbol struct{ id, prev, next, rank int32 }

// none is the rank of a pair that is not merged.
const none = -1

// A candidate is a place where a merge was possible, rank<<32 | place, so that
// the smallest is what the reference merges next: by rank, then from left to
// right. It is stale when the symbol's rank is another by now.
type candidate uint64

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
	heap := make(candidates, 0, len(syms))
	try := func(at int32) bool {
		s := &syms[at]
		if s.rank = none; s.next >= 0 {
			s.rank = b.merges.rank(s.id, syms[s.next].id)
		}
		return s.rank != none
	}
	for i := range syms {
		if try(int32(i)) {
			heap = append(heap, candidate(syms[i].rank)<<32|candidate(i))
		}
	}
	heap.order()
	for len(heap) > 0 {
		c := heap.pop()
		at := int32(uint32(c))
		s := &syms[at]
		if s.rank != int32(c>>32) {
			continue
		}
		gone := &syms[s.next]
		s.id, s.next = b.merged[s.rank], gone.next
		gone.rank = none
		if s.next >= 0 {
			syms[s.next].prev = at
		}
		if p := s.prev; p >= 0 && try(p) {
			heap.push(candidate(syms[p].rank)<<32 | candidate(p))
		}
		if try(at) {
			heap.push(candidate(s.rank)<<32 | candidate(at))
		}
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
		syms = append(syms, symbol{id, n - 1, n + 1, none})
	}
	if n := len(syms); n > 0 {
		syms[n-1].next = -1
	}
	return syms
}

// candidates is a binary heap, the smallest on top.
type candidates []candidate

// order makes a heap of any list.
func (h candidates) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

func (h *candidates) push(c candidate) {
	s := append(*h, c)
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if s[p] <= c {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = c
	*h = s
}

func (h *candidates) pop() candidate {
	s := *h
	top, n := s[0], len(s)-1
	s[0] = s[n]
	*h = s[:n]
	if n > 1 {
		h.sink(0)
	}
	return top
}

// sink moves the candidate at i down to its place.
func (h candidates) sink(i int) {
	c := h[i]
	for {
		l := 2*i + 1
		if l >= len(h) {
			break
		}
		if l+1 < len(h) && h[l+1] < h[l] {
			l++
		}
		if c <= h[l] {
			break
		}
		h[i] = h[l]
		i = l
	}
	h[i] = c
}
