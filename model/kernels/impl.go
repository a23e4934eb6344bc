package kernels

import (
	"fmt"
	"os"
	"strings"
)

// family is one implementation of the micro-kernels.
type family int

const (
	generic family = iota
	avx2
	avx512
	neon
	amx // AMX for products in the TDPBF16PS kinds, avx512 for all else
	families
)

var familyNames = [families]string{"generic", "avx2", "avx512", "neon", "amx"}

// tileShape is the largest tile a family's micro-kernels compute: rows, and
// columns in units of 16. rows16 is for bfloat16 weights, rowsSplit for the kinds
// in TDPBF16PS order by multiply-adds.
type tileShape struct{ rows, rows16, rowsSplit, cols int }

var tileShapes = [families]tileShape{
	generic: {4, 4, 4, 32},
	avx2:    {6, 6, 3, 16},
	avx512:  {14, 12, 6, 32},
	neon:    {4, 4, 4, 16},
}

// chosen is the family in use and active the one whose vector kernels run: they
// differ only for amx. Both change only at start and in Use.
var chosen, active family

func init() { set(choose(os.Getenv("TROUPE_KERNELS"))) }

// set makes f the family in use.
func set(f family) { chosen, active = f, vectors(f) }

// vectors is the family whose vector kernels a family runs.
func vectors(f family) family {
	if f == amx {
		return avx512
	}
	return f
}

// Implementations lists the usable kernel families, best last; "generic" is
// always the first.
func Implementations() []string {
	var names []string
	for f := range families {
		if usable(f) {
			names = append(names, familyNames[f])
		}
	}
	return names
}

// Active names the kernel family in use.
func Active() string { return familyNames[chosen] }

// Use switches to the named family and returns a function that switches back.
// No kernel may be running. It is meant for tests and for comparing families.
func Use(name string) (restore func(), err error) {
	for f := range families {
		if familyNames[f] == name && usable(f) {
			old := chosen
			set(f)
			return func() { set(old) }, nil
		}
	}
	return nil, fmt.Errorf("kernels %q: not usable here; usable: %s", name, strings.Join(Implementations(), ", "))
}

// choose takes the wanted family, or the best one where none is named. An
// unusable name falls back to the best; commands refuse it with [Wanted].
func choose(want string) family {
	best := generic
	for f := range families {
		if !usable(f) {
			continue
		}
		if familyNames[f] == want {
			return f
		}
		best = f
	}
	return best
}

// Wanted returns an error if the environment variable TROUPE_KERNELS names a family
// that can't be used here.
func Wanted() error {
	want := os.Getenv("TROUPE_KERNELS")
	if want == "" || want == Active() {
		return nil
	}
	why := "not usable here"
	if want == familyNames[amx] {
		why = AMX().Error()
	}
	return fmt.Errorf("TROUPE_KERNELS=%s: %s; usable: %s", want, why, strings.Join(Implementations(), ", "))
}

// BF16Unit names what products of the kinds F32x3 and BF16Products run on.
func BF16Unit() string {
	switch {
	case tilesActive():
		return "TDPBF16PS"
	case dotPairs():
		return "VDPBF16PS"
	case active == avx512 || active == avx2:
		return "multiply-adds"
	}
	return "portable code"
}

// AutoNumerics is the kind of products with frozen weights that suits the family in
// use: F32x3 with AMX, which computes it faster than F32, and F32 elsewhere.
func AutoNumerics() Numerics {
	if tilesActive() {
		return F32x3
	}
	return F32
}
