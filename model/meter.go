package model

import (
	"sync"
	"time"
)

// Meter adds up what the steps of decoders computed and how long they took.
type Meter struct {
	mu   sync.Mutex
	read Reading
}

// Reading is what a meter shows.
type Reading struct{ Prefill, Decode Work }

// Work is a number of tokens that went through the model and the time that took,
// of all lanes together divided by their number.
type Work struct {
	Tokens int
	Time   time.Duration
}

// add counts a step. One with tokens of both kinds is shared out by their number.
func (m *Meter) add(prefill, decode, lanes int, took time.Duration) {
	if m == nil {
		return
	}
	took /= time.Duration(lanes)
	first := time.Duration(0)
	if prefill > 0 {
		first = time.Duration(float64(took) * float64(prefill) / float64(prefill+decode))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read.Prefill.Tokens += prefill
	m.read.Prefill.Time += first
	m.read.Decode.Tokens += decode
	m.read.Decode.Time += took - first
}

// Take reads the meter and sets it back to 0.
func (m *Meter) Take() Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.read
	m.read = Reading{}
	return r
}
