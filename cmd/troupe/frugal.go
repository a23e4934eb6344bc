package main

import (
	"runtime/debug"

	"troupe/model"
)

// A checkpoint up to this size is trained in at most 2.5 GiB: smaller batches
// of activations cost it nothing, and the collector keeps to a limit.
const (
	frugalParameters  = 300e6
	frugalActivations = 768 << 20
	frugalRest        = 1280 << 20 // activations, keys and values, adapters, tokenizer
)

// frugal is the memory for the activations of the checkpoint in dir, 0 for the
// usual, and makes the collector keep to what such a checkpoint needs. It
// depends on the checkpoint alone: sums over other batches have other bits.
func frugal(dir string) int64 {
	c, err := model.ReadConfig(dir)
	if err != nil || c.Parameters() > frugalParameters {
		return 0
	}
	debug.SetMemoryLimit(8*int64(c.Parameters()) + frugalRest) // weights and their transposes, twice over
	return frugalActivations
}
