package tokenizer

// class says what the split expressions need to know of a code point.
type class uint8

const (
	classOther  class = iota
	classLetter       // \p{L}
	classNumber       // \p{N}
	classSpace        // \s
)

// spaceRanges is the property White_Space. U+200B and U+FEFF are not in it.
var spaceRanges = [][2]rune{
	{0x9, 0xd}, {0x20, 0x20}, {0x85, 0x85}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a},
	{0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
}

const (
	pageBits = 8
	maxRune  = 0x10ffff
)

// classPages is a two-stage table: the page of a code point, then its class.
var classPages, asciiClass = buildClasses()

func buildClasses() (*[maxRune>>pageBits + 1]*[1 << pageBits]class, [128]class) {
	var pages [maxRune>>pageBits + 1]*[1 << pageBits]class
	empty := new([1 << pageBits]class)
	letters := new([1 << pageBits]class)
	for i := range letters {
		letters[i] = classLetter
	}
	for i := range pages {
		pages[i] = empty
	}
	fill := func(ranges [][2]rune, c class) {
		for _, r := range ranges {
			for p := r[0]; p <= r[1]; p++ {
				page := p >> pageBits
				whole := p == page<<pageBits && r[1] >= p|(1<<pageBits-1)
				if whole && c == classLetter {
					pages[page] = letters
					p |= 1<<pageBits - 1
					continue
				}
				if pages[page] == empty {
					pages[page] = new([1 << pageBits]class)
				}
				pages[page][p&(1<<pageBits-1)] = c
			}
		}
	}
	fill(letterRanges, classLetter)
	fill(numberRanges, classNumber)
	fill(spaceRanges, classSpace)
	return &pages, [128]class(pages[0][:128])
}

// classOf is the class of a code point.
func classOf(r rune) class {
	if uint32(r) > maxRune {
		return classOther
	}
	return classPages[r>>pageBits][r&(1<<pageBits-1)]
}

// inRanges reports whether r lies in sorted inclusive ranges.
func inRanges(ranges [][2]rune, r rune) bool {
	lo, hi := 0, len(ranges)
	for lo < hi {
		mid := (lo + hi) / 2
		if ranges[mid][1] < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(ranges) && ranges[lo][0] <= r
}
