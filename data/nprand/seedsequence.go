package nprand

// seedSequence spreads a seed over 128 bits and makes as many words of initial
// state from them as are wanted.
type seedSequence struct{ pool [4]uint32 }

// The constants of SeedSequence's two hashes and of its mixer.
const (
	initA, multA = 0x43b0d7e5, 0x931e8875
	initB, multB = 0x8b51f9dd, 0x58f38ded
	mixL, mixR   = 0xca01f9dd, 0x4973f715
)

// hash is one of the two multiplicative hashes; its constant changes with
// every word.
type hash struct{ c, mult uint32 }

func (h *hash) mix(v uint32) uint32 {
	v ^= h.c
	h.c *= h.mult
	v *= h.c
	return v ^ v>>16
}

func blend(x, y uint32) uint32 {
	r := x*mixL - y*mixR
	return r ^ r>>16
}

// newSeedSequence takes the seed in words of 32 bits, low word first.
func newSeedSequence(entropy []uint32) *seedSequence {
	s := new(seedSequence)
	h := hash{initA, multA}
	for i := range s.pool {
		w := uint32(0)
		if i < len(entropy) {
			w = entropy[i]
		}
		s.pool[i] = h.mix(w)
	}
	for src := range s.pool {
		for dst := range s.pool {
			if src != dst {
				s.pool[dst] = blend(s.pool[dst], h.mix(s.pool[src]))
			}
		}
	}
	for _, w := range entropy[min(len(s.pool), len(entropy)):] {
		for dst := range s.pool {
			s.pool[dst] = blend(s.pool[dst], h.mix(w))
		}
	}
	return s
}

// state is generate_state(n).
func (s *seedSequence) state(n int) []uint32 {
	h := hash{initB, multB}
	out := make([]uint32, n)
	for i := range out {
		out[i] = h.mix(s.pool[i%len(s.pool)])
	}
	return out
}
