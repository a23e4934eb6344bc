//go:build purego || !amd64

package kernels

import "errors"

// AMX is the tile unit's state: why it can't be used here.
func AMX() error { return errors.New("this build has no AMX kernels") }

func tilesActive() bool { return false }

func (p *Pool) splitTiles(_ gemmRun, _ []float32, _, _ int) { panic("kernels: no AMX") }

func (g *gemmRun) tiles(_, _, _, _ int) { panic("kernels: no AMX") }
