package main

import (
	"runtime/debug"

	"troupe/internal/doctor"
	"troupe/model"
)

const (
	// A checkpoint up to this size is trained in at most 2.5 GiB: smaller batches
	// of activations cost it nothing, and the collector keeps to a limit.
	frugalParameters = 300e6
	// From this size on weights leave little room on a machine of 24 GB: nearly
	// every layer is computed again in the backward pass.
	largeParameters   = 3e9
	frugalActivations = 768 << 20
	frugalRest        = 1280 << 20 // activations, keys and values, adapters, tokenizer
)

// frugal is the memory for the activations of the checkpoint in dir, 0 for the
// usual, and makes the collector keep to what such a checkpoint needs, or to
// what the machine has. The memory for activations depends on the checkpoint
// alone: sums over other batches have other bits.
func frugal(dir string) int64 {
	c, err := model.ReadConfig(dir)
	if err != nil {
		return 0 // loading says what is wrong
	}
	n := c.Parameters()
	if n <= frugalParameters {
		debug.SetMemoryLimit(8*int64(n) + frugalRest) // weights and their transposes, twice over
		return frugalActivations
	}
	// The collector would let garbage grow to the size of the weights first.
	if free := doctor.AvailableMemory(); free > 0 {
		debug.SetMemoryLimit(free / 10 * 9)
	}
	if n >= largeParameters {
		return frugalActivations
	}
	return 0
}
