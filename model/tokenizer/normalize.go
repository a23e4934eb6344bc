package tokenizer

import (
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// uncomposed is the one composite of the reference's newer tables that its
// normaliser leaves alone in both directions.
const uncomposed = 0x11938

const (
	hangulBase, hangulCount = 0xac00, 11172
	jamoL, jamoLCount       = 0x1100, 19
	jamoV, jamoVCount       = 0x1161, 21
	jamoT, jamoTCount       = 0x11a7, 28
)

// mark is one code point of a decomposed text with its combining class.
type mark struct {
	r   rune
	ccc uint8
}

// nfc is plain canonical composition with the reference's tables. The library
// is right wherever it changes nothing; elsewhere it would apply the
// stream-safe form (a joiner after thirty marks) and newer combining classes,
// which the reference does not.
func nfc(s string) string {
	if isLatin(s) || norm.NFC.IsNormalString(s) {
		return s
	}
	return string(compose(decompose(s)))
}

// isLatin reports whether all code points are below U+0300, where every text
// is normal.
func isLatin(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0xcc {
			return false
		}
	}
	return true
}

// decompose is the canonical decomposition in canonical order.
func decompose(s string) []mark {
	out := make([]mark, 0, len(s))
	start := 0 // of the run of marks being gathered
	flush := func() {
		slices.SortStableFunc(out[start:], func(a, b mark) int { return int(a.ccc) - int(b.ccc) })
	}
	add := func(r rune) {
		c := combiningClass(r)
		if c == 0 {
			flush()
			out = append(out, mark{r, 0})
			start = len(out)
			return
		}
		out = append(out, mark{r, c})
	}
	for i, r := range s {
		switch {
		case r >= hangulBase && r < hangulBase+hangulCount:
			x := r - hangulBase
			add(jamoL + x/(jamoVCount*jamoTCount))
			add(jamoV + x%(jamoVCount*jamoTCount)/jamoTCount)
			if t := x % jamoTCount; t != 0 {
				add(jamoT + t)
			}
		case r < 0xc0 || r == uncomposed:
			add(r)
		default:
			if d := norm.NFD.PropertiesString(s[i:]).Decomposition(); d != nil {
				for _, q := range string(d) {
					add(q)
				}
			} else {
				add(r)
			}
		}
	}
	flush()
	return out
}

// combiningClass is the class the reference uses.
func combiningClass(r rune) uint8 {
	if r < 0x300 || inRanges(lateMarks, r) {
		return 0
	}
	var buf [utf8.UTFMax]byte
	return norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).CCC()
}

// compose joins what may be joined: a mark with the starter before it, unless
// a mark of the same or a higher class, or another starter, lies between.
func compose(in []mark) []rune {
	pairs := compositions()
	out := make([]rune, 0, len(in))
	starter := -1 // place in out
	last := uint8(0)
	for _, m := range in {
		if starter >= 0 {
			adjacent := starter == len(out)-1
			if adjacent || last < m.ccc && last != 0 {
				if c, ok := composePair(pairs, out[starter], m.r); ok {
					out[starter] = c
					continue
				}
			}
		}
		if m.ccc == 0 {
			starter = len(out)
		}
		last = m.ccc
		out = append(out, m.r)
	}
	return out
}

func composePair(pairs map[[2]rune]rune, a, b rune) (rune, bool) {
	switch {
	case a >= jamoL && a < jamoL+jamoLCount && b >= jamoV && b < jamoV+jamoVCount:
		return hangulBase + ((a-jamoL)*jamoVCount+(b-jamoV))*jamoTCount, true
	case a >= hangulBase && a < hangulBase+hangulCount && (a-hangulBase)%jamoTCount == 0 && b > jamoT && b < jamoT+jamoTCount:
		return a + (b - jamoT), true
	}
	c, ok := pairs[[2]rune{a, b}]
	return c, ok
}

// compositions is the table of primary composites, taken once from the
// library's decompositions: a composite is primary if normalising leaves it
// alone, and its pair is the composite of all but the last code point of its
// full decomposition with that last one.
var compositions = sync.OnceValue(func() map[[2]rune]rune {
	pairs := make(map[[2]rune]rune, 1000)
	for r := rune(0xc0); r <= 0x2fa1d; r++ {
		if r == hangulBase {
			r += hangulCount
		}
		if r == uncomposed {
			continue
		}
		s := string(r)
		d := norm.NFD.PropertiesString(s).Decomposition()
		if d == nil || !norm.NFC.IsNormalString(s) {
			continue
		}
		parts := []rune(string(d))
		if len(parts) < 2 {
			continue
		}
		head := []rune(norm.NFC.String(string(parts[:len(parts)-1])))
		if len(head) == 1 {
			pairs[[2]rune{head[0], parts[len(parts)-1]}] = r
		}
	}
	return pairs
})
