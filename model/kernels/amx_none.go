//go:build purego || !amd64

package kernels

import "errors"

// AMX is the tile unit's state: why it can't be used here.
func AMX() error { return errors.New("this build has no AMX kernels") }

func tilesActive() bool { return false }

func (p *Pool) splitTiles(_ gemmRun, _ []float32, _, _ int) { panic("kernels: no AMX") }

// tileRun is what a product by AMX has more: nothing in this build.
type tileRun struct{}

func (tileRun) run(_ *gemmRun, _, _, _, _ int) { panic("kernels: no AMX") }
