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
	families
)

var familyNames = [families]string{"generic", "avx2", "avx512", "neon"}

// tileShape is the largest tile a family's micro-kernels compute: rows, and
// columns in units of 16. rows16 is for bfloat16 weights, rowsSplit for the kinds
// in TDPBF16PS order.
type tileShape struct{ rows, rows16, rowsSplit, cols int }

var tileShapes = [families]tileShape{
	generic: {4, 4, 4, 32},
	avx2:    {6, 6, 3, 16},
	avx512:  {14, 12, 6, 32},
	neon:    {4, 4, 4, 16},
}

// active is the family in use. It changes only at start and in Use.
var active = choose(os.Getenv("TROUPE_KERNELS"))

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
func Active() string { return familyNames[active] }

// Use switches to the named family and returns a function that switches back.
// No kernel may be running. It is meant for tests and for comparing families.
func Use(name string) (restore func(), err error) {
	for f := range families {
		if familyNames[f] == name && usable(f) {
			old := active
			active = f
			return func() { active = old }, nil
		}
	}
	return nil, fmt.Errorf("kernels %q: not usable here; usable: %s", name, strings.Join(Implementations(), ", "))
}

// choose takes the wanted family, or the best one where none is named. An
// unusable name falls back to the best; a command that lets users set the
// variable compares it with Active.
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
