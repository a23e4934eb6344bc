//go:build !race

package kernels

const raceEnabled = false

func (g *gemmRun) tellReads() {}

func (g *gemmRun) tellWrites(_, _, _, _ int) {}
