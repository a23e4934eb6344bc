package code

// The work of pairing n things with n others is bounded: a program chooses what
// it prints, and must not choose how long the host thinks about it.
const (
	maxExact  = 200  // up to here a pairing is found if there is one
	maxGreedy = 5000 // up to here each takes the first that is free
)

// matchAll reports whether n things can be paired with n others, each pair
// allowed by ok.
func matchAll(n int, ok func(i, j int) bool) bool {
	if n > maxGreedy {
		return false
	}
	owner := make([]int, n) // of the others: who has it
	for j := range owner {
		owner[j] = -1
	}
	var seen []bool
	var try func(i int) bool
	try = func(i int) bool {
		for j := range n {
			if seen[j] || owner[j] >= 0 && n > maxExact || !ok(i, j) {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || try(owner[j]) {
				owner[j] = i
				return true
			}
		}
		return false
	}
	for i := range n {
		seen = make([]bool, n)
		if !try(i) {
			return false
		}
	}
	return true
}
