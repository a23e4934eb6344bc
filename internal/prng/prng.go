// Package prng gives positional randomness: every draw is a pure function of
// where it happens (seed, iteration, task, rollout, role, slot, turn, token).
// There is no shared stream, so the order of work, the number of threads and a
// restart in the middle can't change a draw, and any episode can be replayed
// alone.
package prng

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Key is the position of one model call. Two calls with equal keys draw the
// same numbers; keys that differ in any field draw independent ones. The run's
// id is not part of it, so runs with equal seeds are paired.
type Key struct {
	Seed      uint64
	Iteration int
	Task      string
	Rollout   int
	Role      string
	Slot      int
	Turn      int
}

// State is a Key boiled down to 64 bits, from which token draws are made.
type State uint64

// State hashes the key. It costs one SHA-256 block or two: take it once a call,
// not once a token.
func (k Key) State() State {
	h := sha256.New()
	var b [8]byte
	num := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	str := func(s string) {
		num(uint64(len(s)))
		h.Write([]byte(s))
	}
	num(k.Seed)
	num(uint64(int64(k.Iteration)))
	str(k.Task)
	num(uint64(int64(k.Rollout)))
	str(k.Role)
	num(uint64(int64(k.Slot)))
	num(uint64(int64(k.Turn)))
	return State(binary.LittleEndian.Uint64(h.Sum(nil)))
}

// Uint64 is the draw for the given token index.
func (s State) Uint64(token int) uint64 {
	// SplitMix64 (Steele, Lea, Flood 2014), jumped to the token's place.
	z := uint64(s) + (uint64(token)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uniform is the draw for the given token index as a number in [0, 1) with 53
// random bits.
func (s State) Uniform(token int) float64 {
	return float64(s.Uint64(token)>>11) / (1 << 53)
}

// Stream is a private sequential generator for work that has no natural
// positions (shuffles, initial weights). The labels name its purpose; different
// labels give independent streams.
func Stream(seed uint64, labels ...string) *rand.Rand {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	for _, l := range labels {
		binary.LittleEndian.PutUint64(b[:], uint64(len(l)))
		h.Write(b[:])
		h.Write([]byte(l))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}
